// What the threads of the process share: the controller under one lock, and the state of the
// emulated link's faults. The lock inherits priorities: whoever holds it is not preempted by less
// than the cycle's thread.
#pragma once

#include <pthread.h>

#include <atomic>

#include "backends/emulators/ur-controller/controller.h"
#include "backends/emulators/ur-controller/lateness.h"

namespace s2r::ur {

class PriorityMutex {
 public:
  PriorityMutex() {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
  ~PriorityMutex() { pthread_mutex_destroy(&mutex_); }
  PriorityMutex(const PriorityMutex&) = delete;
  PriorityMutex& operator=(const PriorityMutex&) = delete;
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_;
};

// Faults of the link; times are CLOCK_MONOTONIC, a fault is over when its end has passed.
struct LinkFaults {
  double frozen_until_s = 0;
  double delay_s = 0, delay_until_s = 0;
  double drop_share = 0, drop_until_s = 0;
  double half_share = 0, half_until_s = 0;
  double unplugged_until_s = 0;
  bool reset_connections = false;  // taken by the server's thread
};

struct Process {
  Process(const ControllerOptions& options, std::unique_ptr<Plant> plant)
      : controller(options, std::move(plant)) {}
  PriorityMutex mutex;
  Controller controller;
  Lateness lateness, work;
  LinkFaults faults;
  std::atomic<bool> stop{false};
};

[[nodiscard]] double monotonicS();

}  // namespace s2r::ur
