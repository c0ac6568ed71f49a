// The loop that ur_rtde's own examples servo an arm with: initPeriod, servoJ, waitPeriod, in one
// FIFO thread. The servo bench runs it beside the driver, under the same load.
//
//   arm-servo-peer HOST SECONDS PRIORITY LOOKAHEAD_S GAIN AMPLITUDE_RAD PERIOD_S Q0 ... Q5
//
// Prints `{"ready":true}` when the first setpoint is about to be sent, and at the end one line: how
// many cycles began so many whole microseconds after 2 ms had passed since the one before began
// (`counts_us`, the last cell holds all above), what the process used of a processor, and whether
// it ran under FIFO.
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ur_rtde/rtde_control_interface.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kPeriod_s = 0.002;
constexpr std::size_t kCells = 8192;
constexpr int kArguments = 13;

double processorTime_s() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

bool requestFifo(int priority) {
  const sched_param parameter{priority};
  return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter) == 0 &&
         mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
}

int servo(char** argv) {
  using Interface = ur_rtde::RTDEControlInterface;
  const auto number = [argv](int i) { return std::strtod(argv[i], nullptr); };
  const double seconds = number(2), lookahead_s = number(4), gain = number(5);
  const double amplitude_rad = number(6), swing_s = number(7);
  std::vector<double> q_rad(6);
  for (int i = 0; i < 6; ++i) {
    q_rad[static_cast<std::size_t>(i)] = number(8 + i);
  }
  const double start_rad = q_rad[0];
  const std::uint16_t flags = Interface::FLAG_UPLOAD_SCRIPT | Interface::FLAG_NO_EXT_FT |
                              Interface::FLAG_UPPER_RANGE_REGISTERS;
  Interface control(argv[1], 500.0, flags);
  const bool fifo = requestFifo(std::atoi(argv[3]));
  std::array<std::uint32_t, kCells> counts{};
  std::puts("{\"ready\":true}");
  std::fflush(stdout);

  const double used_before_s = processorTime_s();
  const auto cycles = static_cast<std::uint64_t>(seconds / kPeriod_s);
  std::uint64_t refused = 0;
  const Clock::time_point begun = Clock::now();
  Clock::time_point before{};
  for (std::uint64_t cycle = 0; cycle < cycles; ++cycle) {
    const Clock::time_point cycle_start = control.initPeriod();
    if (cycle > 0) {
      const double late_us =
          1e6 * (std::chrono::duration<double>(cycle_start - before).count() - kPeriod_s);
      ++counts[static_cast<std::size_t>(std::clamp(late_us, 0.0, kCells - 1.0))];
    }
    before = cycle_start;
    const double phase = 2 * M_PI * static_cast<double>(cycle) * kPeriod_s / swing_s;
    q_rad[0] = start_rad + 0.5 * amplitude_rad * (1 - std::cos(phase));
    refused += control.servoJ(q_rad, 0.5, 0.5, kPeriod_s, lookahead_s, gain) ? 0 : 1;
    control.waitPeriod(cycle_start);
  }
  const double lasted_s = std::chrono::duration<double>(Clock::now() - begun).count();
  const double used_s = processorTime_s() - used_before_s;
  control.servoStop();
  control.stopScript();

  std::printf(
      "{\"done\":true,\"fifo\":%s,\"cycles\":%llu,\"refused\":%llu,\"lasted_s\":%.6f,\"processor_"
      "s\":"
      "%.6f,\"counts_us\":[",
      fifo ? "true" : "false", static_cast<unsigned long long>(cycles),
      static_cast<unsigned long long>(refused), lasted_s, used_s);
  for (std::size_t i = 0; i < kCells; ++i) {
    std::printf(i == 0 ? "%u" : ",%u", counts[i]);
  }
  std::puts("]}");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != kArguments + 1) {
    std::fputs(
        "arm-servo-peer HOST SECONDS PRIORITY LOOKAHEAD_S GAIN AMPLITUDE_RAD PERIOD_S Q0 ... Q5\n",
        stderr);
    return 2;
  }
  try {
    return servo(argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "arm-servo-peer: %s\n", error.what());
    return 1;
  }
}
