// Emulated controller of a UR5e.
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <regex>
#include <thread>

#include "backends/emulators/ur-controller/cycle_thread.h"
#include "backends/emulators/ur-controller/operator_commands.h"
#include "backends/emulators/ur-controller/server.h"

namespace {

using namespace s2r::ur;

struct Arguments {
  ServerOptions server;
  ControllerOptions controller;
  std::string plant, realtime = "ignore", version = "5.17.3.128957";
  double plant_wait_s = 30;
  std::vector<double> q_rad = {
      0, -1.5707963267948966, 1.5707963267948966, -1.5707963267948966, -1.5707963267948966, 0};
  std::vector<double> bias, deltas;
};

void describe(CLI::App& app, Arguments& a) {
  app.add_option("--host", a.server.host, "address to listen on")->capture_default_str();
  app.add_option("--dashboard-port", a.server.dashboard_port, "0: any free port")
      ->capture_default_str();
  app.add_option("--rtde-port", a.server.rtde_port)->capture_default_str();
  app.add_option("--script-port", a.server.script_port)->capture_default_str();
  app.add_option("--secondary-port", a.server.secondary_port)->capture_default_str();
  app.add_option("--primary-port", a.server.primary_port)->capture_default_str();
  app.add_option("--plant", a.plant,
                 "shared memory of a plant; without it the arm follows its "
                 "target with a first-order lag");
  app.add_option("--plant-wait-s", a.plant_wait_s, "wait for the plant's first state")
      ->capture_default_str();
  app.add_option("--realtime", a.realtime,
                 "enforce: exit when SCHED_FIFO or locked memory is "
                 "refused; ignore: go on without")
      ->check(CLI::IsMember({"enforce", "ignore"}))
      ->capture_default_str();
  app.add_option("--polyscope-version", a.version, "major.minor.bugfix.build")
      ->capture_default_str();
  app.add_option("--serial", a.controller.serial)->capture_default_str();
  app.add_option("--q", a.q_rad, "joint positions at the start, rad")->expected(6);
  app.add_option("--kinematic-deltas", a.deltas,
                 "6 times dtheta da dd dalpha, rad and m (with a plant: the plant's)")
      ->expected(24);
  app.add_option("--wrench-bias", a.bias, "bias of the force sensor in the tool's axes, N and Nm")
      ->expected(6);
  app.add_option("--wrench-noise-n", a.controller.wrench_noise.force_n)->capture_default_str();
  app.add_option("--wrench-noise-nm", a.controller.wrench_noise.torque_nm)->capture_default_str();
  app.add_option("--seed", a.controller.seed, "of the sensor's noise")->capture_default_str();
  app.add_flag("--powered-off", a.controller.powered_off, "start with the arm powered off");
  app.add_flag("--local", a.controller.local, "start in local control");
  app.add_option("--power-step-s", a.controller.power_step_s,
                 "time of powering on and of releasing the brakes")
      ->capture_default_str();
  RobotLimits& limits = a.controller.limits;
  app.add_option("--joint-position-limit-rad", limits.joint_position_rad)->capture_default_str();
  app.add_option("--joint-speed-limit-rad-s", limits.joint_speed_rad_s)->capture_default_str();
  app.add_option("--tool-speed-limit-m-s", limits.tool_speed_m_s)->capture_default_str();
  app.add_option("--elbow-speed-limit-m-s", limits.elbow_speed_m_s)->capture_default_str();
  app.add_option("--force-limit-n", limits.force_n)->capture_default_str();
}

Version versionOf(const std::string& text) {
  const std::regex pattern(R"((\d+)\.(\d+)\.(\d+)\.(\d+))");
  std::smatch m;
  if (!std::regex_match(text, m, pattern)) {
    throw std::runtime_error("--polyscope-version " + text + ": expected four numbers, 5.17.3.0");
  }
  const auto part = [&](int i) {
    return static_cast<unsigned>(std::stoul(m[static_cast<std::size_t>(i)]));
  };
  return {part(1), part(2), part(3), part(4)};
}

KinematicDeltas deltasOf(const std::vector<double>& v) {
  KinematicDeltas out;
  for (std::size_t i = 0; i < 6 && v.size() == 24; ++i) {
    out.theta_rad[i] = v[4 * i];
    out.a_m[i] = v[4 * i + 1];
    out.d_m[i] = v[4 * i + 2];
    out.alpha_rad[i] = v[4 * i + 3];
  }
  return out;
}

// Answers operators until standard input ends or the process is to stop.
void serveOperator(Process& process) {
  std::string pending;
  while (!process.stop) {
    pollfd wait{STDIN_FILENO, POLLIN, 0};
    if (::poll(&wait, 1, 100) <= 0) {
      continue;
    }
    char buffer[4096];
    const ssize_t n = ::read(STDIN_FILENO, buffer, sizeof(buffer));
    if (n <= 0) {
      return;
    }
    pending.append(buffer, static_cast<std::size_t>(n));
    for (std::size_t end; (end = pending.find('\n')) != std::string::npos;) {
      const std::string line = pending.substr(0, end);
      pending.erase(0, end + 1);
      if (!line.empty()) {
        std::cout << answerOperator(line, process) << std::endl;
      }
    }
  }
}

int run(Arguments& arguments) {
  ControllerOptions& options = arguments.controller;
  options.version = versionOf(arguments.version);
  options.deltas = deltasOf(arguments.deltas);
  if (arguments.bias.size() == 6) {
    std::copy_n(arguments.bias.begin(), 6, options.wrench_bias.begin());
  }
  std::unique_ptr<Plant> plant;
  if (arguments.plant.empty()) {
    Joints q;
    std::copy_n(arguments.q_rad.begin(), 6, q.data());
    plant = std::make_unique<FirstOrderPlant>(q);
  } else {
    auto shared = std::make_unique<SharedPlant>(arguments.plant, arguments.plant_wait_s);
    if (arguments.deltas.empty()) {
      options.deltas = shared->deltas();
    }
    plant = std::move(shared);
  }
  Process process(options, std::move(plant));
  Server server(arguments.server, process);
  const bool enforce = arguments.realtime == "enforce";
  std::string refusal, policy = "fifo";
  constexpr int kCyclePriority = 80, kServerPriority = 78;
  std::atomic<int> asked{0};
  const auto realtime = [&](int priority) {
    const std::string why = askRealtime(priority);
    if (!why.empty()) {
      const std::lock_guard lock(process.mutex);
      refusal = why;
    }
    ++asked;
  };
  std::thread serving([&] {
    realtime(kServerPriority);
    server.run();
  });
  std::thread cycling([&] {
    realtime(kCyclePriority);
    runCycles(process, server.eventFd());
  });
  while (asked < 2) {
    std::this_thread::yield();
  }
  {
    const std::lock_guard lock(process.mutex);
    if (!refusal.empty()) {
      policy = "other";
      process.stop = enforce;
    }
  }
  int status = 0;
  if (process.stop && enforce) {
    std::cerr << "ur-controller: real time was to be enforced: " << refusal
              << " (allow it with rtprio and memlock in limits.conf, or --realtime ignore)\n";
    status = 3;
  } else {
    const nlohmann::json ready = {{"ready", true},
                                  {"host", arguments.server.host},
                                  {"ports",
                                   {{"dashboard", server.port(Port::kDashboard)},
                                    {"rtde", server.port(Port::kRtde)},
                                    {"script", server.port(Port::kScript)},
                                    {"secondary", server.port(Port::kSecondary)},
                                    {"primary", server.port(Port::kPrimary)}}},
                                  {"realtime", {{"policy", policy}, {"reason", refusal}}}};
    std::cout << ready.dump() << std::endl;
    serveOperator(process);
  }
  process.stop = true;
  cycling.join();
  serving.join();
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app(
      "Emulated controller of a UR5e: dashboard, real-time data exchange, script and state "
      "interfaces. Fault switches are lines of JSON on standard input, whose end ends it.",
      "ur-controller");
  Arguments arguments;
  describe(app, arguments);
  CLI11_PARSE(app, argc, argv);
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    std::cerr << "ur-controller: " << error.what() << "\n";
    return 2;
  }
}
