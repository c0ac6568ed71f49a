#include <ur_rtde/rtde_control_interface.h>

#include <vector>

#include "native/arm/link/control.h"
#include "native/arm/link/error.h"

namespace s2r::arm {
namespace {

class UrRtdeControl : public Control {
 public:
  UrRtdeControl(const std::string& host, bool upper_registers)
      : interface_(host,
                   500.0,
                   upper_registers ? kFlags | Interface::FLAG_UPPER_RANGE_REGISTERS : kFlags) {}

  void upload() override {
    if (!interface_.reuploadScript()) {
      throw ArmError("arm_program",
                     "the control program could not be sent to the controller: "
                     "check that it is in remote control");
    }
  }

  bool running() override { return interface_.isProgramRunning(); }

  bool servo(const Joints& q_rad, const ServoSettings& settings) override {
    // Speed and acceleration are not used by servoj; ur_rtde only checks their range.
    return interface_.servoJ({q_rad.begin(), q_rad.end()}, 0.5, 0.5, settings.period_s,
                             settings.lookahead_s, settings.gain);
  }

  bool armWatchdog(double min_hz) override { return interface_.setWatchdog(min_hz); }
  bool kickWatchdog() override { return interface_.kickWatchdog(); }
  bool stopServo(double deceleration_m_s2) override {
    return interface_.servoStop(deceleration_m_s2);
  }
  void endProgram() override { interface_.stopScript(); }

  bool setPayload(double mass_kg, const std::array<double, 3>& cog_m) override {
    return interface_.setPayload(mass_kg, {cog_m.begin(), cog_m.end()});
  }
  bool setTcp(const Joints& X_flange_tcp) override {
    return interface_.setTcp({X_flange_tcp.begin(), X_flange_tcp.end()});
  }
  Joints tcp() override {
    const std::vector<double> pose = interface_.getTCPOffset();
    if (pose.size() != 6) {
      throw ArmError("arm_settings",
                     "the controller does not say its TCP: read it on the pendant "
                     "and restart the controller");
    }
    Joints result{};
    std::copy(pose.begin(), pose.end(), result.begin());
    return result;
  }
  bool setGravity(const std::array<double, 3>& direction_m_s2) override {
    return interface_.setGravity({direction_m_s2.begin(), direction_m_s2.end()});
  }

 private:
  using Interface = ur_rtde::RTDEControlInterface;
  static constexpr std::uint16_t kFlags = Interface::FLAG_NO_WAIT | Interface::FLAG_NO_EXT_FT;
  Interface interface_;
};

}  // namespace

ControlFactory urRtdeControl(const std::string& host, bool upper_registers) {
  return [=] { return std::make_unique<UrRtdeControl>(host, upper_registers); };
}

}  // namespace s2r::arm
