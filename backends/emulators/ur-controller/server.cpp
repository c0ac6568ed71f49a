#include "backends/emulators/ur-controller/server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "backends/emulators/ur-controller/state_messages.h"

namespace s2r::ur {

namespace {

constexpr double kStuckLimitS = 5;         // a client that does not read is cut off
constexpr std::uint64_t kSlowCycles = 50;  // 10 Hz of the primary and secondary interfaces

bool streams(Port port) {
  return port == Port::kPrimary || port == Port::kSecondary;
}

bool takesScripts(Port port) {
  return port == Port::kScript || streams(port);
}

}  // namespace

Server::Server(const ServerOptions& options, Process& process) : process_(process) {
  epoll_fd_ = ::epoll_create1(EPOLL_CLOEXEC);
  event_fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event{EPOLLIN, {.fd = event_fd_}};
  ::epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, event_fd_, &event);
  listen(options.host, options.dashboard_port, Port::kDashboard);
  listen(options.host, options.rtde_port, Port::kRtde);
  listen(options.host, options.script_port, Port::kScript);
  listen(options.host, options.secondary_port, Port::kSecondary);
  listen(options.host, options.primary_port, Port::kPrimary);
}

Server::~Server() {
  connections_.clear();
  for (const Listener& listener : listeners_) {
    ::close(listener.fd);
  }
  ::close(event_fd_);
  ::close(epoll_fd_);
}

void Server::listen(const std::string& host, int number, Port port) {
  const auto fail = [&](const std::string& why) {
    throw std::runtime_error("cannot listen on " + host + ":" + std::to_string(number) + ": " +
                             why);
  };
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(number));
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) {
    fail("not an IPv4 address");
  }
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(fd, 16) != 0) {
    const std::string why = std::strerror(errno);
    ::close(fd);
    fail(why);
  }
  socklen_t size = sizeof(address);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  epoll_event event{EPOLLIN, {.fd = fd}};
  ::epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event);
  listeners_.push_back({fd, port, ntohs(address.sin_port)});
}

int Server::port(Port port) const {
  for (const Listener& listener : listeners_) {
    if (listener.port == port) {
      return listener.number;
    }
  }
  return 0;
}

void Server::run() {
  std::array<epoll_event, 32> events{};
  while (!process_.stop.load(std::memory_order_relaxed)) {
    const double silent_until_s = std::max(faults_.frozen_until_s, faults_.unplugged_until_s);
    if (monotonicS() < silent_until_s) {
      // Nothing is read, accepted or answered; the kernel keeps what arrives.
      pollfd wait{event_fd_, POLLIN, 0};
      ::poll(&wait, 1, 20);
      std::uint64_t count = 0;
      static_cast<void>(!::read(event_fd_, &count, sizeof(count)));
      const std::lock_guard lock(process_.mutex);
      faults_ = process_.faults;
      continue;
    }
    const int n = ::epoll_wait(epoll_fd_, events.data(), static_cast<int>(events.size()), 100);
    const double now_s = monotonicS();
    {
      const std::lock_guard lock(process_.mutex);
      faults_ = process_.faults;
      process_.faults.reset_connections = false;
    }
    if (faults_.reset_connections) {
      resetAll();
      continue;
    }
    if (now_s < std::max(faults_.frozen_until_s, faults_.unplugged_until_s)) {
      continue;
    }
    bool cycle = false;
    for (int i = 0; i < n; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == event_fd_) {
        std::uint64_t count = 0;
        static_cast<void>(!::read(event_fd_, &count, sizeof(count)));
        cycle = true;
        continue;
      }
      if (const auto found = connections_.find(fd); found != connections_.end()) {
        readFrom(*found->second, now_s);
        continue;
      }
      for (const Listener& listener : listeners_) {
        if (listener.fd == fd) {
          accept(listener);
        }
      }
    }
    if (cycle) {
      onCycle(now_s);
    }
    flushAll(now_s);
    for (const int fd : std::exchange(to_drop_, {})) {
      drop(fd);
    }
  }
}

void Server::accept(const Listener& listener) {
  const int fd = ::accept4(listener.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) {
    return;
  }
  auto connection = std::make_unique<Connection>(fd, listener.port, next_id_++);
  if (listener.port == Port::kDashboard) {
    connection->out = std::string(kDashboardBanner) + "\n";
  } else if (listener.port == Port::kRtde) {
    connection->rtde =
        std::make_unique<RtdeSession>(connection->id(), table_, owners_, process_.controller);
  } else if (streams(listener.port)) {
    connection->out = versionMessage(process_.controller.options().version);
  }
  epoll_event event{EPOLLIN, {.fd = fd}};
  ::epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event);
  connections_[fd] = std::move(connection);
}

void Server::readFrom(Connection& connection, double now_s) {
  std::string bytes;
  const bool open = connection.read(bytes);
  if (!bytes.empty()) {
    const bool delayed = connection.port() == Port::kRtde &&
                         (now_s < faults_.delay_until_s || !connection.incoming.empty());
    if (delayed) {
      connection.incoming.add(std::move(bytes),
                              now_s < faults_.delay_until_s ? now_s + faults_.delay_s : now_s);
    } else {
      receive(connection, bytes, now_s);
    }
  }
  if (!open) {
    to_drop_.push_back(connection.fd());
  }
}

void Server::receive(Connection& connection, const std::string& bytes, double now_s) {
  if (connection.port() == Port::kDashboard) {
    receiveDashboard(connection, bytes);
  } else if (takesScripts(connection.port())) {
    receiveScript(connection, bytes);
  } else {
    std::string answers;
    {
      const std::lock_guard lock(process_.mutex);
      connection.rtde->receive(bytes, now_s, answers, [&] { return lost(now_s); });
    }
    if (!answers.empty()) {
      send(connection, std::move(answers), now_s);
    }
    if (connection.rtde->broken()) {
      to_drop_.push_back(connection.fd());
    }
  }
}

bool Server::lost(double now_s) {
  return now_s < faults_.drop_until_s &&
         std::uniform_real_distribution<double>(0, 1)(random_) < faults_.drop_share;
}

bool Server::cut(double now_s) {
  return now_s < faults_.half_until_s &&
         std::uniform_real_distribution<double>(0, 1)(random_) < faults_.half_share;
}

void Server::receiveDashboard(Connection& connection, const std::string& bytes) {
  for (const char c : bytes) {
    if (c != '\n') {
      connection.line.push_back(c);
      continue;
    }
    const std::string line = std::exchange(connection.line, {});
    const std::lock_guard lock(process_.mutex);
    const DashboardAnswer answer = answerDashboard(line, process_.controller, dashboard_);
    connection.out += answer.line + "\n";
    connection.close_when_flushed |= answer.close;
    if (answer.shut_down) {
      process_.stop = true;
    }
  }
}

void Server::receiveScript(Connection& connection, const std::string& bytes) {
  connection.has_uploaded = true;
  for (const std::string& text : connection.splitter.push(bytes)) {
    RecognisedScript script = recogniseScript(text);
    const std::lock_guard lock(process_.mutex);
    process_.controller.upload(std::move(script));
  }
}

void Server::onCycle(double now_s) {
  bool remote = true;
  {
    const std::lock_guard lock(process_.mutex);
    frame_ = process_.controller.frame();
    remote = process_.controller.remote();
  }
  sendTexts(now_s);
  for (auto& [fd, connection] : connections_) {
    if (connection->rtde) {
      if (!connection->incoming.empty()) {
        if (const std::string due = connection->incoming.takeDue(now_s); !due.empty()) {
          receive(*connection, due, now_s);
        }
      }
      // A client that is behind gets the newest state when it has caught up, nothing in between.
      if (connection->congested()) {
        continue;
      }
      std::string data;
      connection->rtde->cycle(frame_, data);
      if (!data.empty() && !lost(now_s)) {
        if (cut(now_s)) {
          data.resize(data.size() / 2);
        }
        send(*connection, std::move(data), now_s);
      }
    }
  }
  streamState(frame_);
  if (was_remote_ && !remote) {  // whoever sends scripts is cut off
    for (auto& [fd, connection] : connections_) {
      if (connection->has_uploaded && takesScripts(connection->port())) {
        to_drop_.push_back(fd);
      }
    }
  }
  was_remote_ = remote;
}

void Server::send(Connection& connection, std::string bytes, double now_s) {
  const bool delaying = now_s < faults_.delay_until_s;
  if (connection.rtde && (delaying || !connection.outgoing.empty())) {
    connection.outgoing.add(std::move(bytes), delaying ? now_s + faults_.delay_s : now_s);
    return;
  }
  connection.out += bytes;
}

void Server::sendTexts(double now_s) {
  std::deque<Text> texts;
  {
    const std::lock_guard lock(process_.mutex);
    texts.swap(process_.controller.robot().texts);
  }
  for (const Text& text : texts) {
    if (text.level <= TextLevel::kError) {
      // For whoever started this emulator: why a program or the arm was stopped.
      std::fprintf(stderr, "ur-controller: at %.3f s: %s%s\n", now_s, text.message.c_str(),
                   text.code != 0 ? (" (C" + std::to_string(text.code) + ")").c_str() : "");
    }
    for (auto& [fd, connection] : connections_) {
      if (connection->rtde && connection->rtde->started()) {
        std::string bytes;
        connection->rtde->text(text, bytes);
        send(*connection, std::move(bytes), now_s);
      } else if (streams(connection->port())) {
        connection->out += textMessage(text, frame_.timestamp);
      }
    }
  }
}

void Server::streamState(const StateFrame& frame) {
  std::string realtime;
  for (auto& [fd, connection] : connections_) {
    if (connection->congested()) {
      continue;
    }
    if (connection->port() == Port::kScript) {
      realtime = realtime.empty() ? realtimeState(frame) : realtime;
      connection->out += realtime;
    } else if (streams(connection->port()) &&
               (!connection->greeted || frame.cycle % kSlowCycles == 0)) {
      const std::lock_guard lock(process_.mutex);
      Robot& robot = process_.controller.robot();
      connection->out +=
          robotState(frame, robot.arm, robot.limits, !std::exchange(connection->greeted, true));
    }
  }
}

void Server::flushAll(double now_s) {
  for (auto& [fd, connection] : connections_) {
    if (!connection->outgoing.empty()) {
      connection->out += connection->outgoing.takeDue(now_s);
    }
    if (!connection->flush()) {
      to_drop_.push_back(fd);
      continue;
    }
    if (!connection->congested()) {
      connection->stuck_since_s = 0;
    } else if (connection->stuck_since_s == 0) {
      connection->stuck_since_s = now_s;
    } else if (connection->rtde && now_s - connection->stuck_since_s > kStuckLimitS) {
      to_drop_.push_back(fd);
    }
  }
}

void Server::drop(int fd) {
  const auto found = connections_.find(fd);
  if (found == connections_.end()) {
    return;
  }
  ::epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
  const std::lock_guard lock(process_.mutex);  // a session gives its variables back
  connections_.erase(found);
}

void Server::resetAll() {
  std::vector<int> fds;
  for (auto& [fd, connection] : connections_) {
    connection->resetOnClose();
    fds.push_back(fd);
  }
  for (const int fd : fds) {
    drop(fd);
  }
}

}  // namespace s2r::ur
