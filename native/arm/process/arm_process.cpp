#include "native/arm/process/arm_process.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <random>

#include "native/arm/core/faults.h"
#include "native/arm/core/trajectory.h"

namespace s2r::arm {
namespace {

constexpr double kRemotePoll_s = 0.5;
constexpr double kReconnect_s = 1.0;
constexpr double kRest_s = 5.0;
// Exit codes of a process that ended itself for safety; 75 is the usual "temporary failure".
constexpr int kExitLease = 75;
constexpr int kExitParent = 76;

Refused refused(const char* code, std::string message) {
  return {code, std::move(message)};
}

std::string causeText(FaultCode cause) {
  const FaultInfo& info = faultInfo(cause);
  return std::string(info.what) + ". " + info.next_step;
}

Refused toRefused(Refusal refusal, FaultCode cause, const StartAnswer* start) {
  switch (refusal) {
    case Refusal::kNone:
      return {};
    case Refusal::kNotStart: {
      char text[200];
      std::snprintf(
          text, sizeof(text),
          "joint %d of the first point is %.4f rad from the commanded position, more than "
          "%.4f: plan from the arm's newest state",
          start == nullptr ? -1 : start->joint, start == nullptr ? 0 : start->value,
          start == nullptr ? 0 : start->limit);
      return refused("not_start", text);
    }
    case Refusal::kStopEpoch:
      return refused("stop_epoch",
                     "a stop is latched, or another stop epoch is current: resume "
                     "first, then plan anew");
    case Refusal::kBusy:
      return refused("busy", "the arm moves already: wait for its end");
    case Refusal::kFault:
      return refused("fault", "a fault is latched: " + causeText(cause));
    case Refusal::kBadArgument:
      return refused("bad_argument", "the trajectory is empty, or its guard is no number");
    case Refusal::kNotReady:
      return refused("fault", "the arm is not ready: " + causeText(cause));
    case Refusal::kToken:
      return refused("resume_token",
                     "this stop needs the single-use token that \"skill2real arm "
                     "recover\" gives a person; this one is missing, used, or of "
                     "an earlier stop");
    case Refusal::kCauseRemains:
      return refused("fault", "what stopped the arm is still there: " + causeText(cause));
    case Refusal::kLockOut:
      return refused("fault", "a protective stop must have lasted 5 s before it is unlocked");
    case Refusal::kRecoveryLimit:
      return refused("fault",
                     "too many protective stops in a row: find the cause, then start the "
                     "driver anew");
    case Refusal::kNothingToRecover:
      return refused("bad_argument", "nothing is latched that needs a recovery");
  }
  return refused("fault", "the driver gave no reason");
}

const Refused& noAnswer() {
  static const Refused kNoAnswer{"fault",
                                 "the real-time thread did not answer: the machine is overloaded, "
                                 "or the driver is closing"};
  return kNoAnswer;
}

std::uint64_t randomToken() {
  std::random_device device;
  std::uint64_t token = 0;
  while (token == 0) {
    token = std::uint64_t{device()} << 32 | device();
  }
  return token;
}

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

// ------------------------------------------------------------------------------------------------
// dispatcher

void ArmProcess::dispatch() {
  pthread_setname_np(pthread_self(), "s2r-events");
  Notice notice;
  for (;;) {
    const std::uint32_t seen = cycle_->wake().count();
    bool any = false;
    while (cycle_->nextNotice(notice)) {
      any = true;
      handle(notice);
    }
    if (!any && quit_) {
      return;
    }
    cycle_->wake().waitChange(seen, 0.2);
  }
}

void ArmProcess::handle(const Notice& notice) {
  switch (notice.kind) {
    case Notice::Kind::kReleased: {
      const std::lock_guard lock(trajectories_mutex_);
      trajectories_.erase(notice.group);
      return;
    }
    case Notice::Kind::kUnlock:
      unlock_ = true;
      return;
    case Notice::Kind::kEndProgram:
      end_program_ = true;
      keeper_wake_.notify();
      return;
    case Notice::Kind::kLinkLost:
      link_lost_ = true;
      keeper_wake_.notify();
      return;
    case Notice::Kind::kEvent:
      break;
  }
  const CycleEvent& event = notice.event;
  ArmEvent told;
  told.time_s = event.time_s;
  told.stop_epoch = event.stop_epoch;
  told.motion = event.motion;
  switch (event.kind) {
    case EventKind::kGroupProgress:
      told.kind = ArmEvent::Kind::kProgress;
      break;
    case EventKind::kMotionEnded:
      told.kind = ArmEvent::Kind::kMotionEnded;
      break;
    case EventKind::kStopped:
      told.kind = ArmEvent::Kind::kStopped;
      told.reason = event.reason.view();
      break;
    case EventKind::kFault:
      told.kind = ArmEvent::Kind::kFault;
      told.code = faultInfo(event.fault.code).name;
      told.message = faultText(event.fault);
      break;
    case EventKind::kResumed:
      told.kind = ArmEvent::Kind::kResumed;
      break;
    case EventKind::kGroupStarted:
    case EventKind::kStateChanged:
      return;
  }
  events_(told);
  if (event.kind == EventKind::kStopped && event.stop_source == StopSource::kLease) {
    ArmEvent lapse;
    lapse.kind = ArmEvent::Kind::kFault;
    lapse.time_s = event.time_s;
    lapse.stop_epoch = event.stop_epoch;
    lapse.code = "lease_lapsed";
    lapse.message = "nothing was heard of the controller in time: see whether it runs, then resume";
    events_(lapse);
    if (options_.exit_on_lease_lapse) {
      requestExit(kExitLease, "the controller's lease lapsed");
    }
  }
}

std::string ArmProcess::faultText(const FaultDetail& fault) const {
  return faultMessage(fault, core_);
}

// -----------------------------------------------------------------------------------------------------
// keeper

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

// ----------------------------------------------------------------------------------------------------
// commands

bool ArmProcess::state(Snapshot& snapshot, StopState& stop) const {
  // First the snapshot: a stop that is served between the two shows in `stop`.
  const bool have = cycle_->newest(snapshot);
  stop = cycle_->stopState();
  return have;
}

bool ArmProcess::stateAt(double time_s, Snapshot& before, Snapshot& after) const {
  return snapshotsAround(cycle_->ring(), time_s, before, after);
}

Refused ArmProcess::execute(std::uint64_t group,
                            std::uint64_t stop_epoch,
                            Trajectory trajectory,
                            const Guard& guard) {
  if (group == 0) {
    return refused("bad_argument", "group 0 names no motion");
  }
  auto kept = std::make_shared<const Trajectory>(std::move(trajectory));
  if (kept->time_s.size() < 2 || kept->q_rad.size() != kJoints * kept->time_s.size()) {
    return refused("bad_argument", "a trajectory of " + std::to_string(kept->time_s.size()) +
                                       " times and " + std::to_string(kept->q_rad.size()) +
                                       " numbers of joints: at least 2 times and six joints a "
                                       "time are needed");
  }
  LoadUpdate load;
  {
    const std::lock_guard lock(load_mutex_);
    load = load_;
  }
  const auto count = static_cast<std::uint32_t>(kept->time_s.size());
  const TrajectoryCheck check =
      checkTrajectory(core_, kept->time_s.data(), kept->q_rad.data(), count, load);
  if (!check.ok) {
    return refused("bad_argument", check.message);
  }
  StartRequest request;
  request.present = true;
  request.group = group;
  request.stop_epoch = stop_epoch;
  request.time_s = kept->time_s.data();
  request.q_rad = kept->q_rad.data();
  request.count = count;
  request.guard = guard;
  {
    const std::lock_guard lock(trajectories_mutex_);
    if (!trajectories_.emplace(group, kept).second) {
      return refused("busy", "group " + std::to_string(group) + " is known already");
    }
  }
  const auto answer = cycle_->start(request);
  if (!answer) {
    // Either withdrawn or, at worst, begun: a stop settles both. The arrays stay, for the loop may
    // read them.
    (void)stop("a start was not answered in time");
    return noAnswer();
  }
  if (answer->refusal != Refusal::kNone) {
    const std::lock_guard lock(trajectories_mutex_);
    trajectories_.erase(group);
  }
  return toRefused(answer->refusal, answer->cause, &*answer);
}

StopServed ArmProcess::stop(const std::string& reason) {
  return cycle_->stop(reason);
}

void ArmProcess::signalStops(int descriptor) {
  const std::string wrong = cycle_->signalStops(descriptor);
  if (!wrong.empty()) {
    throw ArmError("arm_bad_argument", wrong);
  }
}

Refused ArmProcess::resume(std::uint64_t stop_epoch, std::uint64_t token) {
  ResumeRequest request;
  request.present = true;
  request.stop_epoch = stop_epoch;
  request.token = token;
  const auto answer = cycle_->resume(request);
  if (!answer) {
    return noAnswer();
  }
  return toRefused(answer->refusal, answer->cause, nullptr);
}

void ArmProcess::setLoad(const LoadUpdate& load) {
  {
    const std::lock_guard lock(load_mutex_);
    load_ = load;
  }
  cycle_->setLoad(load);
}
void ArmProcess::renewLease(std::uint32_t lease_ms) {
  cycle_->renewLease(lease_ms);
}
void ArmProcess::holdLease(bool held) {
  cycle_->holdLease(held);
}
void ArmProcess::endLease() {
  cycle_->endLease();
}

LatenessSummary ArmProcess::lateness() const {
  LatenessHistogram histogram{};
  double max_s = 0;
  cycle_->lateness(histogram, max_s);
  return summarize(histogram, max_s);
}

LatenessSummary ArmProcess::servoCost() {
  const std::lock_guard lock(operation_mutex_);
  std::array<std::uint32_t, 1024> counts{};
  if (link_ && link_->control() != nullptr) {
    link_->control()->costHistogram(counts);
  }
  LatenessHistogram histogram{};
  std::copy(counts.begin(), counts.end(), histogram.begin());
  double most = 0;
  for (std::size_t us = 0; us < counts.size(); ++us) {
    most = counts[us] != 0 ? static_cast<double>(us) * 1e-6 : most;
  }
  return summarize(histogram, most);
}

std::uint64_t ArmProcess::eventsDropped() const {
  return cycle_->noticesDropped();
}

Recovered ArmProcess::recover(const std::function<void(double)>& wait) {
  const std::lock_guard lock(operation_mutex_);
  unlock_ = false;
  RecoverRequest request;
  request.present = true;
  RecoverAnswer answer;
  for (;;) {
    request.token = randomToken();
    const auto asked = cycle_->recover(request);
    if (!asked) {
      throw ArmError("arm_refused", noAnswer().message);
    }
    answer = *asked;
    if (answer.refusal != Refusal::kLockOut) {
      break;
    }
    wait(answer.wait_s);
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(answer.wait_s, 1.0) + 0.01));
  }
  if (answer.refusal != Refusal::kNone) {
    throw ArmError("arm_refused", toRefused(answer.refusal, FaultCode::kNone, nullptr).message);
  }
  if (link_lost_.exchange(false) || !link_->flows(0.3)) {
    (void)link_->close(LinkLoss::kTimeout);
    Probe probe = probeController(options_);
    link_->takeStream(std::move(probe.stream));
  }
  // The notice of the unlock passes the dispatcher; it left the loop before the answer did.
  const Deadline noticed = Deadline::in(0.1);
  while (!unlock_ && !noticed.passed()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (unlock_.exchange(false)) {
    Dashboard dashboard = Dashboard::connect(options_.host, options_.dashboard_port, 1.0);
    dashboard.closeSafetyPopup();
    dashboard.unlockProtectiveStop();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  link_->startProgram(true, info_);
  return {request.token, answer.stop_epoch, answer.recoveries};
}

// ---------------------------------------------------------------------------------------------------------
// end

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
