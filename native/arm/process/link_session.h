// One connection to a controller from the first probe to a control program that runs, with its
// settings read back and its watchdog armed. All calls block, each with a deadline; none is for the
// loop or an event loop.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "native/arm/link/control_thread.h"
#include "native/arm/link/dashboard.h"
#include "native/arm/link/rtde_stream.h"
#include "native/arm/process/arm_options.h"
#include "native/arm/process/cycle_thread.h"

namespace s2r::arm {

// What a controller says of itself before anything is asked of it.
struct Probe {
  std::string polyscope;
  std::string serial;
  RtdeVersion version;
  RtdeSample sample;
  std::unique_ptr<RtdeStream> stream;
};

// Dashboard, real-time interface and script port answer, the version is one we know, and the
// pendant is in remote control. Codes: arm_unreachable, arm_silent, arm_link_lost, arm_protocol,
// arm_version, arm_local_mode.
[[nodiscard]] Probe probeController(const ArmOptions& options);

// The arm has power, its brakes are released and nothing of its safety stops it. Codes:
// arm_not_running, arm_protective_stop, arm_emergency_stop, arm_safety.
void requireReady(const RtdeSample& sample);

// Factory calibration where the controller gives one that agrees with its own TCP pose; else
// nominal and why.
void readCalibration(const ArmOptions& options, const RtdeSample& sample, ArmInfo& info);

class LinkSession {
 public:
  LinkSession(const ArmOptions& options, CycleThread& cycle, ControlFactory factory);
  ~LinkSession();

  // Gives the loop the stream; state flows from here on.
  void takeStream(std::unique_ptr<RtdeStream> stream);
  // Uploads and starts the control program, sets and reads back payload, TCP and mounting, arms the
  // watchdog and tells the loop that the link is up. `take_over`: ends a program that runs; else
  // that is arm_program_running.
  void startProgram(bool take_over, ArmInfo& info);
  // Stops the servo and ends the program; what fails is left to the controller's watchdog. False
  // where something did.
  bool endProgram() noexcept;
  // Lets go of the controller. False where a thread of ur_rtde had to be left behind.
  bool close(LinkLoss loss = LinkLoss::kNone) noexcept;

  // A packet came within `timeout_s` from now.
  [[nodiscard]] bool flows(double timeout_s) const;
  [[nodiscard]] bool hasStream() const { return stream_ != nullptr; }
  [[nodiscard]] bool hasProgram() const { return control_ != nullptr; }
  [[nodiscard]] ControlThread* control() const { return control_.get(); }

 private:
  void awaitNoProgram(bool take_over);
  void awaitProgram();
  void applySettings(ArmInfo& info);
  void checkMounting(ArmInfo& info) const;
  bool closeControl() noexcept;
  RtdeSample freshSample(const char* doing) const;
  void awaitSample(double timeout_s,
                   const std::function<bool(const RtdeSample&)>& wanted,
                   const std::string& code,
                   const std::string& message) const;

  const ArmOptions& options_;
  CycleThread& cycle_;
  ControlFactory factory_;
  std::unique_ptr<RtdeStream> stream_;
  std::unique_ptr<ControlThread> control_;
};

}  // namespace s2r::arm
