// What the loop tells: text for listeners, work for the keeper.
#include "native/arm/process/arm_process.h"

#include <pthread.h>

#include "native/arm/core/faults.h"

namespace s2r::arm {
namespace {

// Exit code after a lapse: the usual "temporary failure".
constexpr int kExitLease = 75;

}  // namespace

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

}  // namespace s2r::arm
