// Everything that one arm is opened with, and what is known of it once it is open.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>

#include "native/arm/core/config.h"
#include "native/arm/link/control.h"
#include "native/arm/link/primary.h"
#include "native/arm/link/rtde_stream.h"
#include "native/arm/process/realtime.h"

namespace s2r::arm {

struct ArmOptions {
  std::string host;
  // ur_rtde itself always uses 29999, 30004 and 30003.
  int dashboard_port = 29999;
  int rtde_port = 30004;
  int script_port = 30003;
  int primary_port = 30001;
  bool upper_registers = true;
  bool read_calibration = true;

  bool realtime_enforce = true;
  int realtime_priority = 80;
  int realtime_cpu = -1;  // processor that the loop is pinned to; -1: any

  CoreConfig core;  // dh is replaced by the calibrated rows where they are read
  ServoSettings servo;
  double watchdog_hz = 10;
  double payload_kg = 0;
  Vector3 payload_cog_m{};
  // Acceleration of gravity in base axes; 0 0 -9.82 upright.
  Vector3 gravity_base_m_s2{0, 0, -9.82};

  std::string stop_address;  // empty: no stop socket
  pid_t parent = 0;          // 0: not watched
  bool exit_on_parent_gone = false;
  bool exit_on_lease_lapse = false;
  std::string recorder_folder;  // empty: nothing is written
};

struct ArmInfo {
  bool calibrated = false;
  std::string kinematics_reason;  // why nominal
  DhRows dh{};
  std::string checksum;
  std::string controller_version;
  std::string serial;
  RealtimeGrant realtime;
  std::string stop_address;
  // "confirmed": the accelerometer in the tool feels gravity where the configuration says;
  // "unverified": it says nothing.
  std::string mounting;
};

}  // namespace s2r::arm
