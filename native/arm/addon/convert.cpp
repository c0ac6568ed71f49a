#include "native/arm/addon/convert.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "native/arm/core/faults.h"

namespace s2r::arm {
namespace {

[[noreturn]] void refuse(Napi::Env env, const std::string& what) {
  throw Napi::TypeError::New(env, "arm: " + what);
}

double toNumber(const Napi::Object& from, const char* key) {
  const Napi::Value value = from.Get(key);
  if (!value.IsNumber()) {
    refuse(from.Env(), std::string(key) + " must be a number");
  }
  return value.As<Napi::Number>().DoubleValue();
}

std::string toText(const Napi::Object& from, const char* key) {
  const Napi::Value value = from.Get(key);
  if (!value.IsString()) {
    refuse(from.Env(), std::string(key) + " must be a string");
  }
  return value.As<Napi::String>().Utf8Value();
}

bool toFlag(const Napi::Object& from, const char* key) {
  const Napi::Value value = from.Get(key);
  if (!value.IsBoolean()) {
    refuse(from.Env(), std::string(key) + " must be true or false");
  }
  return value.As<Napi::Boolean>().Value();
}

Napi::Object toObject(const Napi::Object& from, const char* key) {
  const Napi::Value value = from.Get(key);
  if (!value.IsObject()) {
    refuse(from.Env(), std::string(key) + " must be an object");
  }
  return value.As<Napi::Object>();
}

Napi::Array toArray(const Napi::Object& from, const char* key) {
  const Napi::Value value = from.Get(key);
  if (!value.IsArray()) {
    refuse(from.Env(), std::string(key) + " must be an array");
  }
  return value.As<Napi::Array>();
}

template <std::size_t N>
std::array<double, N> toNumbers(const Napi::Object& from, const char* key) {
  const Napi::Array array = toArray(from, key);
  if (array.Length() != N) {
    refuse(from.Env(), std::string(key) + " must hold " + std::to_string(N) + " numbers");
  }
  std::array<double, N> numbers{};
  for (std::uint32_t i = 0; i < N; ++i) {
    const Napi::Value value = array.Get(i);
    if (!value.IsNumber()) {
      refuse(from.Env(), std::string(key) + " must hold numbers");
    }
    numbers[i] = value.As<Napi::Number>().DoubleValue();
  }
  return numbers;
}

BodyKind toBodyKind(Napi::Env env, const std::string& name) {
  constexpr std::array kNames = {"elbow", "wrist", "gripper", "load"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) {
      return static_cast<BodyKind>(i);
    }
  }
  refuse(env, "body \"" + name + "\" is none of elbow, wrist, gripper, load");
}

void readBodies(const Napi::Array& bodies, CoreConfig& core) {
  if (bodies.Length() > static_cast<std::uint32_t>(kMaxBodies)) {
    refuse(bodies.Env(), std::to_string(bodies.Length()) + " bodies, at most " +
                             std::to_string(kMaxBodies) + " are checked");
  }
  core.body_count = static_cast<int>(bodies.Length());
  for (std::uint32_t i = 0; i < bodies.Length(); ++i) {
    const auto from = bodies.Get(i).As<Napi::Object>();
    Body& body = core.bodies[i];
    body.kind = toBodyKind(bodies.Env(), toText(from, "kind"));
    body.frame = static_cast<int>(toNumber(from, "frame"));
    body.p0_m = toNumbers<3>(from, "p0_m");
    body.p1_m = toNumbers<3>(from, "p1_m");
    body.radius_m = toNumber(from, "radius_m");
    body.name.assign(toText(from, "name"));
  }
}

void readZones(const Napi::Array& zones, CoreConfig& core) {
  if (zones.Length() > static_cast<std::uint32_t>(kMaxZones)) {
    refuse(zones.Env(), std::to_string(zones.Length()) + " zones, at most " +
                            std::to_string(kMaxZones) + " are checked");
  }
  core.zone_count = static_cast<int>(zones.Length());
  for (std::uint32_t i = 0; i < zones.Length(); ++i) {
    const auto from = zones.Get(i).As<Napi::Object>();
    Zone& zone = core.zones[i];
    zone.name.assign(toText(from, "name"));
    const std::string kind = toText(from, "kind");
    if (kind == "half_space") {
      zone.kind = Zone::Kind::kHalfSpace;
      zone.normal_world = toNumbers<3>(from, "normal_world");
      zone.offset_m = toNumber(from, "offset_m");
    } else if (kind == "box") {
      zone.kind = Zone::Kind::kBox;
      zone.X_world_box = toNumbers<16>(from, "X_world_box");
      zone.size_m = toNumbers<3>(from, "size_m");
    } else {
      refuse(zones.Env(), "zone kind \"" + kind + "\" is neither half_space nor box");
    }
    zone.applies_to = 0;
    const Napi::Array applies = toArray(from, "applies_to");
    for (std::uint32_t k = 0; k < applies.Length(); ++k) {
      const std::string name = applies.Get(k).ToString().Utf8Value();
      zone.applies_to |= 1U << static_cast<std::uint32_t>(toBodyKind(zones.Env(), name));
    }
  }
}

void readLimits(const Napi::Object& limits, CoreConfig& core) {
  const auto least = toNumbers<6>(limits, "position_min_rad");
  const auto most = toNumbers<6>(limits, "position_max_rad");
  const auto velocity = toNumbers<6>(limits, "velocity_rad_s");
  const auto acceleration = toNumbers<6>(limits, "acceleration_rad_s2");
  const auto jerk = toNumbers<6>(limits, "jerk_rad_s3");
  for (std::size_t i = 0; i < core.limits.size(); ++i) {
    core.limits[i] = {least[i], most[i], velocity[i], acceleration[i], jerk[i]};
  }
}

Napi::Float64Array fromNumbers(Napi::Env env, const double* values, std::size_t count) {
  Napi::Float64Array array = Napi::Float64Array::New(env, count);
  std::copy(values, values + count, array.Data());
  return array;
}

const char* protocolEndReason(EndReason reason) {
  switch (reason) {
    case EndReason::kCompleted:
      return "END_COMPLETED";
    case EndReason::kContact:
      return "END_CONTACT";
    case EndReason::kUnexpectedContact:
      return "END_UNEXPECTED_CONTACT";
    case EndReason::kStopped:
      return "END_STOPPED";
    case EndReason::kProtectiveStop:
      return "END_PROTECTIVE_STOP";
    case EndReason::kFault:
      return "END_FAULT";
    case EndReason::kTimeout:
      return "END_TIMEOUT";
    case EndReason::kUnspecified:
      break;
  }
  return "END_UNSPECIFIED";
}

}  // namespace

ArmOptions toOptions(const Napi::Object& from) {
  ArmOptions options;
  options.host = toText(from, "host");
  const Napi::Object ports = toObject(from, "ports");
  options.dashboard_port = static_cast<int>(toNumber(ports, "dashboard"));
  options.rtde_port = static_cast<int>(toNumber(ports, "rtde"));
  options.script_port = static_cast<int>(toNumber(ports, "script"));
  options.primary_port = static_cast<int>(toNumber(ports, "primary"));
  options.upper_registers = toText(from, "registers") == "upper";
  options.read_calibration = toText(from, "kinematics") == "controller";
  options.realtime_enforce = toText(from, "realtime") == "enforce";
  options.realtime_priority = static_cast<int>(toNumber(from, "realtime_priority"));
  options.realtime_cpu = static_cast<int>(toNumber(from, "realtime_cpu"));
  options.servo.lookahead_s = toNumber(from, "servo_lookahead_s");
  options.servo.gain = toNumber(from, "servo_gain");
  options.watchdog_hz = toNumber(from, "watchdog_hz");
  options.payload_kg = toNumber(from, "payload_kg");
  options.payload_cog_m = toNumbers<3>(from, "payload_cog_m");
  options.gravity_base_m_s2 = toNumbers<3>(from, "gravity_base_m_s2");
  options.stop_address = toText(from, "stop_address");
  options.parent = static_cast<pid_t>(toNumber(from, "parent_pid"));
  options.exit_on_parent_gone = toFlag(from, "exit_on_parent_gone");
  options.exit_on_lease_lapse = toFlag(from, "exit_on_lease_lapse");
  options.recorder_folder = toText(from, "recorder_folder");
  CoreConfig& core = options.core;
  core.X_world_base = toNumbers<16>(from, "X_world_base");
  core.X_flange_tcp = toNumbers<16>(from, "X_flange_tcp");
  core.contact_force_n = toNumber(from, "contact_force_n");
  core.contact_torque_nm = toNumber(from, "contact_torque_nm");
  core.distance_base_rad = toNumber(from, "distance_rad");
  core.stale_cycles_stop = static_cast<int>(toNumber(from, "stale_cycles"));
  // What takes the controller's states away for so long takes the loop away too, and then both.
  core.starved_s = std::max(core.starved_s, 2 * core.stale_cycles_stop * kPeriod_s);
  readLimits(toObject(from, "limits"), core);
  readBodies(toArray(from, "bodies"), core);
  readZones(toArray(from, "zones"), core);
  return options;
}

Guard toGuard(const Napi::Object& from) {
  Guard guard;
  guard.force_n = toNumber(from, "force_n");
  guard.torque_nm = toNumber(from, "torque_nm");
  const Napi::Array direction = toArray(from, "direction_world");
  guard.has_direction = direction.Length() > 0;
  if (guard.has_direction) {
    guard.direction_world = toNumbers<3>(from, "direction_world");
  }
  guard.contact_expected = toFlag(from, "contact_expected");
  return guard;
}

LoadUpdate toLoad(const Napi::Object& from) {
  LoadUpdate load;
  load.present = true;
  load.carried = toFlag(from, "carried");
  load.p0_tcp_m = toNumbers<3>(from, "p0_tcp_m");
  load.p1_tcp_m = toNumbers<3>(from, "p1_tcp_m");
  load.radius_m = toNumber(from, "radius_m");
  return load;
}

std::uint64_t toCount(const Napi::Value& value, const char* what) {
  constexpr double kLargest = 9007199254740991.0;
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : -1;
  if (!(number >= 0 && number <= kLargest && number == std::floor(number))) {
    refuse(value.Env(), std::string(what) + " must be a whole number from 0");
  }
  return static_cast<std::uint64_t>(number);
}

Napi::Error toError(Napi::Env env, const std::string& code, const std::string& message) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("code", Napi::String::New(env, code));
  return error;
}

Napi::Value fromInfo(Napi::Env env, const ArmInfo& info) {
  Napi::Object to = Napi::Object::New(env);
  to.Set("kinematics", info.calibrated ? "calibrated" : "nominal");
  to.Set("kinematics_reason", info.kinematics_reason);
  Napi::Array rows = Napi::Array::New(env, info.dh.size());
  for (std::uint32_t i = 0; i < info.dh.size(); ++i) {
    Napi::Object row = Napi::Object::New(env);
    row.Set("a_m", info.dh[i].a_m);
    row.Set("d_m", info.dh[i].d_m);
    row.Set("alpha_rad", info.dh[i].alpha_rad);
    row.Set("theta_offset_rad", info.dh[i].theta_offset_rad);
    rows.Set(i, row);
  }
  to.Set("dh", rows);
  to.Set("checksum", info.checksum);
  to.Set("controller_version", info.controller_version);
  to.Set("serial", info.serial);
  to.Set("stop_address", info.stop_address);
  to.Set("mounting", info.mounting);
  Napi::Object realtime = Napi::Object::New(env);
  realtime.Set("granted", info.realtime.granted);
  realtime.Set("reason", info.realtime.reason);
  realtime.Set("policy", info.realtime.policy);
  realtime.Set("priority", info.realtime.priority);
  realtime.Set("memory_locked", info.realtime.memory_locked);
  to.Set("realtime", realtime);
  return to;
}

Napi::Value fromEvent(Napi::Env env, const ArmEvent& event) {
  Napi::Object to = Napi::Object::New(env);
  to.Set("time_s", event.time_s);
  const auto epoch = static_cast<double>(event.stop_epoch);
  switch (event.kind) {
    case ArmEvent::Kind::kMotionEnded:
    case ArmEvent::Kind::kProgress: {
      const MotionReport& motion = event.motion;
      const bool ended = event.kind == ArmEvent::Kind::kMotionEnded;
      to.Set("kind", ended ? "motion_ended" : "group_progress");
      to.Set("group", static_cast<double>(motion.group));
      to.Set("fraction_done", motion.fraction_done);
      to.Set("reached_point", motion.reached_point);
      to.Set("mean_force_n", motion.mean_force_n);
      if (ended) {
        to.Set("end_reason", protocolEndReason(motion.end_reason));
        Napi::Array force = Napi::Array::New(env);
        for (std::uint32_t i = 0; i < 3 && motion.has_contact_force; ++i) {
          force.Set(i, motion.contact_force_world_n[i]);
        }
        to.Set("contact_force_n", force);
      }
      break;
    }
    case ArmEvent::Kind::kStopped:
      to.Set("kind", "stopped");
      to.Set("stop_epoch", epoch);
      to.Set("reason", event.reason);
      break;
    case ArmEvent::Kind::kFault:
      to.Set("kind", "fault");
      to.Set("code", event.code);
      to.Set("message", event.message);
      break;
    case ArmEvent::Kind::kResumed:
      to.Set("kind", "resumed");
      to.Set("stop_epoch", epoch);
      break;
  }
  return to;
}

Napi::Value fromLateness(Napi::Env env, const LatenessSummary& summary) {
  Napi::Object to = Napi::Object::New(env);
  to.Set("count", static_cast<double>(summary.cycles));
  to.Set("p50_s", summary.p50_s);
  to.Set("p99_s", summary.p99_s);
  to.Set("p999_s", summary.p999_s);
  to.Set("max_s", summary.max_s);
  Napi::Uint32Array counts = Napi::Uint32Array::New(env, summary.counts_us.size());
  std::copy(summary.counts_us.begin(), summary.counts_us.end(), counts.Data());
  to.Set("counts_us", counts);
  return to;
}

Napi::Object fromSnapshot(Napi::Env env,
                          const Snapshot& snapshot,
                          const Transform16& X_world_base) {
  const auto& word = snapshot.word;
  Napi::Object to = Napi::Object::New(env);
  constexpr std::array<std::pair<const char*, int>, 17> kNumbers = {{
      {"time_s", kFieldTime},
      {"robot_time_s", kFieldRobotTime},
      {"fraction_done", kFieldFractionDone},
      {"reached_point", kFieldReachedPoint},
      {"path_error_rad", kFieldPathError},
      {"speed_scaling", kFieldSpeedScaling},
      {"target_speed_fraction", kFieldTargetSpeedFraction},
      {"robot_mode", kFieldRobotMode},
      {"runtime_state", kFieldRuntimeState},
      {"safety_bits", kFieldSafetyBits},
      {"cycles", kFieldCycles},
      {"missed_cycles", kFieldMissedCycles},
      {"late_cycles", kFieldLateCycles},
      {"lateness_max_s", kFieldLatenessMax},
      {"robot_gaps", kFieldRobotGaps},
      {"stale_cycles", kFieldStaleCycles},
      {"stop_epoch", kFieldStopEpoch},
  }};
  for (const auto& [name, field] : kNumbers) {
    to.Set(name, word[static_cast<std::size_t>(field)]);
  }
  to.Set("q_rad", fromNumbers(env, &word[kFieldQ], 6));
  to.Set("qd_rad_s", fromNumbers(env, &word[kFieldQd], 6));
  to.Set("setpoint_rad", fromNumbers(env, &word[kFieldSetpoint], 6));
  to.Set("tcp_wrench_world", fromNumbers(env, &word[kFieldWrenchWorld], 6));
  std::array<double, 6> pose{};
  std::copy_n(&word[kFieldTcpPoseBase], 6, pose.begin());
  const Transform16 X_world_tcp = transformProduct(X_world_base, poseToTransform(pose));
  to.Set("X_world_tcp", fromNumbers(env, X_world_tcp.data(), 16));
  const FaultDetail fault = faultOf(snapshot);
  to.Set("state", stateName(stateOf(snapshot)));
  to.Set("fault_code", fault.code == FaultCode::kNone ? "" : faultInfo(fault.code).name);
  to.Set("group", word[kFieldMotionActive] != 0 ? word[kFieldGroup] : 0.0);
  to.Set("robot_ready", word[kFieldRobotReady] != 0);
  to.Set("stop_latched", word[kFieldStopLatched] != 0);
  return to;
}

Snapshot between(const Snapshot& before, const Snapshot& after, double time_s) {
  Snapshot at = before;
  const double span = timeOf(after) - timeOf(before);
  const double share = span > 0 ? (time_s - timeOf(before)) / span : 0;
  at.word[kFieldTime] = time_s;
  const auto blend = [&](int first, int count) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(first + count);
         ++i) {
      at.word[i] += share * (after.word[i] - before.word[i]);
    }
  };
  blend(kFieldQ, 6);
  blend(kFieldQd, 6);
  blend(kFieldWrenchWorld, 6);
  blend(kFieldTcpPoseBase, 3);
  // The rotation between two cycles is small: its vector is scaled about the earlier one.
  std::array<double, 6> from{};
  std::array<double, 6> to{};
  std::copy_n(&before.word[kFieldTcpPoseBase + 3], 3, from.begin() + 3);
  std::copy_n(&after.word[kFieldTcpPoseBase + 3], 3, to.begin() + 3);
  std::array<double, 6> back = from;
  for (double& value : back) {
    value = -value;
  }
  auto turn = transformToPose(transformProduct(poseToTransform(back), poseToTransform(to)));
  for (double& value : turn) {
    value *= share;
  }
  const auto turned =
      transformToPose(transformProduct(poseToTransform(from), poseToTransform(turn)));
  std::copy_n(turned.begin() + 3, 3, &at.word[kFieldTcpPoseBase + 3]);
  return at;
}

}  // namespace s2r::arm
