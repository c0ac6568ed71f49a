#include "native/arm/process/arm_process.h"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>

namespace s2r::arm {
namespace {

constexpr double kRest_s = 5.0;
// Exit code of a process that ended itself because its parent was gone.
constexpr int kExitParent = 76;

}  // namespace

ArmProcess::ArmProcess(ArmOptions options, ControlFactory factory, Events events)
    : options_(std::move(options)), factory_(std::move(factory)), events_(std::move(events)) {}

ArmProcess::~ArmProcess() {
  (void)close();
}

void ArmProcess::open() {
  const std::lock_guard lock(operation_mutex_);
  Probe probe = probeController(options_);
  requireReady(probe.sample);
  info_.serial = probe.serial;
  info_.controller_version = probe.polyscope;
  readCalibration(options_, probe.sample, info_);
  core_ = options_.core;
  // The raw rows of two nearly parallel axes may lie metres along them; bodies of the gate ride on
  // the rows, so there the nominal ones are closer to the links that people see.
  bool near_nominal = true;
  for (std::size_t i = 0; i < core_.dh.size(); ++i) {
    near_nominal = near_nominal && std::abs(info_.dh[i].d_m - core_.dh[i].d_m) < 0.05;
  }
  if (near_nominal) {
    core_.dh = info_.dh;
  }
  const std::string wrong = validate(core_);
  if (!wrong.empty()) {
    throw ArmError("arm_bad_argument", wrong);
  }
  cycle_ = std::make_unique<CycleThread>(core_);
  info_.realtime = cycle_->start(options_.realtime_priority, options_.realtime_cpu);
  if (options_.realtime_enforce && !info_.realtime.granted) {
    throw ArmError("arm_realtime", "no real-time scheduling: " + info_.realtime.reason +
                                       "; or set realtime = \"ignore\" and accept that the arm "
                                       "may stop when the machine is busy");
  }
  dispatcher_ = std::thread([this] { dispatch(); });
  if (!options_.stop_address.empty()) {
    const int priority =
        info_.realtime.fifo && options_.realtime_priority > 10 ? options_.realtime_priority - 5 : 0;
    stop_listener_ =
        std::make_unique<StopListener>(options_.stop_address, priority,
                                       [this](const std::string& reason) { return stop(reason); });
    info_.stop_address = stop_listener_->address();
  }
  link_ = std::make_unique<LinkSession>(options_, *cycle_, factory_);
  link_->takeStream(std::move(probe.stream));
  link_->startProgram(false, info_);
  keeper_ = std::thread([this] { keep(); });
  if (options_.parent > 0) {
    parent_watch_ = std::make_unique<ParentWatch>(options_.parent, [this] {
      cycle_->setParentGone();
      if (options_.exit_on_parent_gone) {
        requestExit(kExitParent, "the parent process is gone");
      }
    });
  }
}

void ArmProcess::requestExit(int code, const std::string& why) {
  int none = -1;
  if (exit_code_.compare_exchange_strong(none, code)) {
    exit_reason_ = why;
    keeper_wake_.notify();
  }
}

// The loop ramps down and holds; the keeper, or we, then end the program.
bool ArmProcess::bringToRest() noexcept {
  cycle_->setShutdown();
  const Deadline deadline = Deadline::in(kRest_s);
  Snapshot snapshot;
  while (!deadline.passed()) {
    if (program_ended_) {
      return true;
    }
    const bool held_by_us = cycle_->newest(snapshot) && snapshot.word[kFieldRobotReady] != 0;
    if (!held_by_us) {
      break;
    }
    if (end_program_.exchange(false)) {
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const bool ended = link_ && link_->endProgram();
  program_ended_ = true;
  return ended;
}

void ArmProcess::endWithinProcess(int code) noexcept {
  // Whoever has the link may be waiting for a controller; the arm comes first.
  const std::unique_lock lock(operation_mutex_, std::chrono::seconds(3));
  (void)bringToRest();
  std::fprintf(stderr,
               "skill2real arm: %s; the arm rests, its program is ended, this process ends\n",
               exit_reason_.c_str());
  // JavaScript may be in an endless loop: nothing of it can be asked to end the process.
  _exit(code);
}

bool ArmProcess::close() noexcept {
  const std::lock_guard lock(operation_mutex_);
  if (closed_) {
    return true;
  }
  closed_ = true;
  parent_watch_.reset();
  bool whole = true;
  if (cycle_) {
    (void)bringToRest();
  }
  quit_ = true;
  keeper_wake_.notify();
  if (keeper_.joinable()) {
    keeper_.join();
  }
  if (cycle_) {
    saveRecordings();
  }
  if (link_) {
    whole = link_->close();
  }
  stop_listener_.reset();
  if (cycle_) {
    cycle_->finish();
    cycle_->wake().notify();
  }
  if (dispatcher_.joinable()) {
    dispatcher_.join();
  }
  return whole;
}

}  // namespace s2r::arm
