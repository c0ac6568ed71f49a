// One TCP connection whose every wait has a deadline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "native/arm/link/clock.h"
#include "native/arm/link/error.h"

namespace s2r::arm {

// Where and what a peer is, for messages: "the dashboard at 10.0.0.2:29999".
struct Endpoint {
  std::string host;
  int port = 0;
  std::string name;
  [[nodiscard]] std::string text() const {
    return name + " at " + host + ":" + std::to_string(port);
  }
};

// Errors (ArmError): arm_unreachable where nothing listens or no route answers, arm_silent where a
// wait passes its deadline, arm_link_lost where the peer closed or reset the connection.
class TcpClient {
 public:
  TcpClient() = default;
  ~TcpClient();
  TcpClient(TcpClient&& other) noexcept;
  TcpClient& operator=(TcpClient&& other) noexcept;
  TcpClient(const TcpClient&) = delete;
  TcpClient& operator=(const TcpClient&) = delete;

  static TcpClient connect(Endpoint endpoint, Deadline deadline);

  void writeAll(std::span<const std::uint8_t> bytes, Deadline deadline);
  void writeAll(std::string_view text, Deadline deadline);
  void readExact(std::span<std::uint8_t> bytes, Deadline deadline);
  // Up to and without '\n' (and a '\r' before it); at most `limit` characters, else arm_protocol.
  std::string readLine(Deadline deadline, std::size_t limit = 4096);

  enum class ReadEnd { kData, kNothing, kClosed, kReset };
  // Never waits and never throws: what the socket holds, for a real-time loop.
  ReadEnd readNow(std::span<std::uint8_t> bytes, std::size_t& size) noexcept;

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool open() const { return fd_ >= 0; }
  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }
  void close() noexcept;

 private:
  void await(short events, Deadline deadline, const char* doing) const;
  [[noreturn]] void lost(const char* how) const;

  int fd_ = -1;
  Endpoint endpoint_;
};

}  // namespace s2r::arm
