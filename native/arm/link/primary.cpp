#include "native/arm/link/primary.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "native/arm/link/big_endian.h"

namespace s2r::arm {
namespace {

constexpr std::uint8_t kRobotState = 16;
constexpr std::uint8_t kKinematicsInfo = 5;
constexpr std::size_t kKinematicsSize = 5 + 6 * 4 + 4 * 6 * 8 + 4;
// A robot-state message is about 1.4 kB; far longer ones are another protocol.
constexpr std::uint32_t kLongestMessage = 1 << 20;

}  // namespace

std::string KinematicsInfo::checksumText() const {
  std::string text;
  for (const std::uint32_t word : checksum) {
    char part[16];
    std::snprintf(part, sizeof(part), "%s%08x", text.empty() ? "" : " ", word);
    text += part;
  }
  return text;
}

std::optional<KinematicsInfo> findKinematics(std::span<const std::uint8_t> body) {
  while (body.size() >= 5) {
    const std::uint32_t size = readU32(body.data());
    if (size < 5 || size > body.size()) {
      return std::nullopt;
    }
    if (body[4] == kKinematicsInfo && size >= kKinematicsSize) {
      KinematicsInfo info;
      const std::uint8_t* at = body.data() + 5;
      for (std::uint32_t& word : info.checksum) {
        word = readU32(at);
        at += 4;
      }
      for (double DhParameters::* const member :
           {&DhParameters::theta_offset_rad, &DhParameters::a_m, &DhParameters::d_m,
            &DhParameters::alpha_rad}) {
        for (DhParameters& row : info.rows) {
          row.*member = readF64(at);
          at += 8;
        }
      }
      info.calibration_status = readU32(at);
      return info;
    }
    body = body.subspan(size);
  }
  return std::nullopt;
}

std::optional<KinematicsInfo> readKinematics(const std::string& host, int port, double timeout_s) {
  const Deadline deadline = Deadline::in(timeout_s);
  TcpClient client = TcpClient::connect({host, port, "the primary interface"}, deadline);
  while (!deadline.passed()) {
    std::array<std::uint8_t, 5> header{};
    client.readExact(header, deadline);
    const std::uint32_t size = readU32(header.data());
    if (size < 5 || size > kLongestMessage) {
      throw ArmError("arm_protocol", client.endpoint().text() + " sent a message of " +
                                         std::to_string(size) + " bytes: check arm.host");
    }
    std::vector<std::uint8_t> body(size - 5);
    client.readExact(body, deadline);
    if (header[4] == kRobotState) {
      if (auto info = findKinematics(body)) {
        return info;
      }
    }
  }
  return std::nullopt;
}

Transform16 transformProduct(const Transform16& a, const Transform16& b) {
  Transform16 product{};
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 4; ++column) {
      double sum = 0;
      for (int k = 0; k < 4; ++k) {
        sum += a[4 * row + k] * b[4 * k + column];
      }
      product[4 * row + column] = sum;
    }
  }
  return product;
}

Transform16 flangeInBase(const DhRows& rows, const Joints& q_rad) {
  Transform16 X = kIdentity16;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const DhParameters& row = rows[i];
    const double ct = std::cos(q_rad[i] + row.theta_offset_rad);
    const double st = std::sin(q_rad[i] + row.theta_offset_rad);
    const double ca = std::cos(row.alpha_rad);
    const double sa = std::sin(row.alpha_rad);
    X = transformProduct(X, {ct, -st * ca, st * sa, row.a_m * ct,  //
                             st, ct * ca, -ct * sa, row.a_m * st,  //
                             0, sa, ca, row.d_m,                   //
                             0, 0, 0, 1});
  }
  return X;
}

Transform16 poseToTransform(const std::array<double, 6>& pose) {
  const double angle = std::hypot(pose[3], pose[4], pose[5]);
  double x = 1;
  double y = 0;
  double z = 0;
  if (angle > 0) {
    x = pose[3] / angle;
    y = pose[4] / angle;
    z = pose[5] / angle;
  }
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  const double t = 1 - c;
  return {t * x * x + c,
          t * x * y - s * z,
          t * x * z + s * y,
          pose[0],
          t * x * y + s * z,
          t * y * y + c,
          t * y * z - s * x,
          pose[1],
          t * x * z - s * y,
          t * y * z + s * x,
          t * z * z + c,
          pose[2],
          0,
          0,
          0,
          1};
}

std::array<double, 6> transformToPose(const Transform16& X) {
  const double wx = X[9] - X[6];
  const double wy = X[2] - X[8];
  const double wz = X[4] - X[1];
  const double sin2 = std::hypot(wx, wy, wz);
  const double cos2 = X[0] + X[5] + X[10] - 1;
  const double angle = std::atan2(sin2, cos2);
  if (sin2 > 1e-7) {
    const double scale = angle / sin2;
    return {X[3], X[7], X[11], wx * scale, wy * scale, wz * scale};
  }
  if (cos2 > 0) {
    return {X[3], X[7], X[11], wx / 2, wy / 2, wz / 2};
  }
  // Half a turn: the axis is the column of (R + I) with the largest diagonal.
  const std::array<double, 3> diagonal{X[0], X[5], X[10]};
  const auto k = static_cast<std::size_t>(std::max_element(diagonal.begin(), diagonal.end()) -
                                          diagonal.begin());
  std::array<double, 3> axis{};
  for (std::size_t row = 0; row < 3; ++row) {
    axis[row] = X[4 * row + k] + (row == k ? 1 : 0);
  }
  const double length = std::hypot(axis[0], axis[1], axis[2]);
  return {X[3],
          X[7],
          X[11],
          axis[0] / length * angle,
          axis[1] / length * angle,
          axis[2] / length * angle};
}

TransformGap transformGap(const Transform16& a, const Transform16& b) {
  Transform16 inverse = kIdentity16;  // rotation of a, transposed
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column) {
      inverse[4 * row + column] = a[4 * column + row];
    }
  }
  Transform16 turned = transformProduct(inverse, b);
  const auto pose = transformToPose(turned);
  return {std::hypot(a[3] - b[3], a[7] - b[7], a[11] - b[11]),
          std::hypot(pose[3], pose[4], pose[5])};
}

}  // namespace s2r::arm
