// Notices the end of the process that this one works for.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <thread>

namespace s2r::arm {

// A thread that waits on a pidfd of the parent: it needs no help of an event loop. `gone` is called
// once, on that thread, also where the process no longer exists when the watch begins.
class ParentWatch {
 public:
  ParentWatch(pid_t parent, std::function<void()> gone);
  ~ParentWatch();
  ParentWatch(const ParentWatch&) = delete;
  ParentWatch& operator=(const ParentWatch&) = delete;

 private:
  void run(int pid_fd);
  std::function<void()> gone_;
  int quit_fd_ = -1;
  std::thread thread_;
};

}  // namespace s2r::arm
