#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "native/arm/process/cycle_thread.h"
#include "native/arm/process/parent_watch.h"
#include "native/arm/process/records.h"
#include "native/arm/process/request_slot.h"
#include "native/arm/process/spsc_ring.h"
#include "native/arm/process/stop_listener.h"

namespace s2r::arm {
namespace {

template <typename Condition>
bool eventually(Condition condition) {
  const Deadline deadline = Deadline::in(5);
  while (!condition()) {
    if (deadline.passed()) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

std::string stopRequest(const std::string& reason) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_uint32(1, 1);
  writer.add_string(2, "session");
  writer.add_string(3, reason);
  return bytes;
}

TEST(StopRequest, TheReasonIsRead) {
  const std::string bytes = stopRequest("a person");
  EXPECT_EQ(stopReason(bytes.data(), bytes.size()), "a person");
}

TEST(StopRequest, AnyBytesAreAStop) {
  for (int seed = 0; seed < 2000; ++seed) {
    std::srand(static_cast<unsigned>(seed));
    std::string bytes(static_cast<std::size_t>(std::rand() % 64), '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(std::rand());
    }
    const std::string reason = stopReason(bytes.data(), bytes.size());
    EXPECT_FALSE(reason.empty());
    EXPECT_LE(reason.size(), 90u);
  }
  const std::string long_reason = stopRequest(std::string(5000, 'x'));
  EXPECT_EQ(stopReason(long_reason.data(), long_reason.size()).size(), 90u);
}

struct Client {
  zmq::context_t context;
  zmq::socket_t socket{context, zmq::socket_type::dealer};
  explicit Client(const std::string& address) {
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::rcvtimeo, 5000);
    socket.connect(address);
  }
  std::uint64_t stop(const std::string& bytes) {
    socket.send(zmq::buffer(bytes), zmq::send_flags::none);
    zmq::message_t reply;
    if (!socket.recv(reply, zmq::recv_flags::none)) {
      return 0;
    }
    protozero::pbf_reader reader(static_cast<const char*>(reply.data()), reply.size());
    std::uint64_t epoch = 0;
    while (reader.next()) {
      if (reader.tag() == 1) {
        epoch = reader.get_uint64();
      } else {
        reader.skip();
      }
    }
    return epoch;
  }
};

TEST(StopListener, EachMessageIsAStopOfItsOwn) {
  std::atomic<std::uint64_t> epoch{0};
  std::vector<std::string> reasons;
  StopListener listener("tcp://127.0.0.1:*", 0, [&](const std::string& reason) {
    reasons.push_back(reason);
    return StopServed{++epoch, 1.5};
  });
  Client client(listener.address());
  EXPECT_EQ(client.stop(stopRequest("one")), 1u);
  EXPECT_EQ(client.stop("\xff\xff\xff"), 2u);
  EXPECT_EQ(client.stop(""), 3u);
  Client other(listener.address());
  EXPECT_EQ(other.stop(stopRequest("two")), 4u);
  ASSERT_EQ(reasons.size(), 4u);
  EXPECT_EQ(reasons[0], "one");
  EXPECT_EQ(reasons[3], "two");
}

TEST(StopListener, AnAddressInUseIsRefused) {
  const auto stop = [](const std::string&) { return StopServed{}; };
  StopListener first("tcp://127.0.0.1:*", 0, stop);
  EXPECT_THROW(StopListener(first.address(), 0, stop), ArmError);
}

TEST(ParentWatch, TheEndOfAProcessIsNoticed) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  std::atomic<int> gone{0};
  ParentWatch watch(child, [&] { ++gone; });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(gone, 0);
  kill(child, SIGKILL);
  EXPECT_TRUE(eventually([&] { return gone == 1; }));
  waitpid(child, nullptr, 0);
}

TEST(ParentWatch, AProcessThatIsGoneAlreadyIsNoticed) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  std::atomic<int> gone{0};
  ParentWatch watch(child, [&] { ++gone; });
  EXPECT_TRUE(eventually([&] { return gone == 1; }));
}

TEST(RequestSlot, AnUntakenQuestionIsWithdrawn) {
  RequestSlot<int, int> slot;
  EXPECT_FALSE(slot.ask(1, 0.02).has_value());
  int request = 0;
  EXPECT_FALSE(slot.take(request)) << "it can no longer happen";
}

TEST(RequestSlot, ManyAskersEachGetTheirOwnAnswer) {
  RequestSlot<int, int> slot;
  std::atomic<bool> quit{false};
  std::thread loop([&] {
    while (!quit) {
      int request = 0;
      if (slot.take(request)) {
        slot.answer(request * 2);
      }
    }
  });
  std::vector<std::thread> askers;
  std::atomic<int> wrong{0};
  for (int thread = 0; thread < 3; ++thread) {
    askers.emplace_back([&, thread] {
      for (int i = 0; i < 500; ++i) {
        const int asked = thread * 1000 + i;
        const auto answer = slot.ask(asked, 5);
        wrong += answer == std::optional<int>(asked * 2) ? 0 : 1;
      }
    });
  }
  for (std::thread& asker : askers) {
    asker.join();
  }
  quit = true;
  loop.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Seqlock, AReaderNeverSeesHalfAValue) {
  struct Pair {
    std::array<std::uint64_t, 12> values{};
  };
  Seqlock<Pair> lock;
  std::atomic<bool> quit{false};
  std::thread writer([&] {
    for (std::uint64_t i = 0; !quit; ++i) {
      Pair pair;
      pair.values.fill(i);
      lock.store(pair);
    }
  });
  int torn = 0;
  int read = 0;
  for (int i = 0; i < 200000; ++i) {
    Pair pair;
    if (lock.load(pair)) {
      ++read;
      torn += pair.values.front() == pair.values.back() ? 0 : 1;
    }
  }
  quit = true;
  writer.join();
  EXPECT_EQ(torn, 0);
  EXPECT_GT(read, 0);
}

TEST(SpscRing, FullAndEmptyAreSaid) {
  SpscRing<int, 4> ring;
  int value = 0;
  EXPECT_FALSE(ring.pop(value));
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(ring.push(i));
  }
  EXPECT_FALSE(ring.push(9));
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(ring.pop(value));
    EXPECT_EQ(value, i);
  }
}

TEST(Records, TheCyclesAroundATimeAreFound) {
  std::vector<std::uint64_t> memory(SnapshotRing::bytesFor(kKeptSnapshots) / 8);
  SnapshotRing ring(memory.data(), kKeptSnapshots);
  Snapshot before;
  Snapshot after;
  EXPECT_FALSE(snapshotsAround(ring, 1, before, after));
  for (int i = 0; i < 10000; ++i) {
    Snapshot snapshot;
    snapshot.word[kFieldTime] = i * 0.002;
    ring.write(snapshot);
  }
  ASSERT_TRUE(snapshotsAround(ring, 15.0005, before, after));
  EXPECT_NEAR(timeOf(before), 15.0, 1e-9);
  EXPECT_NEAR(timeOf(after), 15.002, 1e-9);
  EXPECT_FALSE(snapshotsAround(ring, 1, before, after)) << "overwritten";
  EXPECT_FALSE(snapshotsAround(ring, 30, before, after)) << "not there yet";
}

TEST(CycleThread, StopsAndLapsesAreServedWithoutARobot) {
  CycleThread cycle{CoreConfig{}};
  (void)cycle.start(0);
  EXPECT_EQ(cycle.stop("first").stop_epoch, 1u);
  EXPECT_EQ(cycle.stop("second").stop_epoch, 2u);
  StopState state = cycle.stopState();
  EXPECT_TRUE(state.latched);
  EXPECT_EQ(state.reason.view(), "second");
  cycle.renewLease(30);
  cycle.holdLease(true);
  std::this_thread::sleep_for(std::chrono::milliseconds(80));
  EXPECT_EQ(cycle.stopState().stop_epoch, 2u) << "a held lease does not lapse";
  cycle.holdLease(false);
  EXPECT_TRUE(eventually([&] { return cycle.stopState().stop_epoch == 3; }));
  EXPECT_EQ(cycle.stopState().source, StopSource::kLease);
  cycle.finish();
}

// What was added to an eventfd since it was last read; waits for the first.
std::uint64_t takeSignals(int descriptor) {
  pollfd polled = {descriptor, POLLIN, 0};
  std::uint64_t count = 0;
  if (::poll(&polled, 1, 5000) == 1) {
    [[maybe_unused]] const ssize_t got = ::read(descriptor, &count, sizeof count);
  }
  return count;
}

TEST(CycleThread, EachStopIsSignalledToWhoeverStopsWithTheArm) {
  CycleThread cycle{CoreConfig{}};
  const int first = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  const int second = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  ASSERT_EQ(cycle.signalStops(first), "");
  (void)cycle.start(0);
  (void)cycle.stop("one");
  EXPECT_EQ(takeSignals(first), 1u);
  ASSERT_EQ(cycle.signalStops(second), "");
  cycle.renewLease(20);
  EXPECT_EQ(takeSignals(first), 1u) << "a lapse is a stop";
  EXPECT_EQ(takeSignals(second), 1u);
  // Its owner may close it: the loop writes to a duplicate, never to what takes its number.
  ::close(first);
  cycle.setParentGone();
  EXPECT_EQ(takeSignals(second), 1u);
  cycle.finish();
  ::close(second);
}

TEST(CycleThread, WhoIsSignalledFindsTheStopsEpoch) {
  CycleThread cycle{CoreConfig{}};
  const int signal = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  ASSERT_EQ(cycle.signalStops(signal), "");
  (void)cycle.start(0);
  for (std::uint64_t epoch = 1; epoch <= 200; ++epoch) {
    std::thread stopper([&] { (void)cycle.stop("again"); });
    // Without a pause between the signal and the look: a stop is found to be told too early.
    std::uint64_t count = 0;
    while (::read(signal, &count, sizeof count) <= 0) {
    }
    const StopState state = cycle.stopState();
    Snapshot snapshot;
    const bool there = cycle.newest(snapshot);
    stopper.join();
    ASSERT_EQ(state.stop_epoch, epoch);
    ASSERT_TRUE(there);
    ASSERT_EQ(snapshot.word[kFieldStopEpoch], static_cast<double>(epoch));
  }
  cycle.finish();
  ::close(signal);
}

TEST(CycleThread, WhatCannotBeSignalledIsSaid) {
  CycleThread cycle{CoreConfig{}};
  EXPECT_NE(cycle.signalStops(-1).find("cannot be signalled"), std::string::npos);
  const int blocking = ::eventfd(0, EFD_CLOEXEC);
  EXPECT_NE(cycle.signalStops(blocking).find("non-blocking"), std::string::npos);
  ::close(blocking);
}

TEST(CycleThread, AStartWithoutARobotIsRefused) {
  CycleThread cycle{CoreConfig{}};
  (void)cycle.start(0);
  StartRequest request;
  request.present = true;
  request.group = 1;
  const auto answer = cycle.start(request);
  ASSERT_TRUE(answer.has_value());
  EXPECT_NE(answer->refusal, Refusal::kNone);
}

TEST(Lateness, QuantilesOfAHistogram) {
  LatenessHistogram histogram{};
  histogram[10] = 980;
  histogram[50] = 15;
  histogram[900] = 5;
  const LatenessSummary summary = summarize(histogram, 9.5e-4);
  EXPECT_EQ(summary.cycles, 1000u);
  EXPECT_DOUBLE_EQ(summary.p50_s, 10e-6);
  EXPECT_DOUBLE_EQ(summary.p99_s, 50e-6);
  EXPECT_DOUBLE_EQ(summary.p999_s, 900e-6);
  EXPECT_DOUBLE_EQ(summary.max_s, 9.5e-4);
  ASSERT_EQ(summary.counts_us.size(), 901u) << "up to the last cell that holds any";
  EXPECT_EQ(summary.counts_us[50], 15u);
}

}  // namespace
}  // namespace s2r::arm
