#include "backends/emulators/ur-controller/plant.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace s2r::ur {

namespace {

constexpr std::size_t kSize = 2048, kCommandAt = 64, kStateAt = 256, kTruthAt = 896;
constexpr char kMagic[] = "S2RPLT01";

struct CommandBlock {
  double host_time_s;
  std::uint64_t cycle;
  std::uint32_t mode, zero;
  double q_target_rad[6];
};
struct StateBlock {
  double host_time_s;
  std::uint64_t step;
  double plant_time_s, q_rad[6], qd_rad_s[6], torque_nm[6], wrench_base[6], q_reset_count;
};
struct TruthBlock {
  double deltas[24];  // six times dtheta, da, dd, dalpha, a joint after the other
};

template <typename Block>
void writeBlock(unsigned char* at, const Block& block) {
  std::atomic_ref<std::uint64_t> sequence(*reinterpret_cast<std::uint64_t*>(at));
  const std::uint64_t before = sequence.load(std::memory_order_relaxed);
  sequence.store(before + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(at + 8, &block, sizeof(Block));
  std::atomic_thread_fence(std::memory_order_release);
  sequence.store(before + 2, std::memory_order_release);
}

// False while nothing was written yet, or when the writer kept at it for all the tries.
template <typename Block>
bool readBlock(unsigned char* at, Block& block) {
  std::atomic_ref<std::uint64_t> sequence(*reinterpret_cast<std::uint64_t*>(at));
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::uint64_t before = sequence.load(std::memory_order_acquire);
    if (before == 0) {
      return false;
    }
    if (before % 2 == 0) {
      std::memcpy(&block, at + 8, sizeof(Block));
      std::atomic_thread_fence(std::memory_order_acquire);
      if (sequence.load(std::memory_order_relaxed) == before) {
        return true;
      }
    }
  }
  return false;
}

void sleepMs(long ms) {
  const timespec t{ms / 1000, (ms % 1000) * 1000000};
  ::nanosleep(&t, nullptr);
}

}  // namespace

void FirstOrderPlant::command(const Joints& q_target_rad, bool driven, std::uint64_t, double) {
  constexpr double kLagS = 0.006;
  const Joints q_before = state_.q;
  if (driven) {
    state_.q += (q_target_rad - state_.q) * (kCycleS / (kLagS + kCycleS));
  }
  state_.qd = (state_.q - q_before) / kCycleS;
}

SharedPlant::SharedPlant(const std::string& path, double wait_s) {
  const auto fail = [&](const std::string& why) {
    throw std::runtime_error("plant memory " + path + ": " + why);
  };
  int file = -1;
  for (double waited = 0;; waited += 0.01) {
    file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct stat info{};
    if (file >= 0 && ::fstat(file, &info) == 0 && info.st_size >= static_cast<off_t>(kSize)) {
      break;
    }
    if (file >= 0) {
      ::close(file);
    }
    if (waited >= wait_s) {
      fail(file < 0 ? std::strerror(errno) : "shorter than 2048 bytes");
    }
    sleepMs(10);
  }
  void* memory = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) {
    fail(std::strerror(errno));
  }
  memory_ = static_cast<unsigned char*>(memory);
  StateBlock block;
  for (double waited = 0;
       std::memcmp(memory_, kMagic, 8) != 0 || !readBlock(memory_ + kStateAt, block);
       waited += 0.01) {
    if (waited >= wait_s) {
      ::munmap(memory_, kSize);
      fail("no arm state was written within " + std::to_string(wait_s) + " s");
    }
    sleepMs(10);
  }
  last_ = state();
}

SharedPlant::~SharedPlant() {
  ::munmap(memory_, kSize);
}

void SharedPlant::command(const Joints& q_target_rad,
                          bool driven,
                          std::uint64_t cycle,
                          double host_time_s) {
  CommandBlock block{host_time_s, cycle, driven ? 1u : 0u, 0, {}};
  std::memcpy(block.q_target_rad, q_target_rad.data(), sizeof(block.q_target_rad));
  writeBlock(memory_ + kCommandAt, block);
}

PlantState SharedPlant::state() {
  StateBlock block;
  if (readBlock(memory_ + kStateAt, block)) {
    std::memcpy(last_.q.data(), block.q_rad, sizeof(block.q_rad));
    std::memcpy(last_.qd.data(), block.qd_rad_s, sizeof(block.qd_rad_s));
    std::memcpy(last_.torque.data(), block.torque_nm, sizeof(block.torque_nm));
    std::memcpy(last_.wrench_base.data(), block.wrench_base, sizeof(block.wrench_base));
    last_.has_torque = true;
    last_.reset_count = block.q_reset_count;
  }
  return last_;
}

KinematicDeltas SharedPlant::deltas() {
  KinematicDeltas out;
  TruthBlock block;
  if (readBlock(memory_ + kTruthAt, block)) {
    for (std::size_t i = 0; i < 6; ++i) {
      out.theta_rad[i] = block.deltas[4 * i];
      out.a_m[i] = block.deltas[4 * i + 1];
      out.d_m[i] = block.deltas[4 * i + 2];
      out.alpha_rad[i] = block.deltas[4 * i + 3];
    }
  }
  return out;
}

}  // namespace s2r::ur
