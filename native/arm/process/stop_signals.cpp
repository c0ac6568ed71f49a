#include "native/arm/process/stop_signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace s2r::arm {

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < count_; ++i) {
    ::close(descriptors_[i]);
  }
}

std::string StopSignals::add(int descriptor) {
  const std::size_t count = count_.load();
  if (count == kMost) {
    return "at most " + std::to_string(kMost) + " devices are stopped with the arm";
  }
  const std::string name = "descriptor " + std::to_string(descriptor);
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0) {
    return name + " cannot be signalled: " + std::strerror(errno);
  }
  // The loop writes to it.
  if ((flags & O_NONBLOCK) == 0) {
    return name + " may block its writer: make it non-blocking";
  }
  const int own = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0) {
    return name + " cannot be kept: " + std::strerror(errno);
  }
  descriptors_[count] = own;
  count_.store(count + 1, std::memory_order_release);
  return {};
}

void StopSignals::notify() const noexcept {
  const std::uint64_t one = 1;
  const std::size_t count = count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    [[maybe_unused]] const ssize_t written = ::write(descriptors_[i], &one, sizeof one);
  }
}

}  // namespace s2r::arm
