// The thread that owns the arm: wakes every 2 ms at absolute times, reads the state stream, runs
// one step of the supervisor and hands the setpoint on. Everything that other threads want of it
// goes through words that it polls.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "native/arm/core/config.h"
#include "native/arm/core/flight_recorder.h"
#include "native/arm/core/supervisor.h"
#include "native/arm/link/control_thread.h"
#include "native/arm/link/futex.h"
#include "native/arm/link/rtde_stream.h"
#include "native/arm/link/seqlock.h"
#include "native/arm/process/realtime.h"
#include "native/arm/process/records.h"
#include "native/arm/process/request_slot.h"
#include "native/arm/process/spsc_ring.h"
#include "native/arm/process/stop_listener.h"
#include "native/arm/process/stop_signals.h"

namespace s2r::arm {

// What the loop tells the dispatcher thread.
struct Notice {
  enum class Kind : std::uint32_t { kEvent, kReleased, kUnlock, kEndProgram, kLinkLost };
  Kind kind = Kind::kEvent;
  CycleEvent event;
  std::uint64_t group = 0;  // kReleased
};

// Lateness of wake-ups in microseconds; the last cell holds all above.
using LatenessHistogram = std::array<std::uint32_t, 8192>;

struct LatenessSummary {
  std::uint64_t cycles = 0;
  double p50_s = 0, p99_s = 0, p999_s = 0, max_s = 0;
  std::vector<std::uint32_t> counts_us;  // the histogram up to its last cell that holds any
};
[[nodiscard]] LatenessSummary summarize(const LatenessHistogram& histogram, double max_s);

class CycleThread {
 public:
  explicit CycleThread(const CoreConfig& config);
  ~CycleThread();
  CycleThread(const CycleThread&) = delete;
  CycleThread& operator=(const CycleThread&) = delete;

  // Starts the loop; returns once it knows what scheduling it has. `fifo_priority` 0: not asked
  // for.
  // `cpu` -1: any processor.
  RealtimeGrant start(int fifo_priority, int cpu = -1);
  // Ends the loop. Call it when the arm rests or the link is down: nothing decelerates afterwards.
  void finish();

  // Link side. attach() and detach() return once the loop has taken the change; afterwards it does
  // not touch what was detached. The loop itself lets go of a stream that ended.
  void attach(RtdeStream* stream, ControlThread* control);
  void detach();
  void setPhase(LinkPhase phase, LinkLoss loss = LinkLoss::kNone);
  // While the program is being made ready: kicks its watchdog in place of setpoints.
  void setKicking(bool kicking) { kicking_ = kicking; }
  void setRemoteControl(bool remote) { remote_control_ = remote; }
  void raiseFault(FaultCode code, const std::string& text);
  // False once the loop has let go of a stream that ended.
  [[nodiscard]] bool streaming() const { return stream_.load() != nullptr; }
  // Newest packet; false where none came yet.
  [[nodiscard]] bool newestSample(RtdeSample& sample) const;

  // Commands. An answer comes within a cycle; nullopt where the loop did not answer in time.
  [[nodiscard]] std::optional<StartAnswer> start(const StartRequest& request);
  [[nodiscard]] std::optional<ResumeAnswer> resume(const ResumeRequest& request);
  [[nodiscard]] std::optional<RecoverAnswer> recover(const RecoverRequest& request);
  void setLoad(const LoadUpdate& load);
  // Latches a stop and waits for the cycle that began to decelerate.
  StopServed stop(const std::string& reason);
  // `descriptor` (an eventfd) is written to in the cycle of each stop, whatever its cause. Gives
  // what is wrong with it; empty: nothing.
  [[nodiscard]] std::string signalStops(int descriptor);
  void setParentGone() { parent_gone_ = true; }
  void setShutdown() { shutdown_ = true; }

  // Lease: lapses when nothing renews it for its time, unless it is held.
  void renewLease(std::uint32_t lease_ms);
  void holdLease(bool held);
  void endLease();

  // Readers.
  [[nodiscard]] bool newest(Snapshot& snapshot) const { return ring_.newest(snapshot); }
  [[nodiscard]] const SnapshotRing& ring() const { return ring_; }
  // For the thread that writes recordings to files.
  [[nodiscard]] FlightRecorder& recorder() { return recorder_; }
  [[nodiscard]] StopState stopState() const;
  void lateness(LatenessHistogram& histogram, double& max_s) const noexcept;

  // Dispatcher side: one thread takes the notices; `wake` tells that there may be some.
  bool nextNotice(Notice& notice) noexcept { return notices_.pop(notice); }
  Signal& wake() { return wake_; }
  [[nodiscard]] std::uint64_t noticesDropped() const { return notices_dropped_; }

 private:
  void run(int fifo_priority, int cpu);
  void gather(CycleInput& input) noexcept;
  void act(const CycleOutput& output, std::int64_t now_ns) noexcept;
  void publish(const CycleInput& input, const CycleOutput& output) noexcept;
  void notice(const Notice& notice) noexcept;
  void awaitCycles(std::uint64_t count);

  Supervisor supervisor_;
  std::vector<std::uint64_t> ring_memory_;
  SnapshotRing ring_;
  FlightRecorder recorder_;
  SpscRing<Notice, 512> notices_;
  Signal wake_;
  std::atomic<std::uint64_t> notices_dropped_{0};

  std::thread thread_;
  std::atomic<bool> quit_{false};
  std::atomic<std::uint64_t> cycles_{0};
  RealtimeGrant grant_;
  Signal started_;

  // Set by the link side, used by the loop.
  std::atomic<RtdeStream*> stream_{nullptr};
  std::atomic<ControlThread*> control_{nullptr};
  std::atomic<LinkPhase> phase_{LinkPhase::kDown};
  std::atomic<LinkLoss> loss_{LinkLoss::kNone};
  std::atomic<bool> kicking_{false};
  std::atomic<bool> remote_control_{true};
  std::mutex link_mutex_;  // of attach, detach and setPhase against each other

  struct Raised {
    FaultCode code = FaultCode::kNone;
    FixedText<160> text;
  };
  std::mutex raise_mutex_;
  Seqlock<Raised> raised_;
  std::uint32_t raised_seen_ = 0;

  RequestSlot<StartRequest, StartAnswer> start_slot_;
  RequestSlot<ResumeRequest, ResumeAnswer> resume_slot_;
  RequestSlot<RecoverRequest, RecoverAnswer> recover_slot_;
  std::mutex load_mutex_;
  Seqlock<LoadUpdate> load_;
  std::uint32_t load_seen_ = 0;

  std::mutex stop_mutex_;  // of those who ask for stops, never taken by the loop
  Seqlock<FixedText<96>> stop_reason_;
  std::atomic<std::uint64_t> stops_requested_{0};
  Seqlock<StopState> stop_state_;
  Signal stop_served_;
  StopSignals stop_signals_;

  std::atomic<bool> parent_gone_{false};
  std::atomic<bool> shutdown_{false};
  std::mutex lease_mutex_;
  std::atomic<std::int64_t> lease_ns_{0};
  std::atomic<std::int64_t> lease_until_ns_{0};  // 0: no lease
  std::atomic<bool> lease_held_{false};

  // Of the loop alone.
  Snapshot snapshot_;
  RtdeSample sample_;
  std::uint64_t skipped_packets_ = 0;
  bool has_sample_ = false;
  bool end_announced_ = false;
  Seqlock<RtdeSample> newest_sample_;
  StopState last_stop_state_;
  std::array<std::atomic<std::uint32_t>, std::tuple_size_v<LatenessHistogram>> lateness_us_{};
  std::atomic<std::int64_t> lateness_max_ns_{0};
};

}  // namespace s2r::arm
