// Factory calibration of the arm, from the controller's primary interface (port 30001).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "native/arm/core/config.h"
#include "native/arm/link/tcp_client.h"

namespace s2r::arm {

using DhRows = std::array<DhParameters, kJoints>;

struct KinematicsInfo {
  DhRows rows;
  std::array<std::uint32_t, 6> checksum{};
  std::uint32_t calibration_status = 0;
  // The six words in hexadecimal, the form that the controller's calibration file has.
  [[nodiscard]] std::string checksumText() const;
};

// Reads robot-state messages until one holds the sub-package KINEMATICS_INFO (type 5); the
// controller sends it once to each new client. nullopt where none came in time.
[[nodiscard]] std::optional<KinematicsInfo> readKinematics(const std::string& host,
                                                           int port,
                                                           double timeout_s);

// The sub-package in one message's body (after length and type), or nullopt. For tests.
[[nodiscard]] std::optional<KinematicsInfo> findKinematics(std::span<const std::uint8_t> body);

// Flange in base for one joint state.
[[nodiscard]] Transform16 flangeInBase(const DhRows& rows, const Joints& q_rad);

// A pose of six numbers (x y z and a rotation vector) and its matrix.
[[nodiscard]] Transform16 poseToTransform(const std::array<double, 6>& pose);
// The rotation vector is at most pi long.
[[nodiscard]] std::array<double, 6> transformToPose(const Transform16& X);
[[nodiscard]] Transform16 transformProduct(const Transform16& a, const Transform16& b);

// How far two transforms are apart.
struct TransformGap {
  double position_m = 0;
  double rotation_rad = 0;
};
[[nodiscard]] TransformGap transformGap(const Transform16& a, const Transform16& b);

}  // namespace s2r::arm
