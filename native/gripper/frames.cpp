#include "native/gripper/frames.h"

#include <bit>
#include <string_view>

namespace s2r::gripper {
namespace {

void appendFloat(Bytes& out, float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8)
    out.push_back(static_cast<uint8_t>(bits >> shift));
}

void appendEnd(Bytes& out) {
  out.push_back(0x0D);
  out.push_back(0x0A);
}

}  // namespace

void appendFrame(Bytes& out, Command command, float value) {
  out.push_back(static_cast<uint8_t>(command));
  appendFloat(out, value);
  appendEnd(out);
}

void appendFrame(Bytes& out, Command command, float first, float second) {
  out.push_back(static_cast<uint8_t>(command));
  appendFloat(out, first);
  appendFloat(out, second);
  appendEnd(out);
}

void appendInfoRequest(Bytes& out) {
  for (const char c : std::string_view("GET_INFO\r\n"))
    out.push_back(static_cast<uint8_t>(c));
}

void appendCurrentLimit(Bytes& out, Dialect dialect, double current_a) {
  const auto value = static_cast<float>(current_a);
  // Firmware of the sdk's time reads the limit under either code, depending on its age.
  if (dialect != Dialect::kRos)
    appendFrame(out, Command::kEffort, value);
  appendFrame(out, Command::kCurrent, value);
}

void appendVelocity(Bytes& out, Dialect dialect, double speed_rad_s) {
  const auto value = static_cast<float>(speed_rad_s);
  if (dialect == Dialect::kRos) {
    appendFrame(out, Command::kVelocityPair, value, value);
  } else {
    appendFrame(out, Command::kVelocity, value);
  }
}

Command positionCommand(Dialect dialect) {
  return dialect == Dialect::kRos ? Command::kPositionSpeed : Command::kPosition;
}

}  // namespace s2r::gripper
