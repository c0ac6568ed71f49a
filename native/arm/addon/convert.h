// JavaScript values to and from what the arm's process takes and tells. Schemas are checked in
// TypeScript; here a wrong type is a TypeError.
#pragma once

#include <napi.h>

#include "native/arm/process/arm_process.h"

namespace s2r::arm {

[[nodiscard]] ArmOptions toOptions(const Napi::Object& options);
[[nodiscard]] Guard toGuard(const Napi::Object& guard);
[[nodiscard]] LoadUpdate toLoad(const Napi::Object& load);
// An epoch or a group: a whole number that a double holds exactly.
[[nodiscard]] std::uint64_t toCount(const Napi::Value& value, const char* what);

[[nodiscard]] Napi::Value fromInfo(Napi::Env env, const ArmInfo& info);
[[nodiscard]] Napi::Value fromEvent(Napi::Env env, const ArmEvent& event);
[[nodiscard]] Napi::Value fromLateness(Napi::Env env, const LatenessSummary& summary);
[[nodiscard]] Napi::Object fromSnapshot(Napi::Env env,
                                        const Snapshot& snapshot,
                                        const Transform16& X_world_base);
// Between two cycles: joints, velocities and wrench by time, the rest of the earlier one.
[[nodiscard]] Snapshot between(const Snapshot& before, const Snapshot& after, double time_s);
// An Error with the property `code`.
[[nodiscard]] Napi::Error toError(Napi::Env env,
                                  const std::string& code,
                                  const std::string& message);

}  // namespace s2r::arm
