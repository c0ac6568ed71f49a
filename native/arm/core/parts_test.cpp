// Gate, zones, path check, snapshot ring, flight recorder, time; and that a step allocates nothing.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <new>
#include <thread>

#include "native/arm/core/flight_recorder.h"
#include "native/arm/core/motion_parts.h"
#include "native/arm/core/test_rig.h"

namespace {
thread_local long allocations = 0;
}  // namespace

// Not inlined: the compiler would take malloc and delete for a mismatch.
__attribute__((noinline)) void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) {
    return memory;
  }
  throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void* memory) noexcept {
  std::free(memory);
}
__attribute__((noinline)) void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace s2r::arm {
namespace {

Body makeBody(BodyKind kind, int frame, Vector3 p0, Vector3 p1, double radius, const char* name) {
  return {kind, frame, p0, p1, radius, FixedText<32>(name)};
}

CoreConfig withTable(double z) {
  CoreConfig config;
  config.X_flange_tcp[11] = 0.15;
  config.bodies[0] = makeBody(BodyKind::kElbow, 2, {0, 0, 0.1}, {0, 0, 0.1}, 0.06, "elbow");
  config.bodies[1] = makeBody(BodyKind::kWrist, 6, {0, 0, -0.05}, {0, 0, 0}, 0.05, "wrist");
  config.bodies[2] = makeBody(BodyKind::kGripper, 7, {0, 0, -0.15}, {0, 0, 0}, 0.02, "gripper");
  config.body_count = 3;
  config.zones[0].kind = Zone::Kind::kHalfSpace;
  config.zones[0].offset_m = z;
  config.zones[0].name.assign("table");
  config.zone_count = 1;
  return config;
}

// ------------------------------------------------------------------------------------------------
// zones

TEST(Zones, SegmentToBoxAgreesWithDenseSampling) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int round = 0; round < 300; ++round) {
    const Eigen::Vector3d half(0.1 + 0.2 * std::abs(unit(random)), 0.3,
                               0.05 + 0.1 * std::abs(unit(random)));
    const Eigen::Vector3d p0(unit(random), unit(random), unit(random)),
        p1(unit(random), unit(random), unit(random));
    double least = 1e9;
    for (int i = 0; i <= 4000; ++i) {
      const Eigen::Vector3d beyond = (p0 + (p1 - p0) * (i / 4000.0)).cwiseAbs() - half;
      least = std::min(least, beyond.cwiseMax(0).norm() + std::min(0.0, beyond.maxCoeff()));
    }
    EXPECT_NEAR(segmentToBox(p0, p1, half), least, 1e-3);
    EXPECT_LE(segmentToBox(p0, p1, half), least + 1e-5);
  }
}

TEST(Zones, ForwardKinematicsOfKnownPoses) {
  CoreConfig config;
  config.X_flange_tcp[11] = 0.1;
  // All joints at zero: the arm lies along -x, the tool points along -y.
  const Frame tcp = Chain(config).frames({})[7];
  EXPECT_NEAR(tcp.p.x(), -0.8172, 1e-12);
  EXPECT_NEAR(tcp.p.y(), -0.1333 - 0.0996 - 0.1, 1e-12);
  EXPECT_NEAR(tcp.p.z(), 0.1625 - 0.0997, 1e-12);
  EXPECT_NEAR(tcp.R(1, 2), -1, 1e-12);
  // Straight up.
  const Frame up = Chain(config).frames({0, -1.5707963267948966, 0, -1.5707963267948966, 0, 0})[7];
  EXPECT_NEAR(up.p.z(), 0.1625 + 0.425 + 0.3922 + 0.0997, 1e-12);
}

// A straight way down through the table.
Trajectory plunge(const CoreConfig& config, double joint1) {
  Joints to = homeJoints();
  to[1] += joint1;
  return feasibleLine(homeJoints(), to, config, 0.5, 0.008);
}

TEST(Zones, AMotionIntoAZoneStopsBeforeItAndNamesIt) {
  CoreConfig config = withTable(0.05);
  TestRig rig(config);
  rig.connect();
  const ZoneChecker zones(config);
  const Trajectory path = plunge(config, 1.0);
  ASSERT_EQ(rig.start(path).refusal, Refusal::kNone);
  while (rig.out.motion_active) {
    rig.step();
    ASSERT_EQ(zones.check(rig.out.setpoint_rad).zone, kNoIndex);
  }
  EXPECT_EQ(rig.out.fault.code, FaultCode::kGateZone);
  EXPECT_EQ(rig.out.fault.zone, 0);
  EXPECT_EQ(rig.out.fault.body, 2);
  EXPECT_LT(rig.out.fault.value, 0);
  const std::string message = faultMessage(rig.out.fault, config);
  EXPECT_NE(message.find("gripper and zone 'table'"), std::string::npos) << message;
}

TEST(Zones, TheCheckBeforehandFindsThePointAndTheBoxToo) {
  CoreConfig config = withTable(0.05);
  const Trajectory path = plunge(config, 1.0);
  const auto n = static_cast<uint32_t>(path.time_s.size());
  TrajectoryCheck check = checkTrajectory(config, path.time_s.data(), path.q_rad.data(), n, {});
  EXPECT_FALSE(check.ok);
  EXPECT_EQ(check.defect.code, FaultCode::kGateZone);
  EXPECT_GT(check.point, 10u);
  // A box around where the gripper ends; rotated, and only for the load.
  config = withTable(-5);
  const Frame tcp = Chain(config).frames(path.last())[7];
  Zone& box = config.zones[1];
  box.kind = Zone::Kind::kBox;
  const Eigen::Vector3d beyond = tcp * Vector3{0, 0, 0.12};
  box.X_world_box = {0, -1, 0, beyond.x(), 1, 0, 0, beyond.y(), 0, 0, 1, beyond.z(), 0, 0, 0, 1};
  box.size_m = {0.1, 0.1, 0.1};
  box.applies_to = 8;
  config.zone_count = 2;
  EXPECT_EQ(validate(config), "");
  EXPECT_TRUE(checkTrajectory(config, path.time_s.data(), path.q_rad.data(), n, {}).ok);
  LoadUpdate load;
  load.carried = true;
  load.p0_tcp_m = {0, 0, 0.02};
  load.p1_tcp_m = {0, 0, 0.10};
  load.radius_m = 0.03;
  check = checkTrajectory(config, path.time_s.data(), path.q_rad.data(), n, load);
  EXPECT_EQ(check.defect.code, FaultCode::kGateZone);
  EXPECT_EQ(check.defect.body, kLoadBody);
  EXPECT_EQ(check.defect.zone, 1);
  // The cycle finds the same with the load given to it.
  TestRig rig(config);
  rig.connect();
  rig.in.load = load;
  rig.in.load.present = true;
  ASSERT_EQ(rig.start(path).refusal, Refusal::kNone);
  ASSERT_TRUE(rig.runUntil([&] { return !rig.out.motion_active; }, 10));
  EXPECT_EQ(rig.out.fault.code, FaultCode::kGateZone);
  EXPECT_EQ(rig.out.fault.body, kLoadBody);
}

TEST(Zones, ABodyThatIsInsideMayComeOutButNotGoDeeper) {
  const CoreConfig low = withTable(0.05);
  const Frame tcp = Chain(low).frames(homeJoints())[7];
  const CoreConfig config = withTable(tcp.p.z() + 0.005);  // the gripper stands 25 mm in it
  for (const double way : {-0.3, 0.1}) {
    TestRig rig(config);
    rig.connect();
    const Trajectory path = plunge(config, way);
    ASSERT_EQ(rig.start(path).refusal, Refusal::kNone);
    ASSERT_TRUE(rig.runUntil([&] { return !rig.out.motion_active; }, 10));
    EXPECT_EQ(rig.out.motion.end_reason, way < 0 ? EndReason::kCompleted : EndReason::kFault);
  }
}

// ------------------------------------------------------------------------------------------------
// gate and checks

TEST(Gate, RefusesEachDefectWithJointValueAndLimit) {
  CoreConfig config;
  const ZoneChecker zones(config);
  SetpointGate gate(config);
  const Joints home = homeJoints();
  Joints q = home;
  gate.restart(home);
  q[3] = std::nan("");
  EXPECT_EQ(gate.check(q, zones).code, FaultCode::kGateNotFinite);
  q = home;
  q[1] += 3.2 * kPeriod_s;
  FaultDetail fault = gate.check(q, zones);
  EXPECT_EQ(fault.code, FaultCode::kGateVelocity);
  EXPECT_EQ(fault.joint, 1);
  EXPECT_NEAR(fault.value, 3.2, 1e-9);
  EXPECT_EQ(fault.limit, 3.14);
  q = home;
  q[1] += 11 * kPeriod_s * kPeriod_s;
  fault = gate.check(q, zones);
  EXPECT_EQ(fault.code, FaultCode::kGateAcceleration);
  EXPECT_NEAR(fault.value, 11, 1e-6);
  EXPECT_EQ(gate.last(), home);
  q = home;
  q[1] += 9 * kPeriod_s * kPeriod_s;
  EXPECT_EQ(gate.check(q, zones).code, FaultCode::kNone);
  EXPECT_EQ(gate.last(), q);
  Joints edge = home;
  edge[5] = config.limits[5].position_max_rad + 1e-3;
  gate.restart(edge);
  edge[5] += 1e-5;
  EXPECT_EQ(gate.check(edge, zones).code, FaultCode::kGateJointLimit);
  edge[5] -= 2e-5;
  EXPECT_EQ(gate.check(edge, zones).code, FaultCode::kNone);
  gate.restart(home);
  Joints far = home;
  far[0] += 0.09;
  EXPECT_EQ(gate.checkDistance(far).code, FaultCode::kGateDistance);
  far[0] = home[0] + 0.07;
  EXPECT_EQ(gate.checkDistance(far).code, FaultCode::kNone);
}

TEST(Check, NamesThePointTheValueAndTheLimit) {
  const CoreConfig config;
  const Trajectory good = feasibleLine(homeJoints(), {}, config, 0.9, 0.01);
  const auto check = [&](const Trajectory& t) {
    return checkTrajectory(config, t.time_s.data(), t.q_rad.data(),
                           static_cast<uint32_t>(t.time_s.size()), {});
  };
  EXPECT_TRUE(check(good).ok) << check(good).message;
  Trajectory bad = good;
  bad.time_s[7] = bad.time_s[6];
  EXPECT_EQ(check(bad).point, 7u);
  bad = good;
  bad.q_rad[9 * kJoints + 2] = std::nan("");
  EXPECT_EQ(check(bad).defect.code, FaultCode::kGateNotFinite);
  bad = good;
  bad.q_rad[9 * kJoints + 2] += 0.05;
  EXPECT_EQ(check(bad).defect.code, FaultCode::kGateVelocity);
  EXPECT_NE(check(bad).message.find("3.1400 rad/s"), std::string::npos) << check(bad).message;
  bad = good;
  for (double& t : bad.time_s) {
    t *= 1000;
  }
  EXPECT_FALSE(check(bad).ok);
  bad = good;
  bad.time_s[0] = 0.001;
  EXPECT_FALSE(check(bad).ok);
}

TEST(Config, IsCheckedWithValueAndLimit) {
  EXPECT_EQ(validate(CoreConfig{}), "");
  CoreConfig config;
  config.limits[2].velocity_rad_s = 5;
  EXPECT_NE(validate(config).find("joint 3 velocity_rad_s is 5"), std::string::npos);
  EXPECT_THROW(Supervisor{config}, std::invalid_argument);
  config = CoreConfig{};
  config.X_world_base[0] = -1;
  EXPECT_NE(validate(config).find("X_world_base"), std::string::npos);
  config = CoreConfig{};
  config.lock_out_s = 1;
  EXPECT_NE(validate(config).find("lock_out_s"), std::string::npos);
}

TEST(Time, LatenessIsCountedAndTimeThatDoesNotRiseIsReported) {
  Supervisor supervisor{CoreConfig{}};
  CycleInput in;
  CycleOutput out;
  in.now_s = 10;
  in.scheduled_s = 10 - 30e-6;
  EXPECT_EQ(supervisor.step(in, out), Result::kOk);
  in.now_s = 10.002;
  in.scheduled_s = 10.002 - 0.0071;
  EXPECT_EQ(supervisor.step(in, out), Result::kLate);
  EXPECT_EQ(out.counters.missed_cycles, 3u);
  EXPECT_EQ(out.counters.late_cycles, 1u);
  EXPECT_EQ(out.counters.lateness_histogram[1], 1u);
  EXPECT_EQ(out.counters.lateness_histogram[8], 1u);
  EXPECT_NEAR(out.counters.lateness_max_s, 0.0071, 1e-9);
  in.scheduled_s = in.now_s;
  EXPECT_EQ(supervisor.step(in, out), Result::kBadTime);
  in.now_s = std::nan("");
  EXPECT_EQ(supervisor.step(in, out), Result::kBadTime);
  in.now_s = 11;
  in.scheduled_s = 11;
  EXPECT_EQ(supervisor.step(in, out), Result::kStarved);
  EXPECT_EQ(out.fault.code, FaultCode::kNone);  // nothing moved
}

TEST(Time, SkippedPackagesAreCounted) {
  TestRig rig;
  rig.connect();
  rig.in.sample.robot_time_s += 3 * kPeriod_s;
  rig.step();
  EXPECT_EQ(rig.out.counters.robot_gaps, 3u);
}

// ------------------------------------------------------------------------------------------------
// ring and recorder

TEST(Ring, FieldTableCoversEveryWordOnce) {
  int next = 0;
  for (const SnapshotFieldInfo& field : kSnapshotFields) {
    EXPECT_EQ(field.word, next) << field.name;
    next += field.words;
  }
  EXPECT_EQ(next, kSnapshotWords);
}

TEST(Ring, LayoutIsAsDocumented) {
  std::vector<uint64_t> memory(SnapshotRing::bytesFor(4) / 8);
  SnapshotRing ring(memory.data(), 4);
  Snapshot snapshot;
  EXPECT_FALSE(ring.newest(snapshot));
  for (int n = 0; n < 6; ++n) {
    snapshot.word[kFieldTime] = n;
    ring.write(snapshot);
  }
  const char* bytes = reinterpret_cast<const char*>(memory.data());
  uint32_t header[4];
  std::memcpy(header, bytes, sizeof header);
  EXPECT_EQ(std::memcmp(bytes, "S2RA", 4), 0);
  EXPECT_EQ(header[1], 1u);
  EXPECT_EQ(header[2], 1280u);
  EXPECT_EQ(header[3], 4u);
  EXPECT_EQ(memory[2], 6u);
  const size_t slot = 64 + (5 % 4) * 1280;
  EXPECT_EQ(memory[slot / 8], 2u * 5 + 2);
  double time;
  std::memcpy(&time, bytes + slot + 8, sizeof time);
  EXPECT_EQ(time, 5);
  ASSERT_TRUE(ring.newest(snapshot));
  EXPECT_EQ(snapshot.word[kFieldTime], 5);
  EXPECT_TRUE(ring.at(2, snapshot));
  EXPECT_EQ(snapshot.word[kFieldTime], 2);
  EXPECT_FALSE(ring.at(1, snapshot));
  EXPECT_FALSE(ring.at(6, snapshot));
}

TEST(Ring, ReadersNeverSeeATornSnapshot) {
  // Two slots only, so that the writer overruns the readers often.
  std::vector<uint64_t> memory(SnapshotRing::bytesFor(2) / 8);
  SnapshotRing ring(memory.data(), 2);
  std::atomic<bool> done{false};
  std::atomic<uint64_t> read{0}, torn{0}, backwards{0};
  const auto reader = [&] {
    Snapshot snapshot;
    double last = 0;
    while (!done.load()) {
      if (!ring.newest(snapshot)) {
        continue;
      }
      const double first = snapshot.word[0];
      for (const double word : snapshot.word) {
        torn += word != first ? 1 : 0;
      }
      backwards += first < last ? 1 : 0;
      last = first;
      ++read;
    }
  };
  std::thread one(reader), two(reader);
  Snapshot snapshot;
  uint64_t n = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (std::chrono::steady_clock::now() < until) {
    snapshot.word.fill(static_cast<double>(++n));
    ring.write(snapshot);
  }
  done = true;
  one.join();
  two.join();
  EXPECT_EQ(torn.load(), 0u);
  EXPECT_EQ(backwards.load(), 0u);
  EXPECT_GT(read.load(), 0u);
  std::printf("[ figures  ] ring: %lu written, %lu read, 0 torn\n", static_cast<unsigned long>(n),
              static_cast<unsigned long>(read.load()));
}

TEST(Recorder, KeepsTheSecondsAroundAFaultAndWritesThem) {
  FlightRecorder recorder;
  TestRig rig;
  Snapshot snapshot;
  const auto record = [&](int cycles) {
    for (int i = 0; i < cycles; ++i) {
      rig.step();
      fillSnapshot(rig.in, rig.out, snapshot);
      recorder.record(snapshot);
    }
  };
  record(6000);
  EXPECT_FALSE(recorder.waiting());
  rig.in.sample.safety_bits = 1u << 2;
  record(100);
  EXPECT_FALSE(recorder.waiting());
  record(200);
  ASSERT_TRUE(recorder.waiting());
  const double fault_time = rig.out.fault.time_s;
  // A second fault goes to the other tape meanwhile, a third is lost and counted.
  rig.in.sample.safety_bits = 1u << 6;
  record(300);
  rig.in.raised_fault = FaultCode::kInternal;  // milder: not latched, no recording
  record(10);
  EXPECT_EQ(recorder.lost(), 0u);

  char name[] = "/tmp/s2r-flight-XXXXXX";
  const int file = mkstemp(name);
  ASSERT_GE(file, 0);
  close(file);
  ASSERT_EQ(recorder.save(name), "");
  std::ifstream in(name, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
  unlink(name);
  uint32_t numbers[4];
  ASSERT_GT(bytes.size(), 40u);
  EXPECT_EQ(std::string(bytes.data(), 8), "S2RFLT01");
  std::memcpy(numbers, bytes.data() + 8, sizeof numbers);
  EXPECT_EQ(numbers[1], sizeof(Snapshot));
  EXPECT_EQ(numbers[2], 5000u);
  EXPECT_EQ(numbers[3], 5000u - 1 - 250);
  ASSERT_EQ(bytes.size(), numbers[0] + size_t{5000} * sizeof(Snapshot));
  const std::string table(bytes.data() + 40, numbers[0] - 40);
  EXPECT_NE(table.find("q_rad 24 6 f64\n"), std::string::npos);
  EXPECT_NE(table.find("stop_reason 124 12 text\n"), std::string::npos);
  const auto value = [&](uint32_t row, SnapshotField field) {
    double out;
    std::memcpy(&out,
                bytes.data() + numbers[0] + row * sizeof(Snapshot) + 8 * static_cast<size_t>(field),
                8);
    return out;
  };
  EXPECT_EQ(value(numbers[3] - 1, kFieldFaultCode), 0);
  EXPECT_EQ(value(numbers[3], kFieldFaultCode), static_cast<double>(FaultCode::kProtectiveStop));
  EXPECT_EQ(value(numbers[3], kFieldTime), fault_time);
  for (uint32_t row = 1; row < 5000; ++row) {
    ASSERT_NEAR(value(row, kFieldTime) - value(row - 1, kFieldTime), kPeriod_s, 1e-9);
  }
  EXPECT_TRUE(recorder.waiting());  // the second
  recorder.release();
  EXPECT_FALSE(recorder.waiting());
  EXPECT_EQ(recorder.save("/nonexistent/x"), "no recording waits");
}

TEST(Recorder, HandsRecordingsToAnotherThread) {
  FlightRecorder recorder;
  std::atomic<int> saved{0};
  std::atomic<bool> whole{true};
  std::thread other([&] {
    while (saved.load() < 4) {
      const std::vector<char> bytes = recorder.serialised();
      if (bytes.empty()) {
        std::this_thread::yield();
        continue;
      }
      // Times rise by one from record to record: nothing was written over meanwhile.
      uint32_t head[3];
      std::memcpy(head, bytes.data() + 8, sizeof head);
      for (uint32_t row = 1; row < head[2]; ++row) {
        double before, after;
        std::memcpy(&before, bytes.data() + head[0] + (row - 1) * sizeof(Snapshot), 8);
        std::memcpy(&after, bytes.data() + head[0] + row * sizeof(Snapshot), 8);
        whole = whole && after == before + 1;
      }
      recorder.release();
      ++saved;
    }
  });
  Snapshot snapshot;
  for (int n = 0; saved.load() < 4; ++n) {
    snapshot.word[kFieldTime] = n;
    snapshot.word[kFieldFaultCode] = n / 1000 % 2 == 0 ? 0 : 3;
    recorder.record(snapshot);
  }
  other.join();
  EXPECT_TRUE(whole.load());
}

TEST(Recorder, ARecordingThatCannotBeWrittenStays) {
  FlightRecorder recorder;
  Snapshot snapshot;
  recorder.record(snapshot);
  snapshot.word[kFieldFaultCode] = 3;
  for (int i = 0; i < 300; ++i) {
    recorder.record(snapshot);
  }
  ASSERT_TRUE(recorder.waiting());
  EXPECT_NE(recorder.save("/nonexistent/x").find("cannot write"), std::string::npos);
  EXPECT_TRUE(recorder.waiting());
  for (int code = 4; code < 7; ++code) {
    snapshot.word[kFieldFaultCode] = code;
    for (int i = 0; i < 300; ++i) {
      recorder.record(snapshot);
    }
  }
  EXPECT_EQ(recorder.lost(), 2u);
}

// ------------------------------------------------------------------------------------------------
// cost

// Processor time of this thread: what others take from it meanwhile does not count.
double threadTime_us() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

// The worst zones a configuration can hold, contact, stops, faults and recordings: no step
// allocates. Prints the cost.
TEST(Cost, AStepAllocatesNothing) {
  CoreConfig config = withTable(-0.5);
  for (int b = 3; b < kMaxBodies; ++b) {
    config.bodies[static_cast<size_t>(b)] =
        makeBody(BodyKind::kWrist, b % 8, {0, 0.02, 0}, {0.05, 0, 0.1}, 0.03, "more");
  }
  config.body_count = kMaxBodies;
  for (int z = 1; z < kMaxZones; ++z) {
    Zone& zone = config.zones[static_cast<size_t>(z)];
    zone.kind = Zone::Kind::kBox;
    zone.size_m = {0.1, 0.1, 0.1};
    zone.X_world_box[3] =
        1.5 + 0.05 * z;  // beside the arm, some near enough for the exact distance
  }
  config.zone_count = kMaxZones;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<double> cost_us;
  cost_us.reserve(400000);
  std::vector<uint64_t> memory(SnapshotRing::bytesFor(512) / 8);
  SnapshotRing ring(memory.data(), 512);
  FlightRecorder recorder;
  Snapshot snapshot;
  Supervisor supervisor(config);
  CycleInput in;
  CycleOutput out;
  in.now_s = 1;
  in.link = LinkPhase::kUp;
  in.sample.robot_mode = 7;
  in.sample.runtime_state = 2;
  in.sample.program_running = true;
  in.sample.q_rad = homeJoints();
  long during = 0;
  std::array<uint64_t, 12> states{};
  uint64_t group = 0;
  Trajectory path;
  for (int cycle = 0; cycle < 80000; ++cycle) {
    if (out.state == State::kIdle && cycle > 50) {
      Joints to = out.setpoint_rad;
      for (double& q : to) {
        q = std::clamp(q + 0.8 * (unit(random) - 0.5), -3.0, 3.0);
      }
      path = feasibleLine(out.setpoint_rad, to, config, 0.9, 0.004);
      in.start.present = true;
      in.start.group = ++group;
      in.start.stop_epoch = out.stop_epoch;
      in.start.time_s = path.time_s.data();
      in.start.q_rad = path.q_rad.data();
      in.start.count = static_cast<uint32_t>(path.time_s.size());
      in.start.guard.force_n = 5;
    }
    if (unit(random) < 0.001) {
      ++in.stops_requested;
    }
    if (unit(random) < 0.001) {
      in.sample.speed_scaling = unit(random);
    }
    in.sample.tcp_wrench_base[2] = unit(random) < 0.002 ? 400 : 0;
    in.sample.safety_bits = unit(random) < 0.0005 ? 1u << 6 : 1;
    if (out.state == State::kHeld || out.state == State::kFault) {
      in.recover = {true, 5};
      in.resume = {true, out.stop_epoch, 5};
    }
    in.now_s += kPeriod_s;
    in.scheduled_s = in.now_s;
    in.sample.robot_time_s += kPeriod_s;
    const long before = allocations;
    const double began = threadTime_us();
    supervisor.step(in, out);
    fillSnapshot(in, out, snapshot);
    ring.write(snapshot);
    recorder.record(snapshot);
    const double ended = threadTime_us();
    during += allocations - before;
    cost_us.push_back(ended - began);
    ++states[static_cast<size_t>(out.state)];
    in.start.present = in.resume.present = in.recover.present = false;
    for (size_t j = 0; j < kJoints; ++j) {
      const double step = 0.1 * (out.setpoint_rad[j] - in.sample.q_rad[j]);
      in.sample.q_rad[j] += step;
      in.sample.qd_rad_s[j] = step / kPeriod_s;
    }
  }
  EXPECT_EQ(during, 0);
  for (const State state :
       {State::kIdle, State::kMoving, State::kStopping, State::kHeld, State::kFault}) {
    EXPECT_GT(states[static_cast<size_t>(state)], 0u) << stateName(state);
  }
  std::sort(cost_us.begin(), cost_us.end());
  std::printf(
      "[ figures  ] step with ring and recorder, %d bodies x %d zones: p50 %.1f us, p99 %.1f us, "
      "p99.9 %.1f us, "
      "max %.1f us; %lu motions\n",
      kMaxBodies, kMaxZones, cost_us[cost_us.size() / 2], cost_us[cost_us.size() * 99 / 100],
      cost_us[cost_us.size() * 999 / 1000], cost_us.back(), static_cast<unsigned long>(group));
}

}  // namespace
}  // namespace s2r::arm
