#include "backends/emulators/ur-controller/cycle_thread.h"

#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>

namespace s2r::ur {

double monotonicS() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string askRealtime(int priority) {
  sched_param parameters{};
  parameters.sched_priority = priority;
  if (const int error = ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &parameters)) {
    return std::string("SCHED_FIFO refused: ") + std::strerror(error);
  }
  if (::mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
    return std::string("memory could not be locked: ") + std::strerror(errno);
  }
  return "";
}

void runCycles(Process& process, int event_fd) {
  constexpr long kCycleNs = 2'000'000, kSecondNs = 1'000'000'000;
  timespec wake{};
  ::clock_gettime(CLOCK_MONOTONIC, &wake);
  while (!process.stop.load(std::memory_order_relaxed)) {
    wake.tv_nsec += kCycleNs;
    if (wake.tv_nsec >= kSecondNs) {
      wake.tv_nsec -= kSecondNs;
      ++wake.tv_sec;
    }
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr) == EINTR) {
    }
    const double planned_s =
        static_cast<double>(wake.tv_sec) + 1e-9 * static_cast<double>(wake.tv_nsec);
    const double now_s = monotonicS();
    {
      const std::lock_guard lock(process.mutex);
      process.lateness.add(now_s - planned_s);
      Controller& controller = process.controller;
      controller.setFrozen(now_s < process.faults.frozen_until_s);
      controller.cycle(now_s);
      process.work.add(monotonicS() - now_s);
    }
    const std::uint64_t one = 1;
    if (::write(event_fd, &one, sizeof(one)) < 0 && errno != EAGAIN) {
      return;
    }
    // After a long stall the missed cycles are not made up for in a burst.
    if (now_s - planned_s > 0.05) {
      ::clock_gettime(CLOCK_MONOTONIC, &wake);
    }
  }
}

}  // namespace s2r::ur
