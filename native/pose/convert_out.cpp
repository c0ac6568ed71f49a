#include <algorithm>

#include "native/pose/convert.h"

namespace s2r::pose {
namespace {

Napi::Value fromVec3(Napi::Env env, const Vec3& v) {
  Napi::Array out = Napi::Array::New(env, 3);
  for (uint32_t i = 0; i < 3; ++i) {
    out.Set(i, v[i]);
  }
  return out;
}

Napi::Value fromHit(Napi::Env env, const std::optional<Hit>& hit) {
  if (!hit) {
    return env.Null();
  }
  Napi::Object out = Napi::Object::New(env);
  out.Set("what", hit->what);
  out.Set("against", hit->against);
  out.Set("distance_m", hit->distance_m);
  out.Set("point_world_m", hit->point_world_m ? fromVec3(env, *hit->point_world_m) : env.Null());
  return out;
}

Napi::Value optionalNumber(Napi::Env env, const std::optional<double>& value) {
  return value ? Napi::Number::New(env, *value).As<Napi::Value>() : env.Null();
}

const char* nameOf(PlanCode code) {
  switch (code) {
    case PlanCode::kOk:
      return "ok";
    case PlanCode::kUnreachable:
      return "unreachable";
    case PlanCode::kJointLimit:
      return "joint_limit";
    case PlanCode::kNotLinear:
      return "not_linear";
    case PlanCode::kCollision:
      return "collision";
  }
  return "";
}

const char* nameOf(CompileCode code) {
  switch (code) {
    case CompileCode::kOk:
      return "ok";
    case CompileCode::kUnreachable:
      return "unreachable";
    case CompileCode::kJointLimit:
      return "joint_limit";
    case CompileCode::kNotLinear:
      return "not_linear";
    case CompileCode::kCollision:
      return "collision";
    case CompileCode::kObjectTooWide:
      return "object_too_wide";
    case CompileCode::kObjectTooLow:
      return "object_too_low";
    case CompileCode::kNoSupport:
      return "no_support";
    case CompileCode::kBadAxis:
      return "bad_axis";
  }
  return "";
}

Napi::Value fromPose(Napi::Env env, const CompiledPose& pose) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("X_world_tcp", fromTransform(env, pose.X_world_tcp));
  out.Set("q_rad", fromJoints(env, pose.q_rad));
  return out;
}

Napi::Object fromOutcome(Napi::Env env, const CompileOutcome& outcome) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("status", nameOf(outcome.code));
  Napi::Object checks = Napi::Object::New(env);
  checks.Set("reach", outcome.checks.reach);
  checks.Set("joint_limits", outcome.checks.joint_limits);
  checks.Set("collision", outcome.checks.collision);
  checks.Set("clearance_m", outcome.checks.clearance_m);
  out.Set("checks", checks);
  if (outcome.code != CompileCode::kOk) {
    out.Set("reason", outcome.reason);
    out.Set("hit", fromHit(env, outcome.hit));
  }
  return out;
}

Napi::Value fromSamples(Napi::Env env, const std::vector<Joints>& rows) {
  Napi::Float64Array out = Napi::Float64Array::New(env, rows.size() * kJoints);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(rows[i].data(), kJoints, out.Data() + i * kJoints);
  }
  return out;
}

}  // namespace

Napi::Value fromJoints(Napi::Env env, const Joints& q) {
  Napi::Array out = Napi::Array::New(env, kJoints);
  for (uint32_t i = 0; i < kJoints; ++i) {
    out.Set(i, q[i]);
  }
  return out;
}

Napi::Value fromTransform(Napi::Env env, const Transform& X) {
  Napi::Array out = Napi::Array::New(env, 16);
  for (uint32_t i = 0; i < 16; ++i) {
    out.Set(i, i < 12 ? X.matrix()(i / 4, i % 4) : i == 15 ? 1.0 : 0.0);
  }
  return out;
}

Napi::Value fromCheck(Napi::Env env, const CollisionChecker::Result& result) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("hit", fromHit(env, result.hit));
  out.Set("clearance_m", result.clearance_m);
  return out;
}

Napi::Value fromPlan(Napi::Env env, const Plan& plan) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("status", nameOf(plan.code));
  if (plan.code != PlanCode::kOk) {
    out.Set("reason", plan.reason);
    out.Set("hit", fromHit(env, plan.hit));
    out.Set("pose_index", plan.pose_index
                              ? Napi::Number::New(env, *plan.pose_index).As<Napi::Value>()
                              : env.Null());
    return out;
  }
  const Samples& samples = plan.samples;
  out.Set("dt_s", samples.dt_s);
  out.Set("count", static_cast<double>(samples.q_rad.size()));
  out.Set("duration_s", static_cast<double>(samples.q_rad.size() - 1) * samples.dt_s);
  out.Set("positions_rad", fromSamples(env, samples.q_rad));
  out.Set("velocities_rad_s", fromSamples(env, samples.qd_rad_s));
  Napi::Array times = Napi::Array::New(env, plan.pose_times_s.size());
  for (uint32_t i = 0; i < plan.pose_times_s.size(); ++i) {
    times.Set(i, plan.pose_times_s[i]);
  }
  out.Set("pose_times_s", times);
  out.Set("route", plan.detour ? "detour" : "direct");
  out.Set("clearance_m", optionalNumber(env, plan.clearance_m));
  return out;
}

Napi::Value fromGrasp(Napi::Env env, const Grasp& grasp) {
  Napi::Object out = fromOutcome(env, grasp.outcome);
  if (grasp.outcome.code == CompileCode::kOk) {
    out.Set("approach", fromPose(env, grasp.approach));
    out.Set("contact", fromPose(env, grasp.contact));
    out.Set("lift", fromPose(env, grasp.lift));
    out.Set("opening_m", grasp.opening_m);
    out.Set("object_width_m", optionalNumber(env, grasp.object_width_m));
    out.Set("raised_m", grasp.raised_m);
  }
  return out;
}

Napi::Value fromPlace(Napi::Env env, const Place& place) {
  Napi::Object out = fromOutcome(env, place.outcome);
  if (place.outcome.code == CompileCode::kOk) {
    out.Set("carry", fromPose(env, place.carry));
    out.Set("release", fromPose(env, place.release));
    out.Set("retreat", fromPose(env, place.retreat));
    out.Set("opening_m", place.opening_m);
    out.Set("support_z_m", place.support_z_m);
    out.Set("support_seen", place.support_seen);
    out.Set("object_yaw_rad", place.object_yaw_rad);
    Napi::Object touch = Napi::Object::New(env);
    touch.Set("X_world_box", fromTransform(env, place.may_touch.X_world_box));
    touch.Set("size_m", fromVec3(env, place.may_touch.size_m));
    out.Set("may_touch", touch);
  }
  return out;
}

}  // namespace s2r::pose
