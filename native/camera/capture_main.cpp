// camera-capture: one process for one camera.
//
//   stdin   line 1: the configuration (JSON); then {"want":{"not_before_s":t}} for sources on
//   demand; end = exit stdout  one JSON object a line: {"event":"ready"|"recovery"|"fault", ...} fd
//   3    one byte for each frame published (dropped while nobody reads) fd 4    a memfd; it is
//   given its size once the first frame has told it, then the slots lie in it
//
// It dies with its parent. A step of the library that takes too long ends the process: the camera
// is lost, nothing else.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "native/camera/capture.h"

namespace {

using nlohmann::json;
using s2r::camera::CameraError;

constexpr int kNotifyFd = 3;
constexpr int kMemoryFd = 4;
constexpr int kBeatMs = 50;
constexpr double kEndLimitS = 3;
constexpr size_t kLongestLine = 1 << 20;
enum ExitCode { kOk = 0, kFaulted = 2, kHung = 3 };

// Writes whole lines to the pipe that was the standard output; what a stuck reader cannot take is
// dropped.
class EventPipe {
 public:
  EventPipe() {
    // Whatever else prints goes to the error output: this pipe carries the protocol only.
    fd_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
    dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  void send(const json& event) {
    const std::string line = event.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    const std::lock_guard<std::mutex> lock(mutex_);
    pollfd ready{fd_, POLLOUT, 0};
    if (poll(&ready, 1, 200) != 1)
      return;
    (void)!write(fd_, line.data(), line.size());
  }

 private:
  int fd_ = -1;
  std::mutex mutex_;
};

class SharedMemory {
 public:
  void* make(const s2r::camera::MemoryLayout& layout) {
    if (ftruncate(kMemoryFd, static_cast<off_t>(layout.total_bytes)) != 0) {
      throw CameraError("camera_failed", "shared memory of " + std::to_string(layout.total_bytes) +
                                             " bytes cannot be had: " + std::strerror(errno));
    }
    void* mapped =
        mmap(nullptr, layout.total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, kMemoryFd, 0);
    if (mapped == MAP_FAILED)
      throw CameraError("camera_failed",
                        std::string("shared memory cannot be mapped: ") + std::strerror(errno));
    return mapped;
  }
};

// Splits what comes from the standard input into lines.
class LineReader {
 public:
  // False at the end of the input.
  bool read(int timeout_ms) {
    pollfd ready{STDIN_FILENO, POLLIN, 0};
    if (poll(&ready, 1, timeout_ms) <= 0)
      return true;
    char buffer[4096];
    const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof(buffer));
    if (got < 0)
      return errno == EINTR || errno == EAGAIN;
    if (got == 0)
      return false;
    pending_.append(buffer, static_cast<size_t>(got));
    return pending_.size() < kLongestLine;
  }
  bool line(std::string& out) {
    const size_t end = pending_.find('\n');
    if (end == std::string::npos)
      return false;
    out = pending_.substr(0, end);
    pending_.erase(0, end + 1);
    return true;
  }

 private:
  std::string pending_;
};

void command(const std::string& line, s2r::camera::Capture& capture) {
  const json value = json::parse(line, nullptr, false);
  if (!value.is_object() || !value.contains("want") || !value["want"].is_object())
    return;
  const json& want = value["want"];
  if (want.contains("not_before_s") && want["not_before_s"].is_number())
    capture.want(want["not_before_s"].get<double>());
}

}  // namespace

int main() {
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent || parent == 1)
    return kFaulted;  // the parent died before the line above, or there is none to die with
  signal(SIGPIPE, SIG_IGN);
  signal(SIGINT, SIG_IGN);  // Ctrl-C reaches the whole group; the parent decides when this one ends
  prctl(PR_SET_NAME, "camera-capture");
  if (fcntl(kNotifyFd, F_GETFD) < 0 || fcntl(kMemoryFd, F_GETFD) < 0) {
    std::cerr << "camera-capture is started by the runtime: descriptors 3 and 4 are missing\n";
    return kFaulted;
  }
  fcntl(kNotifyFd, F_SETFL, fcntl(kNotifyFd, F_GETFL) | O_NONBLOCK);

  EventPipe events;
  LineReader input;
  std::string line;
  while (!input.line(line)) {
    if (!input.read(1000))
      return kOk;
  }
  s2r::camera::CameraConfig config;
  try {
    config = s2r::camera::parseConfig(line);
  } catch (const CameraError& error) {
    events.send({{"event", "fault"}, {"code", error.code()}, {"message", error.what()}});
    return kFaulted;
  }

  SharedMemory memory;
  std::atomic<void*> mapped{nullptr};
  std::atomic<bool> ended{false};
  s2r::camera::CaptureHooks hooks;
  hooks.memory = [&](const s2r::camera::MemoryLayout& layout) {
    void* address = memory.make(layout);
    mapped = address;
    return address;
  };
  hooks.event = [&](const json& event) {
    if (void* address = mapped)
      s2r::camera::beat(address, s2r::camera::monotonicSeconds());
    events.send(event);
  };
  hooks.frame = [] { (void)!write(kNotifyFd, "f", 1); };
  s2r::camera::Capture capture(config, hooks);
  std::thread worker([&] {
    capture.run(s2r::camera::makeSource);
    ended = true;
  });

  bool open = true;
  double end_by_s = 0;
  while (!ended) {
    if (open && !input.read(kBeatMs)) {
      open = false;
      capture.stop();
      end_by_s = s2r::camera::monotonicSeconds() + kEndLimitS;
    } else if (!open) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    while (input.line(line))
      command(line, capture);
    const double now_s = s2r::camera::monotonicSeconds();
    if (void* address = mapped)
      s2r::camera::beat(address, now_s);
    if (!open && now_s > end_by_s)
      _exit(kHung);
    if (const std::string step = capture.overdue(); !step.empty()) {
      events.send({{"event", "fault"},
                   {"code", "camera_hung"},
                   {"message", "the library hangs while " + step +
                                   ": the camera's process ends; unplug the "
                                   "camera, plug it in again, then open it anew"}});
      _exit(kHung);
    }
  }
  worker.join();
  // The library's own threads may still run: nothing of this process is torn down under them.
  _exit(capture.faulted() ? kFaulted : kOk);
}
