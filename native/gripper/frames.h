// Host-to-device frames of the Pika gripper: [command u8][float32 little-endian, one or two][CR
// LF].
#pragma once

#include <cstdint>
#include <vector>

namespace s2r::gripper {

// The vendor ships two drivers with two command sets. kSdk: its Python package; kRos: its ROS
// driver.
enum class Dialect : uint8_t { kAuto, kSdk, kRos };

enum class Command : uint8_t {
  kDisable = 10,
  kEnable = 11,
  kSetZero = 12,
  kVelocityPair = 13,   // ros: two floats, rad/s
  kCurrent = 15,        // amperes
  kEffort = 20,         // sdk: amperes
  kVelocity = 21,       // sdk: rad/s
  kPosition = 22,       // both: rad
  kPositionSpeed = 23,  // ros: rad, at the set velocity
};

using Bytes = std::vector<uint8_t>;

// 7 bytes. A value is always sent, because devices take frames of fixed length.
void appendFrame(Bytes& out, Command command, float value = 0.0F);
// 11 bytes.
void appendFrame(Bytes& out, Command command, float first, float second);
// The text request for the firmware version.
void appendInfoRequest(Bytes& out);

// The current limit, in the codes that a dialect (or an unknown one) listens to.
void appendCurrentLimit(Bytes& out, Dialect dialect, double current_a);
// The speed of later moves. The two-float frame goes only to a device known to read it: one that
// takes seven bytes a frame would read its second half as commands, "zero here" among them.
void appendVelocity(Bytes& out, Dialect dialect, double speed_rad_s);
// The code of a position command: kPositionSpeed for ros, kPosition otherwise.
[[nodiscard]] Command positionCommand(Dialect dialect);

}  // namespace s2r::gripper
