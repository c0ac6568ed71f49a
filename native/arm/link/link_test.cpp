#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <numbers>

#include "native/arm/link/big_endian.h"
#include "native/arm/link/dashboard.h"
#include "native/arm/link/fake_peer.h"
#include "native/arm/link/primary.h"
#include "native/arm/link/rtde_stream.h"

namespace s2r::arm {
namespace {

const std::string kHost = "127.0.0.1";

std::string codeOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const ArmError& error) {
    EXPECT_GT(std::strlen(error.what()), 20u) << "a message says what to do";
    return error.code();
  }
  return "nothing thrown";
}

int closedPort() {
  int port = 0;
  {
    FakePeer peer([](FakePeer&, int) {});
    port = peer.port();
  }
  return port;
}

std::string rtdeMessage(char type, const std::string& body) {
  const std::size_t size = body.size() + 3;
  return {std::string{static_cast<char>(size >> 8), static_cast<char>(size), type} + body};
}

std::string u32(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
          static_cast<char>(value >> 8), static_cast<char>(value)};
}

std::string f64(double value) {
  std::uint8_t bytes[8];
  writeF64(bytes, value);
  return {reinterpret_cast<char*>(bytes), 8};
}

std::string f64s(double first, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += f64(first + i);
  }
  return text;
}

// Serves just enough of RTDE version 2; `data` is called once the stream has started.
struct FakeRtde {
  std::string missing;  // answers NOT_FOUND for this one
  std::string noise;    // sent before each answer
  std::string names;    // of the newest subscription
  std::function<void(FakePeer&, int)> data = [](FakePeer& peer, int) { peer.hang(); };

  void operator()(FakePeer& peer, int connection) {
    std::string bytes;
    while (!peer.quitting()) {
      const std::string got = FakePeer::receive(connection, 100);
      bytes += got;
      if (got.empty()) {
        pollfd waiting{connection, POLLIN, 0};
        char byte = 0;
        if (::poll(&waiting, 1, 0) > 0 && ::recv(connection, &byte, 1, MSG_PEEK) == 0) {
          return;
        }
        continue;
      }
      while (bytes.size() >= 3) {
        const auto* raw = reinterpret_cast<const std::uint8_t*>(bytes.data());
        const std::size_t size = readU16(raw);
        if (bytes.size() < size) {
          break;
        }
        const std::string body = bytes.substr(3, size - 3);
        const char type = bytes[2];
        bytes.erase(0, size);
        answer(connection, type, body);
        if (type == 'S') {
          data(peer, connection);
          return;
        }
      }
    }
  }

  void answer(int connection, char type, const std::string& body) {
    FakePeer::send(connection, noise);
    if (type == 'V' || type == 'S') {
      FakePeer::send(connection, rtdeMessage(type, "\x01"));
    } else if (type == 'v') {
      FakePeer::send(connection, rtdeMessage('v', u32(5) + u32(17) + u32(0) + u32(9)));
    } else if (type == 'O') {
      names = body.substr(8);
      std::string types;
      std::size_t from = 0;
      while (from <= names.size()) {
        const std::size_t to = std::min(names.find(',', from), names.size());
        types += (types.empty() ? "" : ",") + typeOf(names.substr(from, to - from));
        from = to + 1;
      }
      FakePeer::send(connection, rtdeMessage('O', "\x07" + types));
    }
  }

  [[nodiscard]] std::string typeOf(const std::string& name) const {
    if (name == missing) {
      return "NOT_FOUND";
    }
    if (name == "robot_mode" || name == "safety_mode" || name.starts_with("output_int")) {
      return "INT32";
    }
    if (name.ends_with("bits") || name == "runtime_state") {
      return "UINT32";
    }
    if (name == "payload_cog" || name == "actual_tool_accelerometer") {
      return "VECTOR3D";
    }
    if (name == "timestamp" || name == "speed_scaling" || name == "target_speed_fraction" ||
        name == "payload") {
      return "DOUBLE";
    }
    return "VECTOR6D";
  }

  // A whole data packet with this timestamp.
  [[nodiscard]] static std::string packet(double time_s, bool with_payload = true) {
    std::string body = "\x07";
    body += f64(time_s) + f64s(1, 6) + f64s(11, 6) + f64s(21, 6) + f64s(31, 6) + f64s(41, 6);
    body += f64(0.5) + f64(0.25) + u32(7) + u32(1) + u32(2) + u32(3) + u32(4) + u32(1);
    if (with_payload) {
      body += f64(1.5);
    }
    body += f64s(0.1, 3) + f64s(51, 6) + f64s(61, 3);
    return rtdeMessage('U', body);
  }
};

TEST(TcpClient, NothingListens) {
  EXPECT_EQ(codeOf([] { (void)TcpClient::connect({kHost, closedPort(), "it"}, Deadline::in(1)); }),
            "arm_unreachable");
}

TEST(TcpClient, AnAddressThatIsNoneIsRefused) {
  EXPECT_EQ(codeOf([] { (void)TcpClient::connect({"robot", 1, "it"}, Deadline::in(1)); }),
            "arm_bad_argument");
}

TEST(Dashboard, ASilentPeerIsNotWaitedForLongerThanTheDeadline) {
  FakePeer peer([](FakePeer& self, int) { self.hang(); });
  const double start = monotonicS();
  EXPECT_EQ(codeOf([&] { (void)Dashboard::connect(kHost, peer.port(), 0.15); }), "arm_silent");
  EXPECT_GE(monotonicS() - start, 0.14);
}

TEST(Dashboard, HalfALineIsSilence) {
  FakePeer peer([](FakePeer& self, int connection) {
    FakePeer::send(connection, "Connected: Universal Ro");
    self.hang();
  });
  EXPECT_EQ(codeOf([&] { (void)Dashboard::connect(kHost, peer.port(), 0.1); }), "arm_silent");
}

TEST(Dashboard, AResetIsALostLink) {
  FakePeer peer([](FakePeer&, int connection) {
    ::usleep(30000);
    FakePeer::resetOnClose(connection);
  });
  EXPECT_EQ(codeOf([&] { (void)Dashboard::connect(kHost, peer.port(), 1); }), "arm_link_lost");
}

TEST(Dashboard, AClosedConnectionIsALostLink) {
  FakePeer peer([](FakePeer&, int) {});
  EXPECT_EQ(codeOf([&] { (void)Dashboard::connect(kHost, peer.port(), 1); }), "arm_link_lost");
}

TEST(Dashboard, AnotherServerIsNoDashboard) {
  FakePeer peer([](FakePeer& self, int connection) {
    FakePeer::send(connection, "220 mail ready\r\n");
    self.hang();
  });
  EXPECT_EQ(codeOf([&] { (void)Dashboard::connect(kHost, peer.port(), 1); }), "arm_protocol");
}

TEST(Dashboard, AnEndlessLineIsRefused) {
  FakePeer peer([](FakePeer& self, int connection) {
    FakePeer::send(connection, std::string(10000, 'x'));
    self.hang();
  });
  EXPECT_EQ(codeOf([&] { (void)Dashboard::connect(kHost, peer.port(), 1); }), "arm_protocol");
}

TEST(Dashboard, AnswersAreRead) {
  FakePeer peer([](FakePeer& self, int connection) {
    FakePeer::send(connection, "Connected: Universal Robots Dashboard Server\n");
    while (!self.quitting()) {
      const std::string asked = FakePeer::receive(connection, 50);
      if (asked == "is in remote control\n") {
        FakePeer::send(connection, "false\n");
      } else if (asked == "PolyscopeVersion\n") {
        FakePeer::send(connection, "URSoftware 5.17.0.128113 (Apr 02 2024)\n");
      } else if (asked == "unlock protective stop\n") {
        FakePeer::send(connection, "Cannot unlock protective stop until 5s after occurrence.\n");
      } else if (asked == "stop\n") {
        FakePeer::send(connection, "Stopped\n");
      }
    }
  });
  Dashboard dashboard = Dashboard::connect(kHost, peer.port(), 1);
  EXPECT_FALSE(dashboard.inRemoteControl());
  EXPECT_EQ(dashboard.polyscopeVersion(), "5.17.0.128113");
  EXPECT_EQ(codeOf([&] { dashboard.unlockProtectiveStop(); }), "arm_refused");
  dashboard.stopProgram();
}

TEST(RtdeStream, ASilentPeer) {
  FakePeer peer([](FakePeer& self, int) { self.hang(); });
  EXPECT_EQ(codeOf([&] { (void)RtdeStream::connect(kHost, peer.port(), 500, 0.1); }), "arm_silent");
}

TEST(RtdeStream, HalfAnAnswer) {
  FakePeer peer([](FakePeer& self, int connection) {
    (void)FakePeer::receive(connection, 1000);
    FakePeer::send(connection, std::string("\0\4", 2));
    self.hang();
  });
  EXPECT_EQ(codeOf([&] { (void)RtdeStream::connect(kHost, peer.port(), 500, 0.1); }), "arm_silent");
}

TEST(RtdeStream, AResetInTheMiddle) {
  FakePeer peer([](FakePeer&, int connection) {
    (void)FakePeer::receive(connection, 1000);
    FakePeer::resetOnClose(connection);
  });
  EXPECT_EQ(codeOf([&] { (void)RtdeStream::connect(kHost, peer.port(), 500, 1); }),
            "arm_link_lost");
}

TEST(RtdeStream, AnotherProtocol) {
  FakePeer peer([](FakePeer& self, int connection) {
    FakePeer::send(connection, "HTTP/1.1 400 Bad Request\r\n\r\n");
    self.hang();
  });
  const std::string code = codeOf([&] { (void)RtdeStream::connect(kHost, peer.port(), 500, 0.3); });
  EXPECT_TRUE(code == "arm_protocol" || code == "arm_silent") << code;
}

TEST(RtdeStream, TextMessagesBetweenAnswersArePassedOver) {
  FakeRtde rtde;
  rtde.noise = rtdeMessage('M', "\x05hello\x04here\x03");
  rtde.data = [](FakePeer& peer, int connection) {
    FakePeer::send(connection, FakeRtde::packet(1.5));
    peer.hang();
  };
  FakePeer peer(std::ref(rtde));
  RtdeStream stream = RtdeStream::connect(kHost, peer.port(), 500, 1);
  const RtdeSample sample = stream.receive(1);
  EXPECT_EQ(stream.version().minor, 17u);
  EXPECT_EQ(sample.timestamp_s, 1.5);
  EXPECT_EQ(sample.q_rad[5], 6);
  EXPECT_EQ(sample.tcp_force_base[0], 41);
  EXPECT_EQ(sample.target_speed_fraction, 0.25);
  EXPECT_EQ(sample.robot_mode, 7);
  EXPECT_EQ(sample.safety_status_bits, 4u);
  EXPECT_EQ(sample.script_state, 1);
  EXPECT_EQ(sample.payload_kg, 1.5);
  EXPECT_EQ(sample.tool_acceleration_m_s2[2], 63);
  EXPECT_NE(rtde.names.find("output_int_register_24"), std::string::npos);
}

TEST(RtdeStream, TheLowerRegistersAreAnotherVariable) {
  FakeRtde rtde;
  FakePeer peer(std::ref(rtde));
  RtdeStream stream = RtdeStream::connect(kHost, peer.port(), 500, 1, false);
  EXPECT_NE(rtde.names.find("output_int_register_0"), std::string::npos);
}

TEST(RtdeStream, AnOptionalVariableMayBeMissing) {
  FakeRtde rtde;
  rtde.missing = "payload";
  rtde.data = [](FakePeer& peer, int connection) {
    FakePeer::send(connection, FakeRtde::packet(2, false));
    peer.hang();
  };
  FakePeer peer(std::ref(rtde));
  RtdeStream stream = RtdeStream::connect(kHost, peer.port(), 500, 1);
  EXPECT_FALSE(stream.serves("payload"));
  EXPECT_TRUE(stream.serves("payload_cog"));
  const RtdeSample sample = stream.receive(1);
  EXPECT_TRUE(std::isnan(sample.payload_kg));
  EXPECT_NEAR(sample.payload_cog_m[0], 0.1, 1e-15);
}

TEST(RtdeStream, ARequiredVariableMayNotBeMissing) {
  FakeRtde rtde;
  rtde.missing = "actual_q";
  FakePeer peer(std::ref(rtde));
  EXPECT_EQ(codeOf([&] { (void)RtdeStream::connect(kHost, peer.port(), 500, 1); }), "arm_protocol");
}

TEST(RtdeStream, TheNewestOfABurstIsTakenAndTheOthersAreCounted) {
  FakeRtde rtde;
  std::atomic<bool> sent{false};
  rtde.data = [&sent](FakePeer& peer, int connection) {
    FakePeer::send(connection,
                   FakeRtde::packet(1) + FakeRtde::packet(2) + FakeRtde::packet(3).substr(0, 40));
    sent = true;
    peer.hang();
  };
  FakePeer peer(std::ref(rtde));
  RtdeStream stream = RtdeStream::connect(kHost, peer.port(), 500, 1);
  while (!sent) {
    ::usleep(1000);
  }
  ::usleep(20000);
  RtdeSample sample;
  std::uint64_t skipped = 0;
  EXPECT_EQ(stream.receiveNow(sample, skipped), RtdeStream::End::kSample);
  EXPECT_EQ(sample.timestamp_s, 2);
  EXPECT_EQ(skipped, 1u);
  EXPECT_EQ(stream.receiveNow(sample, skipped), RtdeStream::End::kNothing);
}

TEST(RtdeStream, TheEndOfAConnectionIsSeenAtOnce) {
  for (const bool reset : {false, true}) {
    FakeRtde rtde;
    std::atomic<bool> done{false};
    rtde.data = [&](FakePeer&, int connection) {
      FakePeer::send(connection, FakeRtde::packet(1));
      ::usleep(30000);
      if (reset) {
        FakePeer::resetOnClose(connection);
      }
      done = true;
    };
    FakePeer peer(std::ref(rtde));
    RtdeStream stream = RtdeStream::connect(kHost, peer.port(), 500, 1);
    (void)stream.receive(1);
    while (!done) {
      ::usleep(1000);
    }
    ::usleep(20000);
    RtdeSample sample;
    std::uint64_t skipped = 0;
    EXPECT_EQ(stream.receiveNow(sample, skipped),
              reset ? RtdeStream::End::kReset : RtdeStream::End::kClosed);
  }
}

TEST(RtdeStream, DataThatWereNotSubscribedAreGarbage) {
  FakeRtde rtde;
  rtde.data = [](FakePeer& peer, int connection) {
    FakePeer::send(connection, rtdeMessage('U', "\x07short"));
    peer.hang();
  };
  FakePeer peer(std::ref(rtde));
  RtdeStream stream = RtdeStream::connect(kHost, peer.port(), 500, 1);
  EXPECT_EQ(codeOf([&] { (void)stream.receive(1); }), "arm_protocol");
}

TEST(RtdeStream, ACutPackageFilledUpWithTheNextOneIsNoState) {
  const std::string whole = FakeRtde::packet(2), next = FakeRtde::packet(3);
  for (const std::size_t kept : {whole.size() / 2, whole.size() / 3, whole.size() - 8}) {
    FakeRtde rtde;
    std::atomic<bool> cut{false}, sent{false};
    rtde.data = [&](FakePeer& peer, int connection) {
      FakePeer::send(connection, FakeRtde::packet(1));
      while (!cut && !peer.quitting()) {
        ::usleep(1000);
      }
      FakePeer::send(connection, whole.substr(0, kept) + next);
      sent = true;
      peer.hang();
    };
    FakePeer peer(std::ref(rtde));
    RtdeStream stream = RtdeStream::connect(kHost, peer.port(), 500, 1);
    RtdeSample sample = stream.receive(1);
    EXPECT_EQ(sample.timestamp_s, 1);
    cut = true;
    while (!sent) {
      ::usleep(1000);
    }
    std::uint64_t skipped = 0;
    auto end = RtdeStream::End::kNothing;
    while (end == RtdeStream::End::kNothing) {
      end = stream.receiveNow(sample, skipped);
    }
    EXPECT_EQ(end, RtdeStream::End::kGarbage);
    EXPECT_EQ(sample.timestamp_s, 1);
  }
}

// What becomes of bytes that come at once after a package of 1 s: the state of 1 s, or another.
RtdeStream::End endOf(const std::string& bytes, RtdeSample& sample) {
  FakeRtde rtde;
  std::atomic<bool> go{false};
  rtde.data = [&](FakePeer& peer, int connection) {
    FakePeer::send(connection, FakeRtde::packet(1));
    while (!go && !peer.quitting()) {
      ::usleep(1000);
    }
    FakePeer::send(connection, bytes);
    peer.hang();
  };
  FakePeer peer(std::ref(rtde));
  RtdeStream stream = RtdeStream::connect(kHost, peer.port(), 500, 1);
  sample = stream.receive(1);
  EXPECT_EQ(sample.timestamp_s, 1);
  go = true;
  std::uint64_t skipped = 0;
  auto end = RtdeStream::End::kNothing;
  while (end == RtdeStream::End::kNothing) {
    end = stream.receiveNow(sample, skipped);
  }
  return end;
}

TEST(RtdeStream, TwoCutPackagesOfJustOnesSizeAreNoState) {
  const std::string first = FakeRtde::packet(1.002), second = FakeRtde::packet(1.004);
  const std::string third = FakeRtde::packet(1.006);
  const std::size_t size = first.size();
  for (const std::size_t kept :
       {size / 2, std::size_t{4}, std::size_t{12}, std::size_t{60}, size - 12, size - 6}) {
    RtdeSample sample;
    // In step again behind them, and before what follows is there.
    for (const std::string& behind : {third, std::string()}) {
      const auto end =
          endOf(first.substr(0, kept) + second.substr(0, size - kept) + behind, sample);
      EXPECT_EQ(end, RtdeStream::End::kGarbage) << kept;
      EXPECT_EQ(sample.timestamp_s, 1) << kept;
    }
  }
}

TEST(RtdeStream, WholePackagesInARowAreStates) {
  RtdeSample sample;
  EXPECT_EQ(endOf(FakeRtde::packet(1.002), sample), RtdeStream::End::kSample);
  EXPECT_EQ(sample.timestamp_s, 1.002);
}

TEST(RtdeStream, AClockThatRunsBackOrFarAheadIsGarbage) {
  for (const double time_s : {0.998, 62.0, std::nan(""), 1e300}) {
    RtdeSample sample;
    EXPECT_EQ(endOf(FakeRtde::packet(time_s), sample), RtdeStream::End::kGarbage) << time_s;
    EXPECT_EQ(sample.timestamp_s, 1) << time_s;
  }
}

TEST(RtdeStream, AModeThatNoControllerHasIsGarbage) {
  std::string package = FakeRtde::packet(1.002);
  const std::size_t robot_mode = 4 + 8 + 5 * 48 + 2 * 8;
  ASSERT_EQ(package.substr(robot_mode, 4), u32(7));
  package.replace(robot_mode, 4, u32(0x40080000));
  RtdeSample sample;
  EXPECT_EQ(endOf(package, sample), RtdeStream::End::kGarbage);
  EXPECT_EQ(sample.robot_mode, 7);
  EXPECT_EQ(sample.timestamp_s, 1);
}

TEST(RtdeStream, StartedAndThenSilent) {
  FakeRtde rtde;
  FakePeer peer(std::ref(rtde));
  RtdeStream stream = RtdeStream::connect(kHost, peer.port(), 500, 1);
  EXPECT_EQ(codeOf([&] { (void)stream.receive(0.1); }), "arm_silent");
}

std::string kinematicsPackage() {
  std::string body;
  for (std::uint32_t i = 0; i < 6; ++i) {
    body += u32(0xAB000000 + i);
  }
  body += f64s(0.01, 6) + f64s(1, 6) + f64s(11, 6) + f64s(21, 6) + u32(2);
  return u32(static_cast<std::uint32_t>(body.size() + 5)) + "\x05" + body;
}

TEST(Primary, KinematicsAreFoundBehindOtherPackages) {
  const std::string other = u32(9) + "\x01" + "abcd";
  const std::string state = other + kinematicsPackage() + other;
  FakePeer peer([&](FakePeer& self, int connection) {
    const std::string version = u32(9) + "\x14" + "1234";
    FakePeer::send(connection, version);
    FakePeer::send(connection, u32(static_cast<std::uint32_t>(state.size() + 5)) + "\x10" + state);
    self.hang();
  });
  const auto info = readKinematics(kHost, peer.port(), 1);
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->rows[2].theta_offset_rad, 2.01);
  EXPECT_EQ(info->rows[2].a_m, 3);
  EXPECT_EQ(info->rows[2].d_m, 13);
  EXPECT_EQ(info->rows[2].alpha_rad, 23);
  EXPECT_EQ(info->calibration_status, 2u);
  EXPECT_EQ(info->checksumText().substr(0, 17), "ab000000 ab000001");
}

TEST(Primary, BrokenPackagesGiveNothing) {
  const std::string whole = kinematicsPackage();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(whole.data());
    EXPECT_FALSE(findKinematics(std::span(bytes, size)).has_value()) << size;
  }
  const std::string endless = u32(0) + "\x05";
  EXPECT_FALSE(findKinematics(
                   std::span(reinterpret_cast<const std::uint8_t*>(endless.data()), endless.size()))
                   .has_value());
}

TEST(Primary, AMessageOfAnotherProtocolIsRefused) {
  FakePeer peer([](FakePeer& self, int connection) {
    FakePeer::send(connection, "HTTP/1.1 400 Bad Request\r\n\r\n");
    self.hang();
  });
  EXPECT_EQ(codeOf([&] { (void)readKinematics(kHost, peer.port(), 1); }), "arm_protocol");
}

// Published pose of a UR5e's flange with all joints at zero: x = a2 + a3, y = -(d4 + d6), z = d1 -
// d5.
TEST(Primary, ForwardKinematicsOfTheNominalArm) {
  const Transform16 X = flangeInBase(CoreConfig{}.dh, {});
  EXPECT_NEAR(X[3], -0.425 - 0.3922, 1e-12);
  EXPECT_NEAR(X[7], -0.1333 - 0.0996, 1e-12);
  EXPECT_NEAR(X[11], 0.1625 - 0.0997, 1e-12);
}

TEST(Primary, PosesSurviveTheWayToAMatrixAndBack) {
  const double pi = std::numbers::pi;
  for (const auto& pose : std::vector<std::array<double, 6>>{
           {1, 2, 3, 0, 0, 0},
           {0, 0, 0, 1e-9, 0, 0},
           {0, 0, 0, 0.3, -0.2, 1.1},
           {0, 0, 0, pi, 0, 0},
           {0, 0, 0, 0, pi / std::numbers::sqrt2, pi / std::numbers::sqrt2},
           {0, 0, 0, 0, 0, pi - 1e-9}}) {
    const auto back = transformToPose(poseToTransform(pose));
    const auto gap = transformGap(poseToTransform(pose), poseToTransform(back));
    EXPECT_LT(gap.position_m, 1e-12);
    EXPECT_LT(gap.rotation_rad, 1e-7);
  }
}

}  // namespace
}  // namespace s2r::arm
