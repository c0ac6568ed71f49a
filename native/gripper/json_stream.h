// Telemetry of the gripper: JSON objects one after another on a line without framing, checksum or
// sequence numbers, with CRLF between tokens, commas before closing brackets, and whatever noise
// the line adds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace s2r::gripper {

struct Motor {
  double speed_rad_s = 0.0;
  double current_a = 0.0;  // signed: negative while it closes or squeezes
  double angle_rad = 0.0;
};

struct MotorStatus {
  uint32_t bits = 0;
  std::optional<double> voltage_v;
  std::optional<double> driver_temperature_c;
  std::optional<double> motor_temperature_c;
  std::optional<double> bus_current_a;
};

// One object of the stream, as far as it was understood.
struct Report {
  std::optional<Motor> motor;
  std::optional<MotorStatus> status;
  std::optional<std::string> version;
  bool other_device = false;  // it speaks as the hand-held Pika Sense does
};

struct StreamCounters {
  uint64_t bytes = 0;
  uint64_t reports = 0;        // objects understood
  uint64_t unknown = 0;        // whole objects that say nothing we know
  uint64_t syntax_errors = 0;  // objects given up
  uint64_t noise_bytes = 0;    // bytes outside objects, whitespace aside
};

// Finds and reads objects in a stream of bytes. An object that breaks JSON's grammar (trailing
// commas are allowed) is given up at the byte that breaks it, and reading resumes at the next
// opening brace after its first one, so that half an object costs at most the whole one that
// follows it, never more. Holds at most kMaxObjectBytes.
class JsonStream {
 public:
  static constexpr size_t kMaxObjectBytes = 2048;
  static constexpr size_t kMaxDepth = 6;
  static constexpr size_t kMaxStringBytes = 128;

  // Takes bytes in, appends what they complete to `out`, oldest first.
  void feed(const uint8_t* data, size_t size, std::vector<Report>& out);
  // Forgets a half-read object (the link was reopened).
  void reset();
  [[nodiscard]] const StreamCounters& counters() const { return counters_; }
  [[nodiscard]] size_t buffered() const { return object_.size(); }

 private:
  enum class Expect : uint8_t { kKeyOrEnd, kColon, kValue, kCommaOrEnd };
  enum class Token : uint8_t { kNone, kString, kBare };
  enum class Result : uint8_t { kMore, kDone, kBad };

  void startObject();
  [[nodiscard]] Result step(uint8_t byte);
  [[nodiscard]] Result stepString(uint8_t byte);
  [[nodiscard]] Result stepStructure(uint8_t byte);
  [[nodiscard]] Result open(bool is_array);
  [[nodiscard]] Result close(bool is_array);
  [[nodiscard]] bool endValue(bool is_string);
  void store(std::string_view text, bool is_string);

  std::vector<uint8_t> object_;  // bytes since the opening brace
  struct Level {
    bool is_array = false;
    std::string key;
  };
  std::vector<Level> levels_;
  Expect expect_ = Expect::kKeyOrEnd;
  Token token_ = Token::kNone;
  bool escaped_ = false;
  bool string_is_key_ = false;
  std::string text_;
  Report report_;
  // Fields of the motor seen so far: all three are needed.
  unsigned motor_fields_ = 0;
  Motor motor_;
  MotorStatus pending_status_;  // until its bits are known
  StreamCounters counters_;
};

}  // namespace s2r::gripper
