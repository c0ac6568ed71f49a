#include "backends/emulators/ur-controller/setpoint_log.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace s2r::ur {

namespace {

double stepOf(const Setpoint& from, const Setpoint& to) {
  double step = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    step = std::max(step, std::abs(to.q_setpoint_rad[i] - from.q_setpoint_rad[i]));
  }
  return step;
}

bool isServo(const Setpoint& s) {
  return s.command == 11;
}

bool isStop(const Setpoint& s) {
  return s.command == 15 || s.command == 16 || s.command == 33 || s.command == 34 ||
         s.command == 255;
}

}  // namespace

std::vector<Setpoint> SetpointLog::all() const {
  std::vector<Setpoint> out;
  const std::size_t n = std::min(count_, kCapacity);
  out.reserve(n);
  for (std::size_t i = count_ - n; i < count_; ++i) {
    out.push_back(entries_[i % kCapacity]);
  }
  return out;
}

std::optional<Setpoint> firstDecelerating(const std::vector<Setpoint>& setpoints, double after_s) {
  constexpr double kShrink = 1 - 1e-5;
  const auto shrinks = [&](std::size_t i) {
    return i >= 2 && isServo(setpoints[i]) && isServo(setpoints[i - 1]) &&
           isServo(setpoints[i - 2]) &&
           stepOf(setpoints[i - 1], setpoints[i]) <
               kShrink * stepOf(setpoints[i - 2], setpoints[i - 1]);
  };
  for (std::size_t i = 0; i < setpoints.size(); ++i) {
    if (setpoints[i].arrival_s < after_s) {
      continue;
    }
    if (isStop(setpoints[i])) {
      return setpoints[i];
    }
    if (shrinks(i) && i + 2 < setpoints.size() && shrinks(i + 1) && shrinks(i + 2)) {
      return setpoints[i];
    }
  }
  return std::nullopt;
}

void writeSetpoints(const std::vector<Setpoint>& setpoints, const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (!file) {
    throw std::runtime_error("cannot write " + path);
  }
  std::fputs("arrival_s,cycle,command", file);
  for (const char* name : {"q_setpoint", "q_target", "q_actual"}) {
    for (int i = 0; i < 6; ++i) {
      std::fprintf(file, ",%s_%d_rad", name, i);
    }
  }
  std::fputc('\n', file);
  for (const Setpoint& s : setpoints) {
    std::fprintf(file, "%.9f,%llu,%d", s.arrival_s, static_cast<unsigned long long>(s.cycle),
                 s.command);
    for (const Vec6* v : {&s.q_setpoint_rad, &s.q_target_rad, &s.q_actual_rad}) {
      for (const double x : *v) {
        std::fprintf(file, ",%.12g", x);
      }
    }
    std::fputc('\n', file);
  }
  if (std::fclose(file) != 0) {
    throw std::runtime_error("cannot write " + path);
  }
}

}  // namespace s2r::ur
