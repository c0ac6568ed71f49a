#include "native/arm/link/tcp_client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace s2r::arm {
namespace {

// Numeric addresses only: a resolver has no deadline.
sockaddr_in addressOf(const Endpoint& endpoint) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(endpoint.port));
  if (inet_pton(AF_INET, endpoint.host.c_str(), &address.sin_addr) != 1) {
    throw ArmError("arm_bad_argument",
                   "arm.host is \"" + endpoint.host +
                       "\", but a numeric IPv4 address is needed: write the controller's address, "
                       "as its pendant shows it under Settings > System > Network");
  }
  return address;
}

[[noreturn]] void unreachable(const Endpoint& endpoint, const std::string& why) {
  throw ArmError("arm_unreachable",
                 "no connection to " + endpoint.text() + " (" + why +
                     "): check that the controller is on, its cable, and arm.host in the rig's "
                     "configuration");
}

}  // namespace

TcpClient::~TcpClient() {
  close();
}

TcpClient::TcpClient(TcpClient&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), endpoint_(std::move(other.endpoint_)) {}

TcpClient& TcpClient::operator=(TcpClient&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
    endpoint_ = std::move(other.endpoint_);
  }
  return *this;
}

void TcpClient::close() noexcept {
  if (fd_ >= 0) {
    ::close(fd_);
    fd_ = -1;
  }
}

TcpClient TcpClient::connect(Endpoint endpoint, Deadline deadline) {
  const sockaddr_in address = addressOf(endpoint);
  TcpClient client;
  client.endpoint_ = std::move(endpoint);
  client.fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (client.fd_ < 0) {
    unreachable(client.endpoint_, std::strerror(errno));
  }
  const int on = 1;
  ::setsockopt(client.fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  ::setsockopt(client.fd_, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
  if (::connect(client.fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    if (errno != EINPROGRESS) {
      unreachable(client.endpoint_, std::strerror(errno));
    }
    pollfd waiting{client.fd_, POLLOUT, 0};
    int ready = 0;
    do {
      ready = ::poll(&waiting, 1, deadline.leftMs());
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) {
      unreachable(client.endpoint_, "no answer in time");
    }
    int error = 0;
    socklen_t size = sizeof(error);
    ::getsockopt(client.fd_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      unreachable(client.endpoint_, std::strerror(error));
    }
  }
  return client;
}

void TcpClient::lost(const char* how) const {
  throw ArmError("arm_link_lost",
                 endpoint_.text() + " " + how +
                     ": look at the controller's log and the cable, then connect again");
}

void TcpClient::await(short events, Deadline deadline, const char* doing) const {
  if (fd_ < 0) {
    lost("is not connected");
  }
  pollfd waiting{fd_, events, 0};
  for (;;) {
    const int ready = ::poll(&waiting, 1, deadline.leftMs());
    if (ready > 0) {
      return;
    }
    if (ready < 0 && errno == EINTR) {
      continue;
    }
    throw ArmError("arm_silent", endpoint_.text() + " accepted the connection but " + doing +
                                     " in time: the controller hangs or is still starting; wait "
                                     "for its start screen or restart it");
  }
}

void TcpClient::writeAll(std::span<const std::uint8_t> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      await(POLLOUT, deadline, "takes no data");
    } else if (!(sent < 0 && errno == EINTR)) {
      lost(errno == ECONNRESET ? "reset the connection" : "closed the connection");
    }
  }
}

void TcpClient::writeAll(std::string_view text, Deadline deadline) {
  writeAll(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), deadline);
}

TcpClient::ReadEnd TcpClient::readNow(std::span<std::uint8_t> bytes, std::size_t& size) noexcept {
  size = 0;
  for (;;) {
    const ssize_t got = ::recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) {
      size = static_cast<std::size_t>(got);
      return ReadEnd::kData;
    }
    if (got == 0) {
      return bytes.empty() ? ReadEnd::kNothing : ReadEnd::kClosed;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return ReadEnd::kNothing;
    }
    if (errno != EINTR) {
      return ReadEnd::kReset;
    }
  }
}

void TcpClient::readExact(std::span<std::uint8_t> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    await(POLLIN, deadline, "does not answer");
    std::size_t size = 0;
    switch (readNow(bytes, size)) {
      case ReadEnd::kData:
        bytes = bytes.subspan(size);
        break;
      case ReadEnd::kNothing:
        break;
      case ReadEnd::kClosed:
        lost("closed the connection");
      case ReadEnd::kReset:
        lost("reset the connection");
    }
  }
}

std::string TcpClient::readLine(Deadline deadline, std::size_t limit) {
  std::string line;
  for (;;) {
    std::uint8_t byte = 0;
    readExact(std::span(&byte, 1), deadline);
    if (byte == '\n') {
      if (!line.empty() && line.back() == '\r') {
        line.pop_back();
      }
      return line;
    }
    if (line.size() == limit) {
      throw ArmError("arm_protocol", endpoint_.text() + " sent a line of more than " +
                                         std::to_string(limit) +
                                         " characters: is it a Universal Robots controller?");
    }
    line.push_back(static_cast<char>(byte));
  }
}

}  // namespace s2r::arm
