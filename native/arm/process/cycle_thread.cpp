#include "native/arm/process/cycle_thread.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

namespace s2r::arm {
namespace {

constexpr std::int64_t kPeriodNs = 2'000'000;
// A setpoint that the connection has not taken for so long counts as a lost link.
constexpr std::int64_t kWriteDeadlineNs = 50'000'000;
// How long a caller waits for a cycle that should come within 2 ms.
constexpr double kAnswerTimeout_s = 0.25;
constexpr double kStopTimeout_s = 2.0;
constexpr std::uint32_t kProgramRunningBit = 1U << 1;
constexpr std::int32_t kScriptReady = 1;

RobotSample toSample(const RtdeSample& packet, bool remote_control) noexcept {
  RobotSample sample;
  sample.robot_time_s = packet.timestamp_s;
  sample.q_rad = packet.q_rad;
  sample.qd_rad_s = packet.qd_rad_s;
  sample.q_target_rad = packet.target_q_rad;
  sample.tcp_pose_base = packet.X_base_tcp;
  sample.tcp_wrench_base = packet.tcp_force_base;
  sample.speed_scaling = packet.speed_scaling;
  sample.target_speed_fraction = packet.target_speed_fraction;
  sample.runtime_state = static_cast<std::int32_t>(packet.runtime_state);
  sample.robot_mode = packet.robot_mode;
  sample.safety_bits = packet.safety_status_bits;
  sample.remote_control = remote_control;
  sample.program_running = (packet.robot_status_bits & kProgramRunningBit) != 0;
  return sample;
}

}  // namespace

LatenessSummary summarize(const LatenessHistogram& histogram, double max_s) {
  LatenessSummary summary;
  for (const std::uint32_t count : histogram) {
    summary.cycles += count;
  }
  const auto quantile = [&](double share) {
    const auto rank =
        static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(summary.cycles)));
    std::uint64_t seen = 0;
    for (std::size_t us = 0; us < histogram.size(); ++us) {
      seen += histogram[us];
      if (seen >= rank && rank > 0) {
        return us + 1 == histogram.size() ? max_s : static_cast<double>(us) * 1e-6;
      }
    }
    return 0.0;
  };
  summary.p50_s = quantile(0.5);
  summary.p99_s = quantile(0.99);
  summary.p999_s = quantile(0.999);
  summary.max_s = max_s;
  std::size_t used = histogram.size();
  while (used > 0 && histogram[used - 1] == 0) {
    --used;
  }
  summary.counts_us.assign(histogram.begin(),
                           histogram.begin() + static_cast<std::ptrdiff_t>(used));
  return summary;
}

CycleThread::CycleThread(const CoreConfig& config)
    : supervisor_(config),
      ring_memory_(SnapshotRing::bytesFor(kKeptSnapshots) / sizeof(std::uint64_t)),
      ring_(ring_memory_.data(), kKeptSnapshots) {
  last_stop_state_.stop_epoch = config.initial_stop_epoch;
  stop_state_.store(last_stop_state_);
}

CycleThread::~CycleThread() {
  finish();
}

RealtimeGrant CycleThread::start(int fifo_priority, int cpu) {
  const std::uint32_t seen = started_.count();
  thread_ = std::thread([this, fifo_priority, cpu] { run(fifo_priority, cpu); });
  started_.waitChange(seen, 60);
  return grant_;
}

void CycleThread::finish() {
  quit_ = true;
  if (thread_.joinable()) {
    thread_.join();
  }
}

void CycleThread::run(int fifo_priority, int cpu) {
  pthread_setname_np(pthread_self(), "s2r-cycle");
  prefaultStack();
  if (fifo_priority > 0) {
    grant_ = requestRealtime(fifo_priority);
  }
  if (cpu >= 0) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<std::size_t>(cpu), &only);
    if (pthread_setaffinity_np(pthread_self(), sizeof(only), &only) != 0) {
      grant_.granted = false;
      grant_.reason += (grant_.reason.empty() ? "" : "; ") + std::string("processor ") +
                       std::to_string(cpu) + " cannot be used: see realtime_cpu of the rig";
    }
  }
  started_.notify();
  CycleInput input;
  CycleOutput output;
  std::int64_t next_ns = monotonicNs() + kPeriodNs;
  while (!quit_) {
    const timespec wake = toTimespec(next_ns);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr) == EINTR) {
    }
    const std::int64_t now_ns = monotonicNs();
    const std::int64_t late_ns = now_ns - next_ns;
    lateness_us_[static_cast<std::size_t>(std::clamp<std::int64_t>(
                     late_ns / 1000, 0, static_cast<std::int64_t>(lateness_us_.size()) - 1))]
        .fetch_add(1, std::memory_order_relaxed);
    if (late_ns > lateness_max_ns_.load(std::memory_order_relaxed)) {
      lateness_max_ns_.store(late_ns, std::memory_order_relaxed);
    }
    input.now_s = static_cast<double>(now_ns) * 1e-9;
    input.scheduled_s = static_cast<double>(next_ns) * 1e-9;
    gather(input);
    (void)supervisor_.step(input, output);
    act(output, now_ns);
    publish(input, output);
    next_ns += kPeriodNs;
    const std::int64_t behind_ns = monotonicNs() - next_ns;
    if (behind_ns > 0) {
      next_ns += (behind_ns / kPeriodNs + 1) * kPeriodNs;
    }
  }
}

void CycleThread::gather(CycleInput& input) noexcept {
  RtdeStream* const stream = stream_.load(std::memory_order_acquire);
  input.loss = loss_.load();
  input.link = phase_.load();
  if (stream != nullptr) {
    const auto end = stream->receiveNow(sample_, skipped_packets_);
    if (end == RtdeStream::End::kSample) {
      has_sample_ = true;
      newest_sample_.store(sample_);
    } else if (end != RtdeStream::End::kNothing) {
      input.link = LinkPhase::kDown;
      input.loss = end == RtdeStream::End::kReset ? LinkLoss::kReset : LinkLoss::kClosed;
      loss_ = input.loss;
      phase_ = LinkPhase::kDown;
      stream_ = nullptr;
      control_ = nullptr;
      notice({.kind = Notice::Kind::kLinkLost, .event = {}, .group = 0});
    }
  }
  if (has_sample_) {
    input.sample = toSample(sample_, remote_control_.load(std::memory_order_relaxed));
  }
  ControlThread* const control = control_.load(std::memory_order_acquire);
  input.write_failed = false;
  if (control != nullptr && input.link == LinkPhase::kUp) {
    const auto health = control->health();
    const std::int64_t now_ns = monotonicNs();
    input.write_failed =
        (health.busy_since_ns != 0 && now_ns - health.busy_since_ns > kWriteDeadlineNs) ||
        (health.oldest_unsent_ns != 0 && now_ns - health.oldest_unsent_ns > kWriteDeadlineNs);
  }

  input.raised_fault = FaultCode::kNone;
  if (raised_.sequence() != raised_seen_) {
    Raised raised;
    const std::uint32_t sequence = raised_.sequence();
    if (raised_.load(raised)) {
      raised_seen_ = sequence;
      input.raised_fault = raised.code;
      input.raised_text = raised.text;
    }
  }
  const std::uint64_t stops = stops_requested_.load(std::memory_order_acquire);
  if (stops != input.stops_requested && stop_reason_.load(input.stop_reason)) {
    input.stops_requested = stops;
  }
  const std::int64_t until_ns = lease_until_ns_.load(std::memory_order_relaxed);
  input.lease_lapsed = until_ns != 0 && !lease_held_.load(std::memory_order_relaxed) &&
                       input.now_s > static_cast<double>(until_ns) * 1e-9;
  input.parent_gone = parent_gone_.load(std::memory_order_relaxed);
  input.shutdown = shutdown_.load(std::memory_order_relaxed);

  input.start = {};
  input.resume = {};
  input.recover = {};
  input.load = {};
  (void)start_slot_.take(input.start);
  (void)resume_slot_.take(input.resume);
  (void)recover_slot_.take(input.recover);
  if (load_.sequence() != load_seen_) {
    const std::uint32_t sequence = load_.sequence();
    if (load_.load(input.load)) {
      load_seen_ = sequence;
    } else {
      input.load = {};
    }
  }
}

void CycleThread::act(const CycleOutput& output, std::int64_t now_ns) noexcept {
  ControlThread* const control = control_.load(std::memory_order_acquire);
  if (control != nullptr) {
    const bool servo = output.action == Action::kServo || output.action == Action::kStopRamp;
    if (servo && sample_.script_state == kScriptReady) {
      control->postSetpoint(output.setpoint_rad, now_ns);
    } else if (!servo && kicking_.load(std::memory_order_relaxed)) {
      control->postKick(now_ns);
    }
  }
  if (output.start.present) {
    start_slot_.answer(output.start);
  }
  if (output.resume.present) {
    resume_slot_.answer(output.resume);
  }
  if (output.recover.present) {
    recover_slot_.answer(output.recover);
  }
  if (output.unlock_protective_stop) {
    notice({.kind = Notice::Kind::kUnlock, .event = {}, .group = 0});
  }
  if (output.released_group != 0) {
    notice({.kind = Notice::Kind::kReleased, .event = {}, .group = output.released_group});
  }
  for (int i = 0; i < output.event_count; ++i) {
    notice({.kind = Notice::Kind::kEvent,
            .event = output.events[static_cast<std::size_t>(i)],
            .group = 0});
    if (output.events[static_cast<std::size_t>(i)].kind == EventKind::kStopped) {
      last_stop_state_.time_s = output.events[static_cast<std::size_t>(i)].time_s;
    }
  }
  const bool end = output.action == Action::kEndProgram;
  if (end && !end_announced_) {
    notice({.kind = Notice::Kind::kEndProgram, .event = {}, .group = 0});
  }
  end_announced_ = end;
}

void CycleThread::notice(const Notice& notice) noexcept {
  if (!notices_.push(notice)) {
    notices_dropped_.fetch_add(1, std::memory_order_relaxed);
  }
  wake_.notify();
}

void CycleThread::publish(const CycleInput& input, const CycleOutput& output) noexcept {
  fillSnapshot(input, output, snapshot_);
  ring_.write(snapshot_);
  recorder_.record(snapshot_);

  const bool served = output.stops_served != last_stop_state_.served;
  const bool stopped = output.stop_epoch != last_stop_state_.stop_epoch;
  if (served || stopped || output.stop_latched != last_stop_state_.latched) {
    last_stop_state_.served = output.stops_served;
    last_stop_state_.stop_epoch = output.stop_epoch;
    last_stop_state_.latched = output.stop_latched;
    last_stop_state_.source = output.stop_source;
    last_stop_state_.reason = output.stop_reason;
    stop_state_.store(last_stop_state_);
    // Last: whoever is told of a stop finds its epoch in every place where it may look.
    if (stopped) {
      stop_signals_.notify();
    }
    stop_served_.notify();
  }
  cycles_.fetch_add(1, std::memory_order_release);
}

void CycleThread::awaitCycles(std::uint64_t count) {
  const std::uint64_t from = cycles_.load(std::memory_order_acquire);
  const Deadline deadline = Deadline::in(2.0);
  while (thread_.joinable() && !quit_ && cycles_.load(std::memory_order_acquire) - from < count &&
         !deadline.passed()) {
    const timespec pause = toTimespec(500'000);
    nanosleep(&pause, nullptr);
  }
}

void CycleThread::attach(RtdeStream* stream, ControlThread* control) {
  const std::lock_guard lock(link_mutex_);
  control_ = control;
  stream_ = stream;
  awaitCycles(2);
}

void CycleThread::detach() {
  const std::lock_guard lock(link_mutex_);
  stream_ = nullptr;
  control_ = nullptr;
  awaitCycles(2);
}

void CycleThread::setPhase(LinkPhase phase, LinkLoss loss) {
  const std::lock_guard lock(link_mutex_);
  loss_ = loss;
  phase_ = phase;
}

void CycleThread::raiseFault(FaultCode code, const std::string& text) {
  const std::lock_guard lock(raise_mutex_);
  raised_.store({code, FixedText<160>(text)});
  awaitCycles(2);  // so that the next one cannot take its place unseen
}

bool CycleThread::newestSample(RtdeSample& sample) const {
  return newest_sample_.sequence() != 0 && newest_sample_.load(sample);
}

std::optional<StartAnswer> CycleThread::start(const StartRequest& request) {
  return start_slot_.ask(request, kAnswerTimeout_s);
}

std::optional<ResumeAnswer> CycleThread::resume(const ResumeRequest& request) {
  return resume_slot_.ask(request, kAnswerTimeout_s);
}

std::optional<RecoverAnswer> CycleThread::recover(const RecoverRequest& request) {
  return recover_slot_.ask(request, kAnswerTimeout_s);
}

void CycleThread::setLoad(const LoadUpdate& load) {
  const std::lock_guard lock(load_mutex_);
  load_.store(load);
  awaitCycles(2);
}

StopServed CycleThread::stop(const std::string& reason) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(stop_mutex_);
    stop_reason_.store(FixedText<96>(reason));
    number = stops_requested_.fetch_add(1, std::memory_order_release) + 1;
  }
  const Deadline deadline = Deadline::in(kStopTimeout_s);
  for (;;) {
    const std::uint32_t seen = stop_served_.count();
    const StopState state = stopState();
    if (state.served >= number) {
      return {state.stop_epoch, state.time_s};
    }
    if (deadline.passed()) {
      // The loop is not running: it commands nothing, and the stop is the first thing that it will
      // do.
      return {state.stop_epoch + 1, monotonicS()};
    }
    stop_served_.waitChange(seen, deadline.leftS());
  }
}

std::string CycleThread::signalStops(int descriptor) {
  const std::lock_guard lock(stop_mutex_);
  return stop_signals_.add(descriptor);
}

StopState CycleThread::stopState() const {
  StopState state;
  while (!stop_state_.load(state)) {
  }
  return state;
}

void CycleThread::renewLease(std::uint32_t lease_ms) {
  const std::lock_guard lock(lease_mutex_);
  lease_ns_ = static_cast<std::int64_t>(lease_ms) * 1'000'000;
  lease_until_ns_ = monotonicNs() + lease_ns_;
}

void CycleThread::holdLease(bool held) {
  const std::lock_guard lock(lease_mutex_);
  if (!held && lease_until_ns_ != 0) {
    lease_until_ns_ = monotonicNs() + lease_ns_;
  }
  lease_held_ = held;
}

void CycleThread::endLease() {
  const std::lock_guard lock(lease_mutex_);
  lease_until_ns_ = 0;
  lease_held_ = false;
}

void CycleThread::lateness(LatenessHistogram& histogram, double& max_s) const noexcept {
  for (std::size_t i = 0; i < histogram.size(); ++i) {
    histogram[i] = lateness_us_[i].load(std::memory_order_relaxed);
  }
  max_s = static_cast<double>(lateness_max_ns_.load(std::memory_order_relaxed)) * 1e-9;
}

}  // namespace s2r::arm
