#include "native/arm/core/faults.h"

#include <cstdio>

namespace s2r::arm {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string bodyName(int body, const CoreConfig& config) {
  if (body == kLoadBody) {
    return "the load";
  }
  if (body < 0 || body >= config.body_count) {
    return "a body";
  }
  return std::string(config.bodies[static_cast<size_t>(body)].name.view());
}

std::string joint(const FaultDetail& detail) {
  return "joint " + std::to_string(detail.joint + 1);
}

std::string specifics(const FaultDetail& detail, const CoreConfig& config) {
  const std::string value = number(detail.value), limit = number(detail.limit);
  switch (detail.code) {
    case FaultCode::kControllerFrozen:
      return value + " cycles without a new timestamp; the limit is " + limit;
    case FaultCode::kGateNotFinite:
      return detail.joint >= 0 ? joint(detail) : "";
    case FaultCode::kGateVelocity:
      return joint(detail) + ": " + value + " rad/s; the limit is " + limit + " rad/s";
    case FaultCode::kGateAcceleration:
      return joint(detail) + ": " + value + " rad/s2; the limit is " + limit + " rad/s2";
    case FaultCode::kGateDistance:
      return joint(detail) + ": " + value + " rad from the measured position; the limit is " +
             limit + " rad";
    case FaultCode::kGateJointLimit:
      return joint(detail) + ": " + value + " rad; the limit is " + limit + " rad";
    case FaultCode::kGateZone: {
      const std::string zone =
          detail.zone >= 0 && detail.zone < config.zone_count
              ? std::string(config.zones[static_cast<size_t>(detail.zone)].name.view())
              : "a zone";
      return bodyName(detail.body, config) + " and zone '" + zone + "': distance " + value +
             " m; the limit is " + limit + " m";
    }
    case FaultCode::kCycleStarved:
      return value + " s between two cycles; the limit is " + limit + " s";
    case FaultCode::kSpeedSliderZero:
      return "for " + value + " s during a motion";
    case FaultCode::kRobotNotRunning:
      return "robot mode " + value + "; needed is " + limit;
    case FaultCode::kProgramStopped:
    case FaultCode::kProgramPaused:
      return "runtime state " + value + "; needed is " + limit;
    default:
      return "";
  }
}

}  // namespace

std::string faultMessage(const FaultDetail& detail, const CoreConfig& config) {
  const FaultInfo& info = faultInfo(detail.code);
  std::string message = info.what;
  const std::string own(detail.text.view());
  const std::string more = own.empty() ? specifics(detail, config) : own;
  if (!more.empty()) {
    message += " (" + more + ")";
  }
  message += ".";
  if (info.next_step[0] != '\0') {
    message += std::string(" ") + info.next_step;
  }
  return message;
}

const char* stateName(State state) {
  constexpr const char* names[] = {"disconnected", "connecting", "idle",  "moving",
                                   "stopping",     "held",       "fault", "local_mode"};
  return names[static_cast<size_t>(state)];
}

const char* refusalName(Refusal refusal) {
  constexpr const char* names[] = {"none",      "not_start",      "stop_epoch",
                                   "busy",      "fault",          "bad_argument",
                                   "not_ready", "token",          "cause_remains",
                                   "lock_out",  "recovery_limit", "nothing_to_recover"};
  return names[static_cast<size_t>(refusal)];
}

const char* endReasonName(EndReason reason) {
  switch (reason) {
    case EndReason::kUnspecified:
      return "active";
    case EndReason::kCompleted:
      return "completed";
    case EndReason::kContact:
      return "contact";
    case EndReason::kUnexpectedContact:
      return "unexpected_contact";
    case EndReason::kStopped:
      return "stopped";
    case EndReason::kProtectiveStop:
      return "protective_stop";
    case EndReason::kFault:
      return "fault";
    case EndReason::kTimeout:
      return "timeout";
  }
  return "unknown";
}

}  // namespace s2r::arm
