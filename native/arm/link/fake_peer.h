// A peer for tests: one listening socket on the loopback, whose behaviour is a function of each
// connection.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace s2r::arm {

class FakePeer {
 public:
  // `serve` has the connection until it returns; then it is closed.
  explicit FakePeer(std::function<void(FakePeer&, int)> serve) : serve_(std::move(serve)) {
    listen_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(listen_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    ::listen(listen_, 8);
    socklen_t size = sizeof(address);
    ::getsockname(listen_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~FakePeer() {
    quit_ = true;
    thread_.join();
    ::close(listen_);
  }

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] bool quitting() const { return quit_; }

  static void send(int connection, const std::string& bytes) {
    (void)!::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  // Whatever comes within `ms`; empty where nothing did.
  static std::string receive(int connection, int ms) {
    pollfd waiting{connection, POLLIN, 0};
    if (::poll(&waiting, 1, ms) <= 0) {
      return {};
    }
    char bytes[4096];
    const ssize_t got = ::recv(connection, bytes, sizeof(bytes), 0);
    return got > 0 ? std::string(bytes, static_cast<std::size_t>(got)) : std::string();
  }
  // The next close() of this connection is a reset.
  static void resetOnClose(int connection) {
    const linger now{1, 0};
    ::setsockopt(connection, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  }
  // Says nothing until the test ends.
  void hang() const {
    while (!quit_) {
      ::usleep(2000);
    }
  }

 private:
  void run() {
    while (!quit_) {
      pollfd waiting{listen_, POLLIN, 0};
      if (::poll(&waiting, 1, 5) <= 0) {
        continue;
      }
      const int connection = ::accept4(listen_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection >= 0) {
        const int on = 1;  // else a packet waits for the acknowledgement of the one before
        ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        serve_(*this, connection);
        ::close(connection);
      }
    }
  }

  std::function<void(FakePeer&, int)> serve_;
  int listen_ = -1;
  int port_ = 0;
  std::atomic<bool> quit_{false};
  std::thread thread_;
};

}  // namespace s2r::arm
