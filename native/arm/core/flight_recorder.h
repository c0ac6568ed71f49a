// The last cycles, kept at a fault until another thread has written them to a file.
//
// File, little-endian:
//   byte 0   char[8] "S2RFLT01"
//   byte 8   u32 offset of the first record      byte 12  u32 bytes of a record (8 x
//   kSnapshotWords) byte 16  u32 number of records               byte 20  u32 index of the first
//   record with the fault latched byte 24  f64 period of the cycle [s]         byte 32  u32 length
//   of the field table    byte 36  u32 zero byte 40  field table: text, a line per field "name word
//   words f64|text" records, oldest first: kSnapshotWords f64 each, fields as the table says
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "native/arm/core/snapshot.h"

namespace s2r::arm {

class FlightRecorder {
 public:
  static constexpr size_t kCycles = 5000;     // 10 s
  static constexpr size_t kAfterFault = 250;  // of them after the fault: 0.5 s

  FlightRecorder();  // allocates all it will ever need (about 12 MB)

  // In the cycle. A fault code that appears or changes begins a recording; half a second later it
  // is frozen.
  void record(const Snapshot& snapshot) noexcept;

  // In another thread. True: a recording waits; save() writes it and makes room for the next.
  [[nodiscard]] bool waiting() const noexcept;
  // The file's bytes of the waiting recording, which stays; empty where none waits.
  [[nodiscard]] std::vector<char> serialised() const;
  // Empty: written and released. Otherwise why not (the recording stays).
  [[nodiscard]] std::string save(const std::string& path);
  void release() noexcept;
  // Faults whose recording was lost because two others waited.
  [[nodiscard]] uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

 private:
  struct Tape {
    std::vector<Snapshot> cycles;
    size_t next = 0, count = 0, since_fault = 0;
    bool faulted = false;
    std::atomic<bool> frozen{false};
  };
  std::array<Tape, 2> tapes_;
  size_t current_ = 0;  // the cycle's
  size_t reading_ = 0;  // the other thread's: recordings freeze in turns
  double last_code_ = 0;
  std::atomic<uint64_t> lost_{0};
};

}  // namespace s2r::arm
