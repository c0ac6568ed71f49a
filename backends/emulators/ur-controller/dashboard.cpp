#include "backends/emulators/ur-controller/dashboard.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <vector>

namespace s2r::ur {

namespace {

std::string lower(std::string_view s) {
  std::string out(s);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string upper(std::string_view s) {
  std::string out(s);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

std::string robotModeName(RobotMode mode) {
  switch (mode) {
    case RobotMode::kPowerOff:
      return "POWER_OFF";
    case RobotMode::kPowerOn:
      return "POWER_ON";
    case RobotMode::kIdle:
      return "IDLE";
    case RobotMode::kRunning:
      return "RUNNING";
  }
  return "NO_CONTROLLER";
}

std::string safetyModeName(SafetyMode mode) {
  switch (mode) {
    case SafetyMode::kNormal:
      return "NORMAL";
    case SafetyMode::kReduced:
      return "REDUCED";
    case SafetyMode::kProtectiveStop:
      return "PROTECTIVE_STOP";
    case SafetyMode::kRobotEmergencyStop:
      return "ROBOT_EMERGENCY_STOP";
    case SafetyMode::kFault:
      return "FAULT";
  }
  return "UNDEFINED_SAFETY_MODE";
}

std::string versionLine(const Version& v) {
  return "URSoftware " + std::to_string(v.major) + "." + std::to_string(v.minor) + "." +
         std::to_string(v.bugfix) + "." + std::to_string(v.build) + " (Mar 14 2024)";
}

std::string programStateLine(const Controller& controller, const DashboardState& state) {
  std::string name =
      controller.programName().empty() ? state.loaded_program : controller.programName();
  name = name.empty() ? "<unnamed>" : name;
  switch (controller.runtimeState()) {
    case RuntimeState::kPlaying:
    case RuntimeState::kResuming:
      return "PLAYING " + name;
    case RuntimeState::kPausing:
    case RuntimeState::kPaused:
      return "PAUSED " + name;
    default:
      return "STOPPED " + name;
  }
}

struct Request {
  std::string_view rest;  // behind the command's words
  Controller& controller;
  DashboardState& state;
};

using Handler = std::function<std::string(Request&)>;

struct Command {
  std::string_view words;  // lower case
  bool only_remote;
  bool takes_rest;
  Handler handler;
};

const std::vector<Command>& commands() {
  static const std::vector<Command> kCommands = {
      {"polyscopeversion", false, false,
       [](Request& r) { return versionLine(r.controller.options().version); }},
      {"version", false, false,
       [](Request& r) {
         const Version& v = r.controller.options().version;
         return std::to_string(v.major) + "." + std::to_string(v.minor) + "." +
                std::to_string(v.bugfix) + "." + std::to_string(v.build);
       }},
      {"get serial number", false, false, [](Request& r) { return r.controller.options().serial; }},
      {"get robot model", false, false, [](Request&) { return std::string("UR5"); }},
      {"is in remote control", false, false,
       [](Request& r) { return std::string(r.controller.remote() ? "true" : "false"); }},
      {"robotmode", false, false,
       [](Request& r) { return "Robotmode: " + robotModeName(r.controller.robotMode()); }},
      {"safetymode", false, false,
       [](Request& r) { return "Safetymode: " + safetyModeName(r.controller.safetyMode()); }},
      {"safetystatus", false, false,
       [](Request& r) { return "Safetystatus: " + safetyModeName(r.controller.safetyMode()); }},
      {"programstate", false, false,
       [](Request& r) { return programStateLine(r.controller, r.state); }},
      {"running", false, false,
       [](Request& r) {
         const RuntimeState s = r.controller.runtimeState();
         const bool running = s == RuntimeState::kPlaying || s == RuntimeState::kResuming;
         return std::string("Program running: ") + (running ? "true" : "false");
       }},
      {"get loaded program", false, false,
       [](Request& r) {
         return r.state.loaded_program.empty() ? "No program loaded"
                                               : "Loaded program: " + r.state.loaded_program;
       }},
      {"isprogramsaved", false, false,
       [](Request& r) {
         return "True " + (r.state.loaded_program.empty() ? "<unnamed>" : r.state.loaded_program);
       }},
      {"load installation", true, true,
       [](Request& r) { return "Loading installation: " + std::string(r.rest); }},
      {"load", true, true,
       [](Request& r) {
         if (!r.rest.ends_with(".urp")) {
           return "File not found: " + std::string(r.rest);
         }
         r.state.loaded_program = "/programs/" + std::string(r.rest);
         return "Loading program: " + r.state.loaded_program;
       }},
      {"play", true, false,
       [](Request& r) {
         return std::string(r.controller.play() ? "Starting program" : "Failed to execute: play");
       }},
      {"pause", true, false,
       [](Request& r) {
         return std::string(r.controller.pause() ? "Pausing program" : "Failed to execute: pause");
       }},
      {"stop", true, false,
       [](Request& r) {
         r.controller.stopProgram();
         return std::string("Stopped");
       }},
      {"power on", true, false,
       [](Request& r) {
         r.controller.powerOn();
         return std::string("Powering on");
       }},
      {"power off", true, false,
       [](Request& r) {
         r.controller.powerOff();
         return std::string("Powering off");
       }},
      {"brake release", true, false,
       [](Request& r) {
         r.controller.brakeRelease();
         return std::string("Brake releasing");
       }},
      {"unlock protective stop", true, false,
       [](Request& r) { return r.controller.unlockProtectiveStop(); }},
      {"close safety popup", true, false,
       [](Request& r) {
         r.state.safety_popup = false;
         return std::string("closing safety popup");
       }},
      {"restart safety", true, false,
       [](Request& r) {
         r.controller.restartSafety();
         return std::string("Restarting safety");
       }},
      {"popup", false, true,
       [](Request& r) {
         r.state.popup = std::string(r.rest);
         return std::string("showing popup");
       }},
      {"close popup", false, false,
       [](Request& r) {
         r.state.popup.clear();
         return std::string("closing popup");
       }},
      {"addtolog", false, true, [](Request&) { return std::string("Added log message"); }},
      {"setuserrole", false, true,
       [](Request& r) {
         r.state.user_role = upper(r.rest);
         return "Setting user role: " + r.state.user_role;
       }},
      {"getuserrole", false, false, [](Request& r) { return r.state.user_role; }},
      {"get operational mode", false, false, [](Request& r) { return r.state.operational_mode; }},
      {"set operational mode", false, true,
       [](Request& r) {
         const std::string mode = upper(r.rest);
         if (mode != "MANUAL" && mode != "AUTOMATIC") {
           return "Failed setting operational mode: " + mode;
         }
         r.state.operational_mode = mode;
         return "Setting operational mode: " + mode;
       }},
      {"clear operational mode", false, false,
       [](Request& r) {
         r.state.operational_mode = "NONE";
         return std::string(
             "No longer controlling the operational mode. Current operational "
             "mode: NONE");
       }},
      {"generate flight report", false, true,
       [](Request& r) {
         return "Flight Report generated with id: " + std::to_string(++r.state.reports);
       }},
      {"generate support file", false, true,
       [](Request& r) {
         return "Completed successfully: ur_support_" + std::to_string(++r.state.reports) + ".zip";
       }},
  };
  return kCommands;
}

}  // namespace

DashboardAnswer answerDashboard(std::string_view line,
                                Controller& controller,
                                DashboardState& state) {
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) {
    line.remove_suffix(1);
  }
  const std::string words = lower(line);
  if (words == "quit") {
    return {"Disconnected", true, false};
  }
  if (words == "shutdown") {
    return {"Shutting down", true, true};
  }
  for (const Command& command : commands()) {
    const bool exact = words == command.words;
    const bool with_rest = command.takes_rest && words.size() > command.words.size() &&
                           words.starts_with(command.words) && words[command.words.size()] == ' ';
    if (!exact && !with_rest) {
      continue;
    }
    if (command.only_remote && !controller.remote()) {
      return {"Command is not allowed: robot is in local control, " + std::string(command.words)};
    }
    Request request{with_rest ? line.substr(command.words.size() + 1) : std::string_view(),
                    controller, state};
    return {command.handler(request)};
  }
  return {"could not understand: '" + std::string(line) + "'"};
}

}  // namespace s2r::ur
