#include "native/arm/core/flight_recorder.h"

#include <cerrno>
#include <cstdio>

namespace s2r::arm {
namespace {

template <typename Value>
void put(std::vector<char>& bytes, const Value& value) {
  const char* raw = reinterpret_cast<const char*>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof value);
}

}  // namespace

FlightRecorder::FlightRecorder() {
  for (Tape& tape : tapes_) {
    tape.cycles.resize(kCycles);
  }
}

void FlightRecorder::record(const Snapshot& snapshot) noexcept {
  const double code = snapshot.word[kFieldFaultCode];
  const bool fault = code != 0 && code != last_code_;
  last_code_ = code;
  Tape* tape = &tapes_[current_];
  if (tape->frozen.load(std::memory_order_acquire)) {
    if (fault) {
      lost_.fetch_add(1, std::memory_order_relaxed);
    }
    return;
  }
  tape->cycles[tape->next] = snapshot;
  tape->next = (tape->next + 1) % kCycles;
  tape->count = std::min(tape->count + 1, kCycles);
  if (tape->faulted) {
    ++tape->since_fault;
  } else if (fault) {
    tape->faulted = true;
    tape->since_fault = 0;
  }
  if (tape->faulted && tape->since_fault >= kAfterFault) {
    tape->frozen.store(true, std::memory_order_release);
    current_ = 1 - current_;
  }
}

bool FlightRecorder::waiting() const noexcept {
  return tapes_[reading_].frozen.load(std::memory_order_acquire);
}

std::vector<char> FlightRecorder::serialised() const {
  std::vector<char> bytes;
  const Tape& tape = tapes_[reading_];
  if (!tape.frozen.load(std::memory_order_acquire)) {
    return bytes;
  }
  std::string table;
  for (const SnapshotFieldInfo& field : kSnapshotFields) {
    if (field.words > 0) {
      table += std::string(field.name) + " " + std::to_string(field.word) + " " +
               std::to_string(field.words) + (field.text ? " text\n" : " f64\n");
    }
  }
  table.resize((table.size() + 7) / 8 * 8, '\n');
  bytes.reserve(40 + table.size() + tape.count * sizeof(Snapshot));
  const char magic[8] = {'S', '2', 'R', 'F', 'L', 'T', '0', '1'};
  put(bytes, magic);
  put(bytes, static_cast<uint32_t>(40 + table.size()));
  put(bytes, static_cast<uint32_t>(sizeof(Snapshot)));
  put(bytes, static_cast<uint32_t>(tape.count));
  put(bytes, static_cast<uint32_t>(tape.count - 1 - tape.since_fault));
  put(bytes, kPeriod_s);
  put(bytes, static_cast<uint32_t>(table.size()));
  put(bytes, uint32_t{0});
  bytes.insert(bytes.end(), table.begin(), table.end());
  const size_t oldest = (tape.next + kCycles - tape.count) % kCycles;
  for (size_t i = 0; i < tape.count; ++i) {
    put(bytes, tape.cycles[(oldest + i) % kCycles]);
  }
  return bytes;
}

std::string FlightRecorder::save(const std::string& path) {
  const std::vector<char> bytes = serialised();
  if (bytes.empty()) {
    return "no recording waits";
  }
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) {
    return "cannot write " + path + ": " + std::strerror(errno);
  }
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const int wrong = errno;
  if (std::fclose(file) != 0 || !written) {
    return "cannot write " + path + ": " + std::strerror(written ? errno : wrong);
  }
  release();
  return "";
}

void FlightRecorder::release() noexcept {
  Tape& tape = tapes_[reading_];
  if (!tape.frozen.load(std::memory_order_acquire)) {
    return;
  }
  tape.next = tape.count = tape.since_fault = 0;
  tape.faulted = false;
  reading_ = 1 - reading_;
  tape.frozen.store(false, std::memory_order_release);
}

}  // namespace s2r::arm
