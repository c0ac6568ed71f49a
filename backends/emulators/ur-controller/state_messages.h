// Packages of the primary, secondary and real-time interfaces (ports 30001, 30002, 30003),
// big-endian, each with its own length in front.
#pragma once

#include <string>

#include "backends/emulators/ur-controller/controller.h"

namespace s2r::ur {

// Type 20, kind 3: told first on a new connection.
[[nodiscard]] std::string versionMessage(const Version& version);
// Type 20, kind 6 (with a C number) or kind 0 (text only).
[[nodiscard]] std::string textMessage(const Text& text, double time_s);
// Type 16 with sub-packages robot mode, joints, tool, masterboard, cartesian and additional info;
// `with_kinematics` adds the configuration (published table and limits) and the kinematics info:
// the arm's own complete table with a checksum a joint.
[[nodiscard]] std::string robotState(const StateFrame& frame,
                                     const Arm& arm,
                                     const RobotLimits& limits,
                                     bool with_kinematics);
// The 1220 byte package of port 30003.
[[nodiscard]] std::string realtimeState(const StateFrame& frame);
// Changes whenever one number of the joint's row does.
[[nodiscard]] std::uint32_t kinematicsChecksum(const pose::DhRow& row);

}  // namespace s2r::ur
