// The thread that owns the gripper's line: reads, drains to the newest telemetry, writes, keeps
// deadlines. Never runs on the event loop, never waits for it.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "native/gripper/serial_port.h"
#include "native/gripper/supervisor.h"

namespace s2r::gripper {

struct DriverOptions {
  PortOptions port;
  Settings settings;
  bool release_on_close =
      false;  // take the motor's power when this closes; otherwise it keeps its grip
};

struct LineCounters {
  StreamCounters stream;
  uint64_t skipped_reports = 0;  // older ones of a backlog
  uint64_t opened = 0;           // times the line was opened
};

class Driver {
 public:
  // `on_event` is called from the driver's thread.
  Driver(DriverOptions options, std::function<void(const Event&)> on_event);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  [[nodiscard]] Supervisor::MoveReply move(const Move& move);
  void hold();
  // An eventfd: whatever is added to it is a stop, which this thread takes as a hold. For threads
  // that must stop the gripper without whoever called move().
  [[nodiscard]] int stopDescriptor() const { return stop_fd_; }
  // How many stops there have been, with those that the thread has not come to yet.
  [[nodiscard]] uint64_t stops();
  [[nodiscard]] std::optional<Failure> recover();
  // Stops the thread and closes the line; where release_on_close, gives the gripper up to 0.3 s to
  // switch its motor off. True where that was asked for and confirmed. Later calls give the same.
  bool close();

  [[nodiscard]] State state() const;
  [[nodiscard]] LineCounters counters() const;
  [[nodiscard]] std::string resolvedPath() const;

 private:
  void run();
  void openLine();
  void lose(Failure failure);
  void readLine();
  void writeLine();
  bool releaseMotor();
  void deliver();
  void wake() const;
  // Takes what was added to the eventfd, as a hold. With the mutex held.
  void takeStops();

  const DriverOptions options_;
  const std::function<void(const Event&)> on_event_;
  mutable std::mutex
      mutex_;  // guards supervisor_, stops_, counters_, resolved_path_; never held over a wait
  Supervisor supervisor_;
  uint64_t stops_ = 0;
  LineCounters counters_;
  std::string resolved_path_;
  // Of the thread alone.
  SerialPort port_;
  JsonStream stream_;
  Bytes unsent_;
  double blocked_since_s_ = -1.0;

  int wake_fd_ = -1;
  int stop_fd_ = -1;
  std::atomic<bool> stop_ = false;
  std::mutex close_mutex_;  // two may close at once: the program and the end of its environment
  std::atomic<bool> released_ = false;
  std::thread thread_;
};

}  // namespace s2r::gripper
