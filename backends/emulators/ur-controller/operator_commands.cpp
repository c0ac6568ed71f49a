#include "backends/emulators/ur-controller/operator_commands.h"

#include <csignal>
#include <cstdio>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace s2r::ur {

namespace {

using nlohmann::json;

double untilS(const json& request) {
  return request.contains("seconds") ? monotonicS() + request.at("seconds").get<double>()
                                     : std::numeric_limits<double>::infinity();
}

json fault(const std::string& name, const json& request, Process& process) {
  if (name == "kill") {
    std::fputs("{\"done\":\"kill\"}\n", stdout);
    std::fflush(stdout);
    ::raise(SIGKILL);
  }
  const std::lock_guard lock(process.mutex);
  LinkFaults& link = process.faults;
  if (name == "freeze") {
    link.frozen_until_s = untilS(request);
  } else if (name == "rst") {
    link.reset_connections = true;
  } else if (name == "delay") {
    link.delay_s = request.value("ms", 50.0) / 1000;
    link.delay_until_s = untilS(request);
  } else if (name == "drop") {
    link.drop_share = request.value("share", 0.2);
    link.drop_until_s = untilS(request);
  } else if (name == "half_frames") {
    link.half_share = request.value("share", 0.2);
    link.half_until_s = untilS(request);
  } else if (name == "unplug") {
    link.unplugged_until_s = untilS(request);
  } else if (name == "protective_stop") {
    process.controller.protectiveStop(153, "asked for at the bench");
  } else if (name == "emergency_stop") {
    process.controller.emergencyStop(true);
  } else if (name == "local") {
    process.controller.setRemote(false);
  } else if (name == "noise") {
    process.controller.robot().sensor.setNoise(
        {request.value("force_n", 2.0), request.value("torque_nm", 0.2)});
  } else if (name == "stuck") {
    throw std::invalid_argument("no fault stuck here: an arm that does not follow is the bench's");
  } else if (name == "replug_other_name") {
    throw std::invalid_argument(
        "no fault replug_other_name here: a controller has an address, which a plug does not "
        "change");
  } else {
    throw std::invalid_argument("unknown fault " + name +
                                ": one of freeze, kill, rst, delay, drop, half_frames, unplug, "
                                "protective_stop, emergency_stop, local, noise");
  }
  return {{"done", name}};
}

json clear(Process& process) {
  const std::lock_guard lock(process.mutex);
  process.faults = LinkFaults();
  Controller& controller = process.controller;
  controller.emergencyStop(false);
  if (!controller.remote()) {
    controller.setRemote(true);
  }
  controller.robot().sensor.setNoise(controller.options().wrench_noise);
  return {{"done", "clear"}};
}

json world(const json& wanted, Process& process) {
  const std::lock_guard lock(process.mutex);
  if (process.controller.hasPlant()) {
    throw std::invalid_argument("the world is the plant's");
  }
  SmallWorld& small = process.controller.world();
  if (wanted.contains("plane_z_m")) {
    small.plane_z_m.reset();
    if (!wanted.at("plane_z_m").is_null()) {
      small.plane_z_m = wanted.at("plane_z_m").get<double>();
    }
  }
  small.stiffness_n_m = wanted.value("stiffness_n_m", small.stiffness_n_m);
  if (wanted.contains("wrench")) {
    small.wrench_base = wanted.at("wrench").get<Vec6>();
  }
  return {{"done", "world"}};
}

json statistics(const Lateness& l) {
  return {{"count", l.count()},
          {"p50_us", l.quantileS(0.5) * 1e6},
          {"p90_us", l.quantileS(0.9) * 1e6},
          {"p99_us", l.quantileS(0.99) * 1e6},
          {"p999_us", l.quantileS(0.999) * 1e6},
          {"max_us", l.maxS() * 1e6},
          {"over_2ms", l.overCycle()}};
}

json stats(bool restart, Process& process) {
  Lateness late, work;
  {
    const std::lock_guard lock(process.mutex);
    late = process.lateness;
    work = process.work;
    if (restart) {
      process.lateness.clear();
      process.work.clear();
    }
  }
  return {{"done", "stats"}, {"lateness", statistics(late)}, {"work", statistics(work)}};
}

json dump(const json& request, Process& process) {
  if (request.at("dump") != "setpoints") {
    throw std::invalid_argument("only setpoints can be dumped");
  }
  std::vector<Setpoint> setpoints;
  {
    const std::lock_guard lock(process.mutex);
    setpoints = process.controller.setpoints().all();
  }
  if (request.contains("path")) {
    writeSetpoints(setpoints, request.at("path").get<std::string>());
  }
  json answer = {{"done", "dump"}, {"count", setpoints.size()}};
  if (request.contains("after_s")) {
    const auto first = firstDecelerating(setpoints, request.at("after_s").get<double>());
    answer["first_decelerating_s"] = first ? json(first->arrival_s) : json();
    answer["first_decelerating_command"] = first ? json(first->command) : json();
  }
  return answer;
}

json answer(const json& request, Process& process) {
  if (request.contains("fault")) {
    return fault(request.at("fault").get<std::string>(), request, process);
  }
  if (request.value("clear", false)) {
    return clear(process);
  }
  if (request.contains("set")) {
    const double slider = request.at("set").at("speed_slider").get<double>();
    const std::lock_guard lock(process.mutex);
    process.controller.applySlider(slider);
    return {{"done", "set"}};
  }
  if (request.contains("world")) {
    return world(request.at("world"), process);
  }
  if (request.value("stats", false)) {
    return stats(request.value("restart", false), process);
  }
  if (request.contains("dump")) {
    return dump(request, process);
  }
  if (request.value("clear_setpoints", false)) {
    const std::lock_guard lock(process.mutex);
    process.controller.setpoints().clear();
    return {{"done", "clear_setpoints"}};
  }
  throw std::invalid_argument("none of fault, clear, set, world, stats, dump, clear_setpoints");
}

}  // namespace

std::string answerOperator(const std::string& line, Process& process) {
  try {
    return answer(json::parse(line), process).dump();
  } catch (const std::exception& error) {
    return json({{"error", error.what()}}).dump();
  }
}

}  // namespace s2r::ur
