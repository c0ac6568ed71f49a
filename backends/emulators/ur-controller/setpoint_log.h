// Every joint setpoint and every stop that clients sent, stamped at its arrival, for the benches of
// servo timing and stopping.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/emulators/ur-controller/state.h"

namespace s2r::ur {

struct Setpoint {
  double arrival_s = 0;  // CLOCK_MONOTONIC
  std::uint64_t cycle = 0;
  std::int32_t command = 0;
  Vec6 q_setpoint_rad{}, q_target_rad{}, q_actual_rad{};
};

class SetpointLog {
 public:
  SetpointLog() { entries_.resize(kCapacity); }
  void add(const Setpoint& setpoint) { entries_[count_++ % kCapacity] = setpoint; }
  void clear() { count_ = 0; }
  [[nodiscard]] std::vector<Setpoint> all() const;

 private:
  static constexpr std::size_t kCapacity = 120000;  // four minutes at 500 Hz
  std::vector<Setpoint> entries_;
  std::size_t count_ = 0;
};

// The first setpoint after a stamp that slows the arm down: a stop command, or the first of three
// servo setpoints whose steps shrink one after the other.
[[nodiscard]] std::optional<Setpoint> firstDecelerating(const std::vector<Setpoint>& setpoints,
                                                        double after_s);
// Throws std::runtime_error when the file cannot be written.
void writeSetpoints(const std::vector<Setpoint>& setpoints, const std::string& path);

}  // namespace s2r::ur
