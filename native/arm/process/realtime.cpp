#include "native/arm/process/realtime.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace s2r::arm {
namespace {

constexpr int kCapIpcLock = 14;

// Effective capabilities, from the kernel's own text: no library is needed for one bit.
bool hasCapability(int capability) {
  std::FILE* status = std::fopen("/proc/self/status", "re");
  if (status == nullptr) {
    return false;
  }
  char line[256];
  unsigned long long bits = 0;
  while (std::fgets(line, sizeof(line), status) != nullptr) {
    if (std::sscanf(line, "CapEff: %llx", &bits) == 1) {
      break;
    }
  }
  std::fclose(status);
  return ((bits >> capability) & 1) != 0;
}

}  // namespace

bool requestFifo(int priority) noexcept {
  const sched_param parameter{priority};
  return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter) == 0;
}

RealtimeGrant requestRealtime(int priority) {
  RealtimeGrant grant;
  if (!requestFifo(priority)) {
    rlimit limit{};
    getrlimit(RLIMIT_RTPRIO, &limit);
    grant.reason = "SCHED_FIFO priority " + std::to_string(priority) +
                   " was refused (rtprio limit " + std::to_string(limit.rlim_cur) +
                   "): add \"@realtime - rtprio 90\" to /etc/security/limits.conf, your user to "
                   "that group, and log in anew";
  }
  int policy = 0;
  sched_param parameter{};
  pthread_getschedparam(pthread_self(), &policy, &parameter);
  grant.fifo = policy == SCHED_FIFO;
  grant.policy = grant.fifo ? "fifo" : "other";
  grant.priority = parameter.sched_priority;

  rlimit memory{};
  getrlimit(RLIMIT_MEMLOCK, &memory);
  std::string memory_reason;
  if (memory.rlim_cur != RLIM_INFINITY && !hasCapability(kCapIpcLock)) {
    memory_reason = "memory is not locked: its limit is " + std::to_string(memory.rlim_cur) +
                    " bytes; add \"@realtime - memlock unlimited\" to /etc/security/limits.conf";
  } else if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0) {
    memory_reason = std::string("memory is not locked: ") + std::strerror(errno);
  } else {
    grant.memory_locked = true;
  }
  if (!memory_reason.empty()) {
    grant.reason += (grant.reason.empty() ? "" : "; ") + memory_reason;
  }
  grant.granted = grant.fifo && grant.memory_locked;
  return grant;
}

void prefaultStack() noexcept {
  volatile std::uint8_t pages[256 * 1024];
  for (std::size_t at = 0; at < sizeof(pages); at += 4096) {
    pages[at] = 0;
  }
}

}  // namespace s2r::arm
