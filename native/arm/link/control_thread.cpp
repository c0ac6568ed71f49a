#include "native/arm/link/control_thread.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <exception>

namespace s2r::arm {
namespace {

struct Setpoint {
  Joints q_rad{};
  std::int64_t posted_ns = 0;
  std::uint64_t number = 0;
  std::uint32_t kick_only = 0;
};

struct Job {
  std::function<void(Control&)> work;
  std::exception_ptr error;
  bool done = false;
};

}  // namespace

struct ControlThread::Shared {
  ControlFactory factory;
  int fifo_priority = 0;

  Signal wake;   // something for the thread
  Signal ended;  // a job, the start or the end of the thread
  Seqlock<Setpoint> mailbox;
  std::atomic<std::uint64_t> posted{0};
  std::atomic<std::uint64_t> taken{0};
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> replaced{0};
  std::atomic<std::int64_t> busy_since_ns{0};
  std::atomic<std::int64_t> oldest_unsent_ns{0};
  std::array<std::atomic<std::uint32_t>, 1024> cost_us{};

  std::mutex mutex;  // guards what follows; the real-time thread never takes it
  ServoSettings servo;
  std::deque<std::shared_ptr<Job>> jobs;
  std::exception_ptr start_error;
  bool started = false;
  bool quit = false;
  bool finished = false;

  void run(std::unique_ptr<Control> control);
  void main();
  void sendNewest(Control& control, std::uint64_t& last_number, const ServoSettings& settings);
};

void ControlThread::Shared::main() {
  pthread_setname_np(pthread_self(), "s2r-control");
  if (fifo_priority > 0) {
    const sched_param parameter{fifo_priority};
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter);
  }
  std::unique_ptr<Control> control;
  std::exception_ptr error;
  busy_since_ns = monotonicNs();
  try {
    control = factory();
  } catch (...) {
    error = std::current_exception();
  }
  busy_since_ns = 0;
  {
    const std::lock_guard lock(mutex);
    start_error = error;
    started = true;
  }
  ended.notify();
  if (control) {
    run(std::move(control));
  }
  {
    const std::lock_guard lock(mutex);
    finished = true;
  }
  ended.notify();
}

void ControlThread::Shared::run(std::unique_ptr<Control> control) {
  std::uint64_t last_number = 0;
  for (;;) {
    const std::uint32_t seen = wake.count();
    std::shared_ptr<Job> job;
    ServoSettings settings;
    {
      const std::lock_guard lock(mutex);
      if (quit) {
        break;
      }
      settings = servo;
      if (!jobs.empty()) {
        job = jobs.front();
        jobs.pop_front();
      }
    }
    if (job) {
      busy_since_ns = monotonicNs();
      std::exception_ptr error;
      try {
        job->work(*control);
      } catch (...) {
        error = std::current_exception();
      }
      busy_since_ns = 0;
      {
        const std::lock_guard lock(mutex);
        job->error = error;
        job->done = true;
      }
      ended.notify();
      continue;
    }
    sendNewest(*control, last_number, settings);
    wake.waitChange(seen, 0.1);
  }
  busy_since_ns = monotonicNs();
  try {
    control.reset();
  } catch (...) {  // a destructor of ur_rtde that throws has nothing left to say
  }
  busy_since_ns = 0;
}

void ControlThread::Shared::sendNewest(Control& control,
                                       std::uint64_t& last_number,
                                       const ServoSettings& settings) {
  Setpoint setpoint;
  if (!mailbox.load(setpoint) || setpoint.number == last_number) {
    return;
  }
  replaced += setpoint.number - last_number - 1;
  last_number = setpoint.number;
  taken = setpoint.number;
  oldest_unsent_ns = 0;
  const std::int64_t start = monotonicNs();
  busy_since_ns = start;
  bool ok = false;
  try {
    ok = setpoint.kick_only != 0 ? control.kickWatchdog() : control.servo(setpoint.q_rad, settings);
  } catch (...) {  // counted below: the loop judges by the state stream, not by words
  }
  busy_since_ns = 0;
  (ok ? sent : refused).fetch_add(1);
  const std::int64_t us = (monotonicNs() - start) / 1000;
  cost_us[static_cast<std::size_t>(std::clamp<std::int64_t>(us, 0, 1023))].fetch_add(
      1, std::memory_order_relaxed);
}

ControlThread::ControlThread(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

ControlThread::~ControlThread() {
  (void)close(3.0);
}

std::unique_ptr<ControlThread> ControlThread::open(ControlFactory factory,
                                                   double timeout_s,
                                                   int fifo_priority) {
  auto shared = std::make_shared<Shared>();
  shared->factory = std::move(factory);
  shared->fifo_priority = fifo_priority;
  std::thread([shared] { shared->main(); }).detach();
  const Deadline deadline = Deadline::in(timeout_s);
  for (;;) {
    const std::uint32_t seen = shared->ended.count();
    {
      const std::lock_guard lock(shared->mutex);
      if (shared->started) {
        if (shared->start_error) {
          std::rethrow_exception(shared->start_error);
        }
        return std::unique_ptr<ControlThread>(new ControlThread(shared));
      }
      if (deadline.passed()) {
        shared->quit = true;
        throw ArmError("arm_stuck",
                       "the controller answered its ports but not the whole start "
                       "of a control connection: it hangs or is still starting; "
                       "restart it");
      }
    }
    shared->ended.waitChange(seen, deadline.leftS());
  }
}

void ControlThread::call(const char* what, double timeout_s, std::function<void(Control&)> work) {
  auto job = std::make_shared<Job>();
  job->work = std::move(work);
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->jobs.push_back(job);
  }
  shared_->wake.notify();
  const Deadline deadline = Deadline::in(timeout_s);
  for (;;) {
    const std::uint32_t seen = shared_->ended.count();
    {
      const std::lock_guard lock(shared_->mutex);
      if (job->done) {
        if (job->error) {
          std::rethrow_exception(job->error);
        }
        return;
      }
      if (deadline.passed()) {
        std::erase(shared_->jobs, job);
        throw ArmError("arm_stuck", std::string("the controller did not finish \"") + what +
                                        "\" in time: look at its pendant, and restart it if it "
                                        "does not answer");
      }
    }
    shared_->ended.waitChange(seen, deadline.leftS());
  }
}

void ControlThread::postSetpoint(const Joints& q_rad, std::int64_t now_ns) noexcept {
  const std::uint64_t number = shared_->posted.load(std::memory_order_relaxed) + 1;
  std::int64_t none = 0;
  shared_->oldest_unsent_ns.compare_exchange_strong(none, now_ns);
  shared_->mailbox.store({q_rad, now_ns, number, 0});
  shared_->posted.store(number);
  shared_->wake.notify();
}

void ControlThread::postKick(std::int64_t now_ns) noexcept {
  const std::uint64_t number = shared_->posted.load(std::memory_order_relaxed) + 1;
  std::int64_t none = 0;
  shared_->oldest_unsent_ns.compare_exchange_strong(none, now_ns);
  shared_->mailbox.store({{}, now_ns, number, 1});
  shared_->posted.store(number);
  shared_->wake.notify();
}

ControlThread::Health ControlThread::health() const noexcept {
  return {shared_->posted,   shared_->sent,          shared_->refused,
          shared_->replaced, shared_->busy_since_ns, shared_->oldest_unsent_ns};
}

void ControlThread::setServo(const ServoSettings& settings) {
  const std::lock_guard lock(shared_->mutex);
  shared_->servo = settings;
}

void ControlThread::costHistogram(std::array<std::uint32_t, 1024>& counts) const noexcept {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i] = shared_->cost_us[i].load(std::memory_order_relaxed);
  }
}

bool ControlThread::stuckFor(double seconds) const noexcept {
  const std::int64_t since = shared_->busy_since_ns;
  return since != 0 && monotonicNs() - since > static_cast<std::int64_t>(seconds * 1e9);
}

bool ControlThread::close(double timeout_s) noexcept {
  if (closed_) {
    return true;
  }
  closed_ = true;
  const Deadline deadline = Deadline::in(timeout_s);
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->quit = true;
  }
  shared_->wake.notify();
  for (;;) {
    const std::uint32_t seen = shared_->ended.count();
    {
      const std::lock_guard lock(shared_->mutex);
      if (shared_->finished) {
        return true;
      }
    }
    if (deadline.passed()) {
      return false;
    }
    shared_->ended.waitChange(seen, deadline.leftS());
  }
}

}  // namespace s2r::arm
