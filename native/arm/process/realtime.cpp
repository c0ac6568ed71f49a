#include "native/arm/process/realtime.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
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

// Locks what the calling thread works with: its stack, the code and data of our libraries, and the
// heap. Never the whole process: V8 hands pages back with madvise, which the kernel refuses on
// locked memory, and V8 aborts the process then.
std::string lockWorkingMemory() {
  pthread_attr_t attributes;
  void* stack = nullptr;
  std::size_t stack_size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &stack, &stack_size);
    pthread_attr_destroy(&attributes);
  }
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) {
    return "memory is not locked: /proc/self/maps cannot be read";
  }
  constexpr std::array kOurs = {"/arm.node",   "/libc.so",   "/libm.so",   "/libstdc++.so",
                                "/libgcc_s",   "/libzmq.so", "/libboost_", "/ld-linux",
                                "/librtde.so", "[heap]"};
  std::string reason;
  char line[1024];
  while (reason.empty() && std::fgets(line, sizeof(line), maps) != nullptr) {
    unsigned long long from = 0;
    unsigned long long to = 0;
    char access[8] = {};
    if (std::sscanf(line, "%llx-%llx %7s", &from, &to, access) != 3 || access[0] != 'r') {
      continue;
    }
    const auto at = reinterpret_cast<std::uintptr_t>(stack);
    const bool is_stack = stack != nullptr && from < at + stack_size && to > at;
    const bool is_ours = std::any_of(kOurs.begin(), kOurs.end(), [&line](const char* name) {
      return std::strstr(line, name) != nullptr;
    });
    // A stack is locked as far as it is touched: all of it at once would be megabytes.
    const unsigned flags = is_stack ? MLOCK_ONFAULT : 0;
    if ((is_stack || is_ours) && mlock2(reinterpret_cast<void*>(from), to - from, flags) != 0) {
      reason = std::string("memory is not locked: ") + std::strerror(errno);
    }
  }
  std::fclose(maps);
  return reason;
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
  } else {
    memory_reason = lockWorkingMemory();
    grant.memory_locked = memory_reason.empty();
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
