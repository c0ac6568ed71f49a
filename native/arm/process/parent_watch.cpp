#include "native/arm/process/parent_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "native/arm/link/error.h"

namespace s2r::arm {

ParentWatch::ParentWatch(pid_t parent, std::function<void()> gone) : gone_(std::move(gone)) {
  const int pid_fd = static_cast<int>(syscall(SYS_pidfd_open, parent, 0));
  if (pid_fd < 0 && errno != ESRCH) {
    throw ArmError("arm_parent", "the parent process " + std::to_string(parent) +
                                     " cannot be watched: " + std::strerror(errno));
  }
  quit_fd_ = eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this, pid_fd] { run(pid_fd); });
}

ParentWatch::~ParentWatch() {
  const std::uint64_t one = 1;
  (void)!write(quit_fd_, &one, sizeof(one));
  thread_.join();
  close(quit_fd_);
}

void ParentWatch::run(int pid_fd) {
  pthread_setname_np(pthread_self(), "s2r-parent");
  if (pid_fd < 0) {
    gone_();
    return;
  }
  pollfd waiting[2] = {{pid_fd, POLLIN, 0}, {quit_fd_, POLLIN, 0}};
  int ready = 0;
  do {
    ready = poll(waiting, 2, -1);
  } while (ready < 0 && errno == EINTR);
  if (waiting[1].revents == 0 && waiting[0].revents != 0) {
    gone_();
  }
  close(pid_fd);
}

}  // namespace s2r::arm
