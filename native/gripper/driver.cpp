#include "native/gripper/driver.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <system_error>
#include <utility>

namespace s2r::gripper {
namespace {

constexpr int kTickMs = 10;
// A write that stays blocked for this long means that the adapter takes nothing any more.
constexpr double kWriteBlockedS = 0.1;
constexpr double kReleaseS = 0.3;
// A flooding line must not keep the deadlines from being judged.
constexpr size_t kMostBytesATurn = 64 * 1024;

double now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

Driver::Driver(DriverOptions options, std::function<void(const Event&)> on_event)
    : options_(std::move(options)),
      on_event_(std::move(on_event)),
      supervisor_(options_.settings),
      wake_fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      stop_fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (wake_fd_ < 0 || stop_fd_ < 0) {
    const int cause = errno;
    if (wake_fd_ >= 0)
      ::close(wake_fd_);
    throw std::system_error(cause, std::generic_category(), "eventfd");
  }
  thread_ = std::thread([this] { run(); });
  ::pthread_setname_np(thread_.native_handle(), "s2r-gripper");
}

Driver::~Driver() {
  close();
  ::close(wake_fd_);
  ::close(stop_fd_);
}

void Driver::wake() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_fd_, &one, sizeof one);
}

Supervisor::MoveReply Driver::move(const Move& move) {
  const std::lock_guard lock(mutex_);
  if (stop_)
    return {0, Failure{code::kClosed, "the gripper's driver is closed: open it again"}};
  // One that comes after this is taken by the thread, which finds the move and ends it.
  takeStops();
  if (move.stops && *move.stops != stops_)
    return {0,
            Failure{code::kStopped, "a stop came before the move began: resume, then plan again"}};
  auto reply = supervisor_.move(now(), move);
  wake();
  return reply;
}

void Driver::hold() {
  const std::lock_guard lock(mutex_);
  supervisor_.hold(now());
  wake();
}

uint64_t Driver::stops() {
  const std::lock_guard lock(mutex_);
  takeStops();
  return stops_;
}

void Driver::takeStops() {
  uint64_t more = 0;
  if (::read(stop_fd_, &more, sizeof more) <= 0)
    return;
  stops_ += more;
  supervisor_.hold(now());
  wake();
}

std::optional<Failure> Driver::recover() {
  const std::lock_guard lock(mutex_);
  if (stop_)
    return Failure{code::kClosed, "the gripper's driver is closed: open it again"};
  auto refusal = supervisor_.recover(now());
  wake();
  return refusal;
}

bool Driver::close() {
  stop_ = true;
  wake();
  const std::lock_guard lock(close_mutex_);
  if (thread_.joinable())
    thread_.join();
  return released_;
}

State Driver::state() const {
  const std::lock_guard lock(mutex_);
  return supervisor_.state();
}

LineCounters Driver::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

std::string Driver::resolvedPath() const {
  const std::lock_guard lock(mutex_);
  return resolved_path_;
}

void Driver::openLine() {
  port_.close();
  unsent_.clear();
  blocked_since_s_ = -1.0;
  stream_.reset();
  auto failure = port_.open(options_.port);
  const std::lock_guard lock(mutex_);
  resolved_path_ = port_.resolvedPath();
  if (failure) {
    supervisor_.onLinkLost(now(), std::move(*failure));
  } else {
    ++counters_.opened;
    supervisor_.onOpened(now());
  }
}

void Driver::lose(Failure failure) {
  port_.close();
  unsent_.clear();
  const std::lock_guard lock(mutex_);
  supervisor_.onLinkLost(now(), std::move(failure));
}

void Driver::readLine() {
  uint8_t buffer[4096];
  std::vector<Report> reports;
  size_t total = 0;
  while (total < kMostBytesATurn) {
    const auto result = port_.read(buffer, sizeof buffer);
    if (result.state == SerialPort::IoState::kWouldBlock)
      break;
    if (result.state == SerialPort::IoState::kLost) {
      return lose(
          {code::kUnplugged, options_.port.path + " is gone (" +
                                 std::generic_category().message(result.error) +
                                 "): plug the gripper in again; the next move opens it anew"});
    }
    total += result.count;
    stream_.feed(buffer, result.count, reports);
  }
  // Only the newest of a backlog counts; a version or a foreign device is never skipped.
  Report newest;
  size_t told = 0;
  for (Report& report : reports) {
    if (report.version)
      newest.version = std::move(report.version);
    newest.other_device = newest.other_device || report.other_device;
    if (!report.motor && !report.status)
      continue;
    ++told;
    if (report.motor)
      newest.motor = report.motor;
    if (report.status)
      newest.status = report.status;
  }
  const std::lock_guard lock(mutex_);
  counters_.stream = stream_.counters();
  if (told > 1)
    counters_.skipped_reports += told - 1;
  if (total > 0)
    supervisor_.onBytesWithoutReport();
  if (!reports.empty())
    supervisor_.onReport(now(), newest);
}

void Driver::writeLine() {
  {
    const std::lock_guard lock(mutex_);
    const Bytes more = supervisor_.takeWrites();
    unsent_.insert(unsent_.end(), more.begin(), more.end());
  }
  while (port_.isOpen() && !unsent_.empty()) {
    const auto result = port_.write(unsent_.data(), unsent_.size());
    if (result.state == SerialPort::IoState::kLost) {
      return lose(
          {code::kUnplugged, options_.port.path + " cannot be written (" +
                                 std::generic_category().message(result.error) +
                                 "): plug the gripper in again; the next move opens it anew"});
    }
    if (result.count > 0) {
      unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<ptrdiff_t>(result.count));
      blocked_since_s_ = -1.0;
      continue;
    }
    if (blocked_since_s_ < 0.0)
      blocked_since_s_ = now();
    if (now() - blocked_since_s_ > kWriteBlockedS) {
      lose({code::kWriteBlocked, options_.port.path +
                                     " takes no bytes: replug the gripper's cable; "
                                     "the next move opens it anew"});
    }
    return;
  }
}

void Driver::deliver() {
  std::vector<Event> events;
  {
    const std::lock_guard lock(mutex_);
    events = supervisor_.takeEvents();
  }
  for (const Event& event : events)
    on_event_(event);
}

void Driver::run() {
  openLine();
  deliver();
  while (!stop_) {
    pollfd polled[3] = {{wake_fd_, POLLIN, 0}, {stop_fd_, POLLIN, 0}, {port_.fd(), POLLIN, 0}};
    if (!unsent_.empty())
      polled[2].events |= POLLOUT;
    // Without a line only a request can wake this.
    const nfds_t count = port_.isOpen() ? 3 : 2;
    ::poll(polled, count, port_.isOpen() ? kTickMs : 1000);
    uint64_t wakes = 0;
    [[maybe_unused]] const ssize_t got = ::read(wake_fd_, &wakes, sizeof wakes);
    if (port_.isOpen()) {
      if ((polled[2].revents & POLLIN) != 0)
        readLine();
      if (port_.isOpen() && (polled[2].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) {
        lose({code::kUnplugged,
              options_.port.path +
                  " hung up: plug the gripper in again; the next move opens it anew"});
      }
    }
    // After the line was read: what is held is the newest opening.
    bool reopen = false;
    {
      const std::lock_guard lock(mutex_);
      takeStops();
      if (port_.isOpen())
        supervisor_.tick(now());
      reopen = supervisor_.takeReopen();
    }
    if (reopen)
      openLine();
    if (port_.isOpen())
      writeLine();
    deliver();
  }
  released_ = options_.release_on_close && releaseMotor();
  port_.close();
  deliver();
}

bool Driver::releaseMotor() {
  if (!port_.isOpen())
    return false;
  const double end_s = now() + kReleaseS;
  double sent_s = -1.0;
  while (now() < end_s && port_.isOpen()) {
    if (now() - sent_s > kReleaseS / 3) {
      const std::lock_guard lock(mutex_);
      supervisor_.release(now());
      sent_s = now();
    }
    writeLine();
    pollfd polled = {port_.fd(), POLLIN, 0};
    ::poll(&polled, 1, kTickMs);
    if ((polled.revents & POLLIN) != 0)
      readLine();
    const std::lock_guard lock(mutex_);
    if (port_.isOpen() && supervisor_.released())
      return true;
  }
  return false;
}

}  // namespace s2r::gripper
