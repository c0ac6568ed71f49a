// State of the controller, 500 times a second: an RTDE version 2 client that only receives.
//
// ur_rtde's own receive path hands out one variable per call, each behind a lock and a map, so that
// two of them may be of different cycles; it parses on a thread of its own that any load delays.
// The loop that owns the arm reads this socket itself: one sample is one packet, nothing is
// allocated, and the end of a connection is seen in the cycle in which it happens.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "native/arm/link/tcp_client.h"

namespace s2r::arm {

// One packet. Poses are x y z and a rotation vector, in the controller's base frame.
struct RtdeSample {
  double timestamp_s = 0;  // the controller's clock
  std::array<double, 6> q_rad{};
  std::array<double, 6> qd_rad_s{};
  std::array<double, 6> target_q_rad{};
  std::array<double, 6> X_base_tcp{};
  std::array<double, 6> tcp_force_base{};  // N and Nm, as the controller estimates it
  double speed_scaling = 0;                // the controller's own trajectory limiter, 0 to 1
  double target_speed_fraction = 0;        // the pendant's speed slider, 0 to 1
  std::int32_t robot_mode = -1;            // 7: running
  std::int32_t safety_mode = -1;           // 1: normal
  std::uint32_t runtime_state = 0;         // 1: stopped, 2: playing
  std::uint32_t robot_status_bits = 0;
  std::uint32_t safety_status_bits = 0;
  // First integer register of the control program: 1 ready for a command, 2 done with one.
  std::int32_t script_state = 0;
  // Optional ones: NaN where the controller's version does not serve them.
  double payload_kg = 0;
  std::array<double, 3> payload_cog_m{};
  std::array<double, 6> X_flange_tcp{};
  std::array<double, 3> tool_acceleration_m_s2{};
};

struct RtdeVersion {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t bugfix = 0;
  std::uint32_t build = 0;
};

class RtdeStream {
 public:
  // Connects, speaks version 2, subscribes at `rate_hz` and starts. `upper_registers` says in which
  // half the control program reports its state. Every wait ends by `timeout_s`; codes
  // arm_unreachable, arm_silent, arm_link_lost, arm_protocol.
  static RtdeStream connect(const std::string& host,
                            int port,
                            double rate_hz,
                            double timeout_s,
                            bool upper_registers = true);

  enum class End { kNothing, kSample, kClosed, kReset, kGarbage };
  // Takes everything that has arrived and leaves the newest packet in `newest`; `skipped` rises by
  // the older ones. kGarbage: the stream is out of step, or holds what no controller says; `newest`
  // is then as it was. Never waits, never throws, allocates nothing.
  End receiveNow(RtdeSample& newest, std::uint64_t& skipped) noexcept;

  // As receiveNow, but waits for one packet: for use before the loop runs.
  RtdeSample receive(double timeout_s);

  [[nodiscard]] const RtdeVersion& version() const { return version_; }
  [[nodiscard]] bool serves(const std::string& variable) const;

 private:
  struct Field {
    std::string name;
    std::size_t size = 0;
  };
  struct Message {
    std::uint8_t type = 0;
    std::vector<std::uint8_t> body;
  };

  static RtdeStream connectWith(const std::string& host,
                                int port,
                                double rate_hz,
                                double timeout_s,
                                bool upper_registers,
                                const std::vector<std::string>& without,
                                std::vector<std::string>& missing);
  void send(std::uint8_t type, const std::vector<std::uint8_t>& body, Deadline deadline);
  // The next message of this type; text messages and data in between are passed over.
  std::vector<std::uint8_t> receiveType(std::uint8_t type, Deadline deadline);
  void decode(const std::uint8_t* body, RtdeSample& sample) const noexcept;

  TcpClient client_;
  RtdeVersion version_;
  std::vector<std::string> names_;
  std::vector<std::uint8_t> order_;  // index in the table of variables of each subscribed one
  std::size_t packet_size_ = 0;
  std::uint8_t recipe_ = 0;
  std::optional<double> newest_time_s_;  // of the controller's clock
  std::array<std::uint8_t, 65536> buffer_{};
  std::size_t filled_ = 0;
};

}  // namespace s2r::arm
