// The keeper: remote-control mode, lost links, end of the program, flight records.
#include "native/arm/process/arm_process.h"

#include <pthread.h>

#include <cstdio>
#include <ctime>
#include <filesystem>

namespace s2r::arm {
namespace {

constexpr double kRemotePoll_s = 0.5;
constexpr double kReconnect_s = 1.0;

}  // namespace

void ArmProcess::keep() {
  pthread_setname_np(pthread_self(), "s2r-keeper");
  Deadline next_poll = Deadline::in(kRemotePoll_s);
  while (!quit_) {
    const std::uint32_t seen = keeper_wake_.count();
    if (exit_code_ >= 0) {
      endWithinProcess(exit_code_);
    }
    if (operation_mutex_.try_lock()) {
      const std::lock_guard lock(operation_mutex_, std::adopt_lock);
      if (end_program_.exchange(false)) {
        (void)link_->endProgram();
        program_ended_ = true;
      }
      if (next_poll.passed()) {
        keepLink();
        pollRemoteControl();
        saveRecordings();
        next_poll = Deadline::in(kRemotePoll_s);
      }
    }
    keeper_wake_.waitChange(seen, end_program_ ? 0.005 : kRemotePoll_s / 5);
  }
}

// A lost link is connected again for its state; the program is started by recover(), for a person.
void ArmProcess::keepLink() {
  if (link_lost_.exchange(false) || !link_->flows(kReconnect_s)) {
    (void)link_->close(LinkLoss::kTimeout);
  }
  if (link_->hasStream() || closed_) {
    return;
  }
  try {
    auto stream = std::make_unique<RtdeStream>(RtdeStream::connect(
        options_.host, options_.rtde_port, 500, kReconnect_s, options_.upper_registers));
    link_->takeStream(std::move(stream));
  } catch (const ArmError&) {  // the fault is latched and told; the next poll tries again
  }
}

void ArmProcess::pollRemoteControl() {
  try {
    if (!dashboard_) {
      dashboard_ = std::make_unique<Dashboard>(
          Dashboard::connect(options_.host, options_.dashboard_port, kReconnect_s));
    }
    cycle_->setRemoteControl(dashboard_->inRemoteControl());
  } catch (const ArmError&) {  // the state stream tells whether the controller is there
    dashboard_.reset();
  }
}

void ArmProcess::saveRecordings() {
  FlightRecorder& recorder = cycle_->recorder();
  if (!recorder.waiting()) {
    return;
  }
  if (options_.recorder_folder.empty()) {
    recorder.release();
    return;
  }
  char name[64];
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  const std::size_t length = std::strftime(name, sizeof(name), "fault-%Y%m%dT%H%M%SZ", &utc);
  std::snprintf(name + length, sizeof(name) - length, "-%u.s2rflight", ++recordings_);
  std::error_code error;
  std::filesystem::create_directories(options_.recorder_folder, error);
  const std::string failure =
      recorder.save((std::filesystem::path(options_.recorder_folder) / name).string());
  if (!failure.empty()) {
    std::fprintf(stderr, "skill2real arm: the flight record was not written: %s\n",
                 failure.c_str());
    recorder.release();
  }
}

}  // namespace s2r::arm
