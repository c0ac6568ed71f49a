#include "native/arm/process/link_session.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <thread>

namespace s2r::arm {
namespace {

constexpr double kProbe_s = 1.0;
constexpr double kStart_s = 5.0;
constexpr double kCall_s = 3.0;
constexpr double kControlOpen_s = 12.0;
constexpr double kRegistersFree_s = 1.5;
constexpr double kRegistersPause_s = 0.1;
constexpr int kControlPriority = 40;
// A receiving thread of ur_rtde may wait 2.5 s for a controller that says nothing.
constexpr double kControlClose_s = 3.5;
constexpr std::int32_t kRunning = 7;
constexpr std::uint32_t kStopped = 1;
constexpr std::uint32_t kPlaying = 2;
constexpr std::int32_t kScriptReady = 1;

// Bits of safety_status_bits.
constexpr std::uint32_t kProtective = 1U << 2;
constexpr std::uint32_t kSafeguard = 1U << 4;
constexpr std::uint32_t kEmergency = 1U << 5 | 1U << 6 | 1U << 7;
constexpr std::uint32_t kViolation = 1U << 8 | 1U << 9;

// Agreement that a read-back must have.
constexpr double kMass_kg = 0.001;
constexpr double kLength_m = 0.0005;
constexpr double kAngle_rad = 0.0005;
// The calibrated rows must give the controller's own pose; both are doubles, but the pose is of the
// next cycle.
constexpr double kPoseAgreement_m = 0.0005;
constexpr double kPoseAgreement_rad = 0.001;
// The tool's accelerometer is a coarse one.
constexpr double kGravityAngle_rad = 0.15;
constexpr double kGravityLeast_m_s2 = 8.0;
constexpr double kGravityMost_m_s2 = 11.6;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g", value);
  return text;
}

void pause(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

void requireVersion(const RtdeVersion& version, bool upper_registers) {
  const std::string text = std::to_string(version.major) + "." + std::to_string(version.minor);
  if (version.major != 5 || version.minor < 6) {
    throw ArmError("arm_version", "the controller runs PolyScope " + text +
                                      ", but 5.6 or later of PolyScope 5 is needed: update it, or "
                                      "use a controller that this driver was tested with");
  }
  if (upper_registers && version.minor >= 23) {
    throw ArmError("arm_version", "with PolyScope " + text +
                                      " ur_rtde 1.6.5 mixes the two register ranges: set "
                                      "registers = \"lower\" in the rig's configuration");
  }
}

// What ur_rtde throws has words only.
[[noreturn]] void rethrowNamed(const std::exception& error) {
  const std::string words = error.what();
  if (words.find("already in use") != std::string::npos) {
    throw ArmError("arm_registers_in_use",
                   "another client owns the controller's input registers: close it, disable the "
                   "fieldbus that uses them (EtherNet/IP, PROFINET), or set registers = \"lower\" "
                   "in the rig's configuration");
  }
  if (words.find("remote control") != std::string::npos) {
    throw ArmError("arm_local_mode",
                   "the pendant is in local control: switch it to remote "
                   "control when the cell is clear");
  }
  throw ArmError("arm_control",
                 "the control connection failed: " + words + "; look at the controller's log");
}

template <typename Work>
auto named(Work work) {
  try {
    return work();
  } catch (const ArmError&) {
    throw;
  } catch (const std::exception& error) {
    rethrowNamed(error);
  }
}

}  // namespace

Probe probeController(const ArmOptions& options) {
  Probe probe;
  Dashboard dashboard = Dashboard::connect(options.host, options.dashboard_port, kProbe_s);
  probe.polyscope = dashboard.polyscopeVersion();
  const bool remote = dashboard.inRemoteControl();
  probe.stream = std::make_unique<RtdeStream>(
      RtdeStream::connect(options.host, options.rtde_port, 500, kProbe_s, options.upper_registers));
  probe.version = probe.stream->version();
  requireVersion(probe.version, options.upper_registers);
  probe.serial = dashboard.serialNumber();
  TcpClient::connect({options.host, options.script_port, "the script port"},
                     Deadline::in(kProbe_s));
  probe.sample = probe.stream->receive(kProbe_s);
  if (!remote) {
    throw ArmError("arm_local_mode",
                   "the pendant is in local control: switch it to remote "
                   "control when the cell is clear");
  }
  return probe;
}

void requireReady(const RtdeSample& sample) {
  const std::uint32_t bits = sample.safety_status_bits;
  if ((bits & kEmergency) != 0) {
    throw ArmError("arm_emergency_stop",
                   "the emergency stop is pressed: when the cell is safe, release the button, "
                   "then power the arm on and release its brakes on the pendant");
  }
  if ((bits & kViolation) != 0) {
    throw ArmError("arm_safety",
                   "the safety system reports a violation or a fault: read the "
                   "message on the pendant and restart the safety system there");
  }
  if ((bits & kSafeguard) != 0) {
    throw ArmError("arm_safety",
                   "a safeguard input stops the arm: close the guard or reset the "
                   "scanner");
  }
  if ((bits & kProtective) != 0) {
    throw ArmError("arm_protective_stop",
                   "the arm is in a protective stop: look at it, remove what it met, wait 5 s and "
                   "unlock it on the pendant");
  }
  if (sample.robot_mode != kRunning) {
    throw ArmError("arm_not_running",
                   "the arm is not powered with its brakes released (robot mode " +
                       std::to_string(sample.robot_mode) +
                       "): power it on and release the brakes on the pendant");
  }
}

void readCalibration(const ArmOptions& options, const RtdeSample& sample, ArmInfo& info) {
  info.dh = options.core.dh;
  if (!options.read_calibration) {
    info.kinematics_reason = "the configuration asks for nominal kinematics";
    return;
  }
  std::optional<KinematicsInfo> read;
  try {
    read = readKinematics(options.host, options.primary_port, 2.0);
  } catch (const ArmError& error) {
    info.kinematics_reason = error.what();
    return;
  }
  if (!read) {
    info.kinematics_reason = "the controller sent no kinematics";
    return;
  }
  const Transform16 flange = flangeInBase(read->rows, sample.q_rad);
  // The controller's pose is of its own TCP, which may not be ours yet.
  if (std::isfinite(sample.X_flange_tcp[0])) {
    const auto gap = transformGap(transformProduct(flange, poseToTransform(sample.X_flange_tcp)),
                                  poseToTransform(sample.X_base_tcp));
    if (!(gap.position_m < kPoseAgreement_m && gap.rotation_rad < kPoseAgreement_rad)) {
      info.kinematics_reason = "the rows that the controller sent are " +
                               number(gap.position_m * 1000) + " mm off its own TCP pose";
      return;
    }
  }
  info.calibrated = true;
  info.dh = read->rows;
  info.checksum = read->checksumText();
}

LinkSession::LinkSession(const ArmOptions& options, CycleThread& cycle, ControlFactory factory)
    : options_(options), cycle_(cycle), factory_(std::move(factory)) {}

LinkSession::~LinkSession() {
  (void)close();
}

void LinkSession::takeStream(std::unique_ptr<RtdeStream> stream) {
  cycle_.setPhase(LinkPhase::kConnecting);
  stream_ = std::move(stream);
  cycle_.attach(stream_.get(), nullptr);
  if (!flows(1.0)) {
    throw ArmError("arm_silent",
                   "the controller started its data but sends none: it hangs; "
                   "restart it");
  }
}

RtdeSample LinkSession::freshSample(const char* doing) const {
  RtdeSample sample;
  if (!cycle_.newestSample(sample)) {
    throw ArmError("arm_silent", std::string("the controller sends no state while ") + doing);
  }
  return sample;
}

void LinkSession::awaitSample(double timeout_s,
                              const std::function<bool(const RtdeSample&)>& wanted,
                              const std::string& code,
                              const std::string& message) const {
  const Deadline deadline = Deadline::in(timeout_s);
  RtdeSample sample;
  while (!(cycle_.newestSample(sample) && wanted(sample))) {
    if (deadline.passed()) {
      throw ArmError(code, message);
    }
    pause(0.002);
  }
}

void LinkSession::awaitNoProgram(bool take_over) {
  const auto stopped = [](const RtdeSample& sample) { return sample.runtime_state == kStopped; };
  if (take_over) {
    if (!stopped(freshSample("its program is ended"))) {
      Dashboard::connect(options_.host, options_.dashboard_port, kProbe_s).stopProgram();
    }
    awaitSample(kStart_s, stopped, "arm_program",
                "the program on the controller did not end: stop it on the pendant");
    return;
  }
  // The program of an earlier driver ends with its watchdog, a moment after that driver did.
  awaitSample(2.5, stopped, "arm_program_running",
              "a program runs on the controller: stop it on the pendant, or end the driver that "
              "started it");
}

void LinkSession::awaitProgram() {
  // ur_rtde refuses every command until its own view, too, has the program running.
  named([&] {
    control_->call("start of the program", kStart_s + 1, [](Control& control) {
      const Deadline deadline = Deadline::in(kStart_s);
      while (!control.running() && !deadline.passed()) {
        pause(0.002);
      }
    });
  });
  awaitSample(
      kStart_s,
      [](const RtdeSample& sample) {
        return sample.runtime_state == kPlaying && sample.script_state == kScriptReady;
      },
      "arm_program_start",
      "the control program did not start within 5 s: see that the pendant is in remote control "
      "and shows no message");
}

namespace {

// A connection that was closed just now, ours too, owns its registers until the controller has seen
// its end.
std::unique_ptr<ControlThread> openControl(const ControlFactory& factory, int priority) {
  const Deadline deadline = Deadline::in(kRegistersFree_s);
  for (;;) {
    try {
      return named([&] { return ControlThread::open(factory, kControlOpen_s, priority); });
    } catch (const ArmError& error) {
      if (error.code() != "arm_registers_in_use" || deadline.passed()) {
        throw;
      }
      pause(kRegistersPause_s);
    }
  }
}

}  // namespace

void LinkSession::startProgram(bool take_over, ArmInfo& info) {
  cycle_.setPhase(LinkPhase::kConnecting);
  cycle_.setKicking(false);
  cycle_.attach(stream_.get(), nullptr);
  (void)closeControl();
  requireReady(freshSample("its control program is started"));
  awaitNoProgram(take_over);
  // ur_rtde waits in busy loops: below the threads of interrupts (50), so that the network goes on.
  const int priority = std::min(options_.realtime_priority - 1, kControlPriority);
  control_ = openControl(factory_, priority);
  control_->setServo(options_.servo);
  named([&] { control_->call("upload", kStart_s, [](Control& control) { control.upload(); }); });
  awaitProgram();
  applySettings(info);
  cycle_.attach(stream_.get(), control_.get());
  cycle_.setKicking(true);
  bool armed = false;
  named([&] {
    control_->call("watchdog", kCall_s, [&armed, hz = options_.watchdog_hz](Control& control) {
      armed = control.armWatchdog(hz);
    });
  });
  if (!armed) {
    throw ArmError("arm_watchdog",
                   "the controller did not arm its watchdog: restart the "
                   "controller; the arm must not run without it");
  }
  cycle_.setPhase(LinkPhase::kUp);
  // Until the loop holds the arm itself, its kicks keep the watchdog quiet.
  const Deadline deadline = Deadline::in(2.0);
  Snapshot snapshot;
  while (!(cycle_.newest(snapshot) &&
           static_cast<Action>(snapshot.word[kFieldAction]) == Action::kServo)) {
    if (deadline.passed()) {
      cycle_.setKicking(false);
      throw ArmError("arm_not_ready",
                     "the arm does not come to rest under this driver: look at "
                     "the pendant");
    }
    pause(0.002);
  }
  cycle_.setKicking(false);
}

void LinkSession::applySettings(ArmInfo& info) {
  Joints tcp_read{};
  bool done = false;
  const auto tcp = transformToPose(options_.core.X_flange_tcp);
  // ur_rtde's set_gravity wants the acceleration that a body at rest feels: against gravity.
  const Vector3 up = {-options_.gravity_base_m_s2[0], -options_.gravity_base_m_s2[1],
                      -options_.gravity_base_m_s2[2]};
  named([&] {
    control_->call("settings", 3 * kCall_s, [&](Control& control) {
      done = control.setGravity(up) && control.setTcp(tcp) &&
             control.setPayload(options_.payload_kg, options_.payload_cog_m);
      tcp_read = control.tcp();
    });
  });
  if (!done) {
    throw ArmError("arm_settings",
                   "the controller did not take payload, TCP or mounting: see "
                   "that no message waits on the pendant");
  }
  const auto gap = transformGap(poseToTransform(tcp_read), options_.core.X_flange_tcp);
  if (!(gap.position_m < kLength_m && gap.rotation_rad < kAngle_rad)) {
    throw ArmError("arm_settings", "the controller's TCP is " + number(gap.position_m * 1000) +
                                       " mm and " + number(gap.rotation_rad) +
                                       " rad off the one that was set: restart the controller");
  }
  if (stream_->serves("payload")) {
    awaitSample(
        1.0,
        [this](const RtdeSample& sample) {
          bool equal = std::abs(sample.payload_kg - options_.payload_kg) < kMass_kg;
          for (std::size_t i = 0; i < 3 && stream_->serves("payload_cog"); ++i) {
            // With a zero centre ur_rtde's program keeps the one that the controller had.
            const bool asked = options_.payload_cog_m != Vector3{};
            equal = equal && (!asked || std::abs(sample.payload_cog_m[i] -
                                                 options_.payload_cog_m[i]) < kLength_m);
          }
          return equal;
        },
        "arm_settings",
        "the controller's payload did not become " + number(options_.payload_kg) +
            " kg with its centre as configured: set payload_kg and payload_cog_m of the rig to "
            "what is mounted");
  }
  checkMounting(info);
}

void LinkSession::checkMounting(ArmInfo& info) const {
  const RtdeSample sample = freshSample("its mounting is checked");
  const Vector3& felt = sample.tool_acceleration_m_s2;
  const double length = std::hypot(felt[0], felt[1], felt[2]);
  info.mounting = "unverified";
  if (!(length > kGravityLeast_m_s2 && length < kGravityMost_m_s2)) {
    return;
  }
  // Turned from tool to base axes it must point against gravity.
  const Transform16 X = poseToTransform(sample.X_base_tcp);
  double along = 0;
  double gravity = 0;
  for (std::size_t row = 0; row < 3; ++row) {
    const double turned =
        X[4 * row] * felt[0] + X[4 * row + 1] * felt[1] + X[4 * row + 2] * felt[2];
    along -= turned * options_.gravity_base_m_s2[row];
    gravity += options_.gravity_base_m_s2[row] * options_.gravity_base_m_s2[row];
  }
  const double angle = std::acos(std::clamp(along / (length * std::sqrt(gravity)), -1.0, 1.0));
  if (angle > kGravityAngle_rad) {
    throw ArmError("arm_settings", "the arm feels gravity " + number(angle) +
                                       " rad off where gravity_base_m_s2 of the rig says: "
                                       "correct the mounting in the configuration");
  }
  info.mounting = "confirmed";
}

bool LinkSession::endProgram() noexcept {
  if (!control_ || control_->stuckFor(0.2)) {
    return false;
  }
  try {
    cycle_.setKicking(false);
    cycle_.attach(stream_.get(), nullptr);
    control_->call("end of the program", 2.0, [](Control& control) {
      (void)control.stopServo(2.0);
      control.endProgram();
    });
    cycle_.setPhase(LinkPhase::kDown);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

bool LinkSession::closeControl() noexcept {
  if (!control_) {
    return true;
  }
  const bool ended = control_->close(kControlClose_s);
  control_.reset();
  return ended;
}

bool LinkSession::flows(double timeout_s) const {
  RtdeSample first;
  RtdeSample now;
  if (!stream_ || !cycle_.streaming()) {
    return false;
  }
  const bool had = cycle_.newestSample(first);
  const Deadline deadline = Deadline::in(timeout_s);
  while (!deadline.passed()) {
    if (cycle_.newestSample(now) && !(had && now.timestamp_s == first.timestamp_s)) {
      return true;
    }
    pause(0.002);
  }
  return false;
}

bool LinkSession::close(LinkLoss loss) noexcept {
  cycle_.setKicking(false);
  cycle_.setPhase(LinkPhase::kDown, loss);
  cycle_.detach();
  const bool ended = closeControl();
  stream_.reset();
  return ended;
}

}  // namespace s2r::arm
