#include "backends/emulators/ur-controller/controller.h"

#include <gtest/gtest.h>

#include "backends/emulators/ur-controller/rtde_session.h"
#include "backends/emulators/ur-controller/state_messages.h"
#include "backends/emulators/ur-controller/wire.h"

namespace s2r::ur {
namespace {

Joints home() {
  return (Joints() << 0, -pose::kPi / 2, pose::kPi / 2, -pose::kPi / 2, -pose::kPi / 2, 0)
      .finished();
}

class ControllerTest : public testing::Test {
 protected:
  void cycles(int count) {
    for (int i = 0; i < count; ++i) {
      controller.cycle(0);
    }
  }
  void line(const std::string& text) {
    controller.upload(recogniseScript(text));
    cycles(12);
  }
  ControllerOptions options;
  Controller controller{options, std::make_unique<FirstOrderPlant>(home())};
};

TEST_F(ControllerTest, RunsALineAndStops) {
  line("movej([0.1,-1.57,1.57,-1.57,-1.57,0], a=4, v=1)\n");
  EXPECT_EQ(controller.runtimeState(), RuntimeState::kPlaying);
  cycles(500);
  EXPECT_EQ(controller.runtimeState(), RuntimeState::kStopped);
  EXPECT_NEAR(controller.frame().actual_q[0], 0.1, 1e-6);
}

TEST_F(ControllerTest, JointSpeedBeyondItsLimitStopsProtectively) {
  line("movej([2,-1.57,1.57,-1.57,-1.57,0], a=20, v=5)\n");
  cycles(200);
  EXPECT_EQ(controller.safetyMode(), SafetyMode::kProtectiveStop);
  double top = 0;
  for (int i = 0; i < 500; ++i) {
    cycles(1);
    top = std::max(top, std::abs(controller.frame().target_qd[0]));
  }
  EXPECT_EQ(controller.runtimeState(), RuntimeState::kPaused);
  EXPECT_EQ(controller.frame().target_qd[0], 0);
  EXPECT_EQ(controller.frame().safety_status_bits, (1u << 2) | (1u << 10));
}

TEST_F(ControllerTest, UnlockWaitsFiveSecondsAndThenAnUploadIsTaken) {
  controller.protectiveStop(153, "test");
  cycles(2400);
  EXPECT_NE(controller.unlockProtectiveStop(), "Protective stop releasing");
  cycles(200);
  EXPECT_EQ(controller.unlockProtectiveStop(), "Protective stop releasing");
  EXPECT_EQ(controller.safetyMode(), SafetyMode::kNormal);
  line("sleep(1)\n");
  EXPECT_EQ(controller.runtimeState(), RuntimeState::kPlaying);
}

TEST_F(ControllerTest, UploadIsRefusedWithoutPowerInLocalControlAndInAStop) {
  controller.setRemote(false);
  line("sleep(1)\n");
  EXPECT_EQ(controller.runtimeState(), RuntimeState::kStopped);
  controller.setRemote(true);
  controller.powerOff();
  line("sleep(1)\n");
  EXPECT_EQ(controller.runtimeState(), RuntimeState::kStopped);
}

TEST_F(ControllerTest, FrozenNothingGoesOn) {
  line("movej([1,-1.57,1.57,-1.57,-1.57,0], a=4, v=1)\n");
  cycles(100);
  controller.setFrozen(true);
  const StateFrame before = controller.frame();
  cycles(100);
  EXPECT_EQ(controller.frame().timestamp, before.timestamp);
  EXPECT_EQ(controller.frame().target_q, before.target_q);
  controller.setFrozen(false);
  cycles(1);
  EXPECT_GT(controller.frame().target_q[0], before.target_q[0]);
}

// Packages of one session, without a socket.
class SessionTest : public ControllerTest {
 protected:
  static std::string package(char type, const std::string& body) {
    std::string out;
    put(out, static_cast<std::uint16_t>(body.size() + 3));
    out.push_back(type);
    return out + body;
  }
  std::string answer(RtdeSession& session, char type, const std::string& body) {
    std::string out;
    session.receive(package(type, body), 0, out, [] { return false; });
    return out;
  }
  VariableTable table;
  InputOwners owners;
};

TEST_F(SessionTest, InputPackagesReachTheirRegistersBigEndian) {
  RtdeSession session(1, table, owners, controller);
  EXPECT_EQ(answer(session, 'V', std::string("\0\2", 2)), package('V', "\1"));
  EXPECT_EQ(answer(session, 'I', "input_int_register_5,input_double_register_6"),
            package('I', "\1INT32,DOUBLE"));
  std::string data = "\1";
  put(data, std::int32_t{-7});
  put(data, 0.125);
  EXPECT_EQ(answer(session, 'U', data), "");
  EXPECT_EQ(controller.inputs().ints[5], -7);
  EXPECT_EQ(controller.inputs().doubles[6], 0.125);
}

TEST_F(SessionTest, AClosedSessionGivesItsVariablesBack) {
  RtdeSession other(2, table, owners, controller);
  {
    RtdeSession session(1, table, owners, controller);
    EXPECT_EQ(answer(session, 'I', "input_int_register_5"), package('I', "\1INT32"));
    EXPECT_EQ(answer(other, 'I', "input_int_register_5"), package('I', std::string("\0IN_USE", 7)));
  }
  EXPECT_EQ(answer(other, 'I', "input_int_register_5"), package('I', "\1INT32"));
}

TEST_F(SessionTest, RatesOfDataPackages) {
  for (const double frequency : {500.0, 250.0, 125.0, 100.0, 30.0, 1.0}) {
    RtdeSession session(1, table, owners, controller);
    static_cast<void>(answer(session, 'V', std::string("\0\2", 2)));
    std::string request;
    put(request, frequency);
    EXPECT_EQ(answer(session, 'O', request + "timestamp"), package('O', "\1DOUBLE"));
    EXPECT_EQ(answer(session, 'S', ""), package('S', "\1"));
    int packages = 0;
    for (int i = 0; i < 1000; ++i) {
      cycles(1);
      std::string out;
      session.cycle(controller.frame(), out);
      packages += !out.empty();
    }
    EXPECT_NEAR(packages, 2 * frequency, 1.01) << frequency;
  }
}

TEST(StateMessages, SizesAreThoseOfTheirLengthFields) {
  StateFrame frame;
  const Arm arm{KinematicDeltas()};
  for (const bool kinematics : {false, true}) {
    const std::string state = robotState(frame, arm, RobotLimits(), kinematics);
    ASSERT_EQ(take<std::int32_t>(state, 0), static_cast<std::int32_t>(state.size()));
    std::size_t at = 5;
    while (at < state.size()) {
      at += static_cast<std::size_t>(take<std::int32_t>(state, at));
    }
    EXPECT_EQ(at, state.size());
  }
  EXPECT_EQ(realtimeState(frame).size(), 1220u);
}

TEST(Checksums, ChangeWithTheRow) {
  pose::DhRow row{1, 2, 3, 4};
  const std::uint32_t before = kinematicsChecksum(row);
  row.d_m += 1e-9;
  EXPECT_NE(kinematicsChecksum(row), before);
}

}  // namespace
}  // namespace s2r::ur
