// JavaScript values to and from the core's plain structs. The typed wrapper has validated what
// comes in; what is still wrong here (a missing field, a wrong type) throws a TypeError that names
// the field.
#pragma once

#include <napi.h>

#include "native/pose/compile_grasp.h"
#include "native/pose/compile_place.h"

namespace s2r::pose {

[[nodiscard]] ArmModel toArmModel(const Napi::Value& value);
[[nodiscard]] Joints toJoints(const Napi::Value& value, const char* name);
[[nodiscard]] Transform toTransform(const Napi::Value& value, const char* name);

struct CheckRequest {
  Joints q_rad = Joints::Zero();
  Scene scene;
  Tool tool;
};
[[nodiscard]] CheckRequest toCheckRequest(const Napi::Object& options, const ArmModel& model);
[[nodiscard]] JointRequest toJointRequest(const Napi::Object& options, const ArmModel& model);
// `poses_world` or, for a single line, `X_world_goal`.
[[nodiscard]] PathRequest toPathRequest(const Napi::Object& options, const ArmModel& model);
[[nodiscard]] GraspRequest toGraspRequest(const Napi::Object& options, const ArmModel& model);
[[nodiscard]] PlaceRequest toPlaceRequest(const Napi::Object& options, const ArmModel& model);

[[nodiscard]] Napi::Value fromJoints(Napi::Env env, const Joints& q);
[[nodiscard]] Napi::Value fromTransform(Napi::Env env, const Transform& X);
[[nodiscard]] Napi::Value fromCheck(Napi::Env env, const CollisionChecker::Result& result);
[[nodiscard]] Napi::Value fromPlan(Napi::Env env, const Plan& plan);
[[nodiscard]] Napi::Value fromGrasp(Napi::Env env, const Grasp& grasp);
[[nodiscard]] Napi::Value fromPlace(Napi::Env env, const Place& place);

}  // namespace s2r::pose
