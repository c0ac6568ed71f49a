// One open arm: the loop, its link, the stop socket, the watch on the parent, the lease and the
// flight recorder.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "native/arm/process/arm_options.h"
#include "native/arm/process/cycle_thread.h"
#include "native/arm/process/link_session.h"
#include "native/arm/process/parent_watch.h"
#include "native/arm/process/stop_listener.h"

namespace s2r::arm {

// What the arm tells by itself. Text is made here, outside the loop.
struct ArmEvent {
  enum class Kind { kMotionEnded, kProgress, kStopped, kFault, kResumed };
  Kind kind = Kind::kStopped;
  double time_s = 0;
  std::uint64_t stop_epoch = 0;
  std::string reason;   // kStopped
  std::string code;     // kFault
  std::string message;  // kFault
  MotionReport motion;
};

// A command that was not taken; nothing was done. Codes: not_start, stop_epoch, busy, fault,
// bad_argument, resume_token.
struct Refused {
  std::string code;
  std::string message;
};

struct Recovered {
  std::uint64_t token = 0;
  std::uint64_t stop_epoch = 0;
  std::uint32_t count = 0;
};

struct Trajectory {
  std::vector<double> time_s;
  std::vector<double> q_rad;  // six a point
};

class ArmProcess {
 public:
  using Events = std::function<void(const ArmEvent&)>;

  // `events` is called on a thread of this object, never on the loop.
  ArmProcess(ArmOptions options, ControlFactory factory, Events events);
  ~ArmProcess();
  ArmProcess(const ArmProcess&) = delete;
  ArmProcess& operator=(const ArmProcess&) = delete;

  // Blocks until the arm holds its position under this driver, or throws ArmError. Once.
  void open();
  [[nodiscard]] const ArmInfo& info() const { return info_; }

  // Any thread, answered within a cycle or two.
  [[nodiscard]] bool state(Snapshot& snapshot, StopState& stop) const;
  [[nodiscard]] bool stateAt(double time_s, Snapshot& before, Snapshot& after) const;
  [[nodiscard]] Refused execute(std::uint64_t group,
                                std::uint64_t stop_epoch,
                                Trajectory trajectory,
                                const Guard& guard);
  StopServed stop(const std::string& reason);
  // Throws ArmError: see CycleThread::signalStops.
  void signalStops(int descriptor);
  [[nodiscard]] Refused resume(std::uint64_t stop_epoch, std::uint64_t token);
  void setLoad(const LoadUpdate& load);
  void renewLease(std::uint32_t lease_ms);
  void holdLease(bool held);
  void endLease();
  [[nodiscard]] LatenessSummary lateness() const;
  [[nodiscard]] std::uint64_t eventsDropped() const;
  [[nodiscard]] std::string faultText(const FaultDetail& fault) const;
  // Cost of handing one setpoint to ur_rtde.
  [[nodiscard]] LatenessSummary servoCost();

  // A person asks to get out of a fault. Waits a protective stop's lock-out (telling `wait` the
  // seconds left), unlocks, brings link and program up anew, and gives the token that resume()
  // needs. Throws ArmError; arm_refused where the supervisor says no. Blocks.
  Recovered recover(const std::function<void(double)>& wait);

  // The arm slows down within its limits, holds, its program is ended, the threads are joined.
  // Blocks for a few seconds at most; never throws. False where a thread of ur_rtde had to be left
  // behind.
  bool close() noexcept;

 private:
  void dispatch();
  void handle(const Notice& notice);
  void keep();
  void keepLink();
  void pollRemoteControl();
  void saveRecordings();
  void requestExit(int code, const std::string& why);
  bool bringToRest() noexcept;
  void endWithinProcess(int code) noexcept;

  const ArmOptions options_;
  CoreConfig core_;  // as the loop has it, with the rows that it uses
  ControlFactory factory_;
  Events events_;
  ArmInfo info_;
  std::unique_ptr<CycleThread> cycle_;
  std::unique_ptr<LinkSession> link_;
  std::unique_ptr<StopListener> stop_listener_;
  std::unique_ptr<ParentWatch> parent_watch_;
  std::unique_ptr<Dashboard> dashboard_;

  // open, recover and close take turns with the keeper, which only ever tries: close() waits for
  // it.
  std::timed_mutex operation_mutex_;
  std::mutex trajectories_mutex_;
  std::map<std::uint64_t, std::shared_ptr<const Trajectory>> trajectories_;
  std::mutex load_mutex_;
  LoadUpdate load_;

  std::thread dispatcher_;
  std::thread keeper_;
  std::atomic<bool> quit_{false};
  Signal keeper_wake_;
  std::atomic<bool> link_lost_{false};
  std::atomic<bool> end_program_{false};
  std::atomic<bool> program_ended_{false};
  std::atomic<bool> unlock_{false};
  std::atomic<int> exit_code_{-1};
  std::string exit_reason_;
  unsigned recordings_ = 0;
  bool closed_ = false;
};

}  // namespace s2r::arm
