// Commands of whoever controls the arm, and their refusals in words.
#include "native/arm/process/arm_process.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <random>

#include "native/arm/core/faults.h"
#include "native/arm/core/trajectory.h"

namespace s2r::arm {
namespace {

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

}  // namespace s2r::arm
