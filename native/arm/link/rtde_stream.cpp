#include "native/arm/link/rtde_stream.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>
#include <sstream>

#include "native/arm/link/big_endian.h"

namespace s2r::arm {
namespace {

constexpr std::uint8_t kVersion = 'V';
constexpr std::uint8_t kControllerVersion = 'v';
constexpr std::uint8_t kOutputs = 'O';
constexpr std::uint8_t kStart = 'S';
constexpr std::uint8_t kData = 'U';
constexpr std::uint8_t kText = 'M';
constexpr std::uint8_t kInputs = 'I';
constexpr std::uint8_t kPause = 'P';
constexpr std::size_t kHeader = 3;

enum class Kind : std::uint8_t { kDouble, kInt32, kUint32, kVector3, kVector6 };

struct Variable {
  const char* name;
  const char* type;
  Kind kind;
  std::size_t offset;
  bool required;
};

#define S2R_AT(member) offsetof(RtdeSample, member)
constexpr std::array kVariables = {
    Variable{"timestamp", "DOUBLE", Kind::kDouble, S2R_AT(timestamp_s), true},
    Variable{"actual_q", "VECTOR6D", Kind::kVector6, S2R_AT(q_rad), true},
    Variable{"actual_qd", "VECTOR6D", Kind::kVector6, S2R_AT(qd_rad_s), true},
    Variable{"target_q", "VECTOR6D", Kind::kVector6, S2R_AT(target_q_rad), true},
    Variable{"actual_TCP_pose", "VECTOR6D", Kind::kVector6, S2R_AT(X_base_tcp), true},
    Variable{"actual_TCP_force", "VECTOR6D", Kind::kVector6, S2R_AT(tcp_force_base), true},
    Variable{"speed_scaling", "DOUBLE", Kind::kDouble, S2R_AT(speed_scaling), true},
    Variable{"target_speed_fraction", "DOUBLE", Kind::kDouble, S2R_AT(target_speed_fraction), true},
    Variable{"robot_mode", "INT32", Kind::kInt32, S2R_AT(robot_mode), true},
    Variable{"safety_mode", "INT32", Kind::kInt32, S2R_AT(safety_mode), true},
    Variable{"runtime_state", "UINT32", Kind::kUint32, S2R_AT(runtime_state), true},
    Variable{"robot_status_bits", "UINT32", Kind::kUint32, S2R_AT(robot_status_bits), true},
    Variable{"safety_status_bits", "UINT32", Kind::kUint32, S2R_AT(safety_status_bits), true},
    Variable{"output_int_register_24", "INT32", Kind::kInt32, S2R_AT(script_state), true},
    Variable{"payload", "DOUBLE", Kind::kDouble, S2R_AT(payload_kg), false},
    Variable{"payload_cog", "VECTOR3D", Kind::kVector3, S2R_AT(payload_cog_m), false},
    Variable{"tcp_offset", "VECTOR6D", Kind::kVector6, S2R_AT(X_flange_tcp), false},
    Variable{"actual_tool_accelerometer", "VECTOR3D", Kind::kVector3,
             S2R_AT(tool_acceleration_m_s2), false},
};
#undef S2R_AT

std::size_t sizeOf(Kind kind) {
  switch (kind) {
    case Kind::kDouble:
      return 8;
    case Kind::kInt32:
    case Kind::kUint32:
      return 4;
    case Kind::kVector3:
      return 24;
    case Kind::kVector6:
      return 48;
  }
  return 0;
}

// A controller's clock counts from its start, and a stream is of one start. It may stand for a
// while.
constexpr double kLongestGap_s = 60;
// Wider than any mode or set of bits that a controller has, far below what the bytes of a number
// that is read in the wrong place come to.
constexpr std::int32_t kMostMode = 64;
constexpr std::uint32_t kMostBits = 1U << 16;

bool follows(double time_s, double before_s) {
  return std::isfinite(time_s) && time_s >= before_s && time_s - before_s <= kLongestGap_s;
}

// Where a package was cut, the next one begins inside what is taken for its rest: its header, and
// behind it a time a little later than this package's own. A body holds that by chance once in
// 2^48 bytes. Two cut packages of just one's size are found by nothing else: what follows them is
// in step again. Less than two bytes of the time are not looked at: of a package that was cut so
// late, no more than the last digits of its last number are lost.
bool holdsAnother(std::span<const std::uint8_t> package) {
  constexpr std::size_t kHead = kHeader + 1;
  constexpr std::size_t kLeast = 2;
  const double own_s = readF64(package.data() + kHead);
  for (std::size_t at = kHead; at + kHead + kLeast <= package.size(); ++at) {
    if (std::memcmp(package.data() + at, package.data(), kHead) != 0) {
      continue;
    }
    std::array<std::uint8_t, 8> time{};
    std::copy_n(package.begin() + kHead, time.size(), time.begin());
    const std::size_t there = std::min(time.size(), package.size() - at - kHead);
    std::copy_n(package.begin() + static_cast<std::ptrdiff_t>(at + kHead), there, time.begin());
    // The bytes that are not there are its own: the sum may be off by as much, to either side.
    if (std::abs(readF64(time.data()) - own_s) <= kLongestGap_s) {
      return true;
    }
  }
  return false;
}

bool isPlausible(const RtdeSample& sample) {
  const auto isMode = [](std::int32_t mode) { return mode >= -1 && mode <= kMostMode; };
  return isMode(sample.robot_mode) && isMode(sample.safety_mode) &&
         sample.runtime_state <= kMostBits && sample.robot_status_bits <= kMostBits &&
         sample.safety_status_bits <= kMostBits;
}

// What else may come while data flow: texts, and late answers.
bool isOther(std::uint8_t type, std::size_t size) {
  constexpr std::size_t kMostText = 1024;
  const bool known = type == kText || type == kVersion || type == kControllerVersion ||
                     type == kOutputs || type == kInputs || type == kStart || type == kPause;
  return known && size >= kHeader && size <= kMostText;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    parts.push_back(part);
  }
  return parts;
}

[[noreturn]] void protocolError(const Endpoint& endpoint, const std::string& what) {
  throw ArmError("arm_protocol", endpoint.text() + " " + what +
                                     ": check arm.host, and that the controller runs PolyScope 5");
}

}  // namespace

bool RtdeStream::serves(const std::string& variable) const {
  return std::find(names_.begin(), names_.end(), variable) != names_.end();
}

void RtdeStream::send(std::uint8_t type, const std::vector<std::uint8_t>& body, Deadline deadline) {
  std::vector<std::uint8_t> message(kHeader + body.size());
  message[0] = static_cast<std::uint8_t>(message.size() >> 8);
  message[1] = static_cast<std::uint8_t>(message.size());
  message[2] = type;
  std::copy(body.begin(), body.end(), message.begin() + kHeader);
  client_.writeAll(std::span<const std::uint8_t>(message), deadline);
}

std::vector<std::uint8_t> RtdeStream::receiveType(std::uint8_t type, Deadline deadline) {
  for (;;) {
    std::array<std::uint8_t, kHeader> header{};
    client_.readExact(header, deadline);
    const std::size_t size = readU16(header.data());
    if (size < kHeader) {
      protocolError(client_.endpoint(),
                    "sent an RTDE header of " + std::to_string(size) + " bytes");
    }
    std::vector<std::uint8_t> body(size - kHeader);
    client_.readExact(body, deadline);
    if (header[2] == type) {
      return body;
    }
    if (header[2] != 'M' && header[2] != kData) {
      protocolError(client_.endpoint(), "answered with RTDE message type " +
                                            std::to_string(header[2]) + " in place of " +
                                            std::to_string(type));
    }
  }
}

RtdeStream RtdeStream::connect(const std::string& host,
                               int port,
                               double rate_hz,
                               double timeout_s,
                               bool upper_registers) {
  std::vector<std::string> missing;
  RtdeStream stream = connectWith(host, port, rate_hz, timeout_s, upper_registers, {}, missing);
  if (!missing.empty()) {
    std::vector<std::string> still_missing;
    stream.client_.close();
    stream = connectWith(host, port, rate_hz, timeout_s, upper_registers, missing, still_missing);
    if (!still_missing.empty()) {
      protocolError(stream.client_.endpoint(), "does not serve " + still_missing.front());
    }
  }
  return stream;
}

RtdeStream RtdeStream::connectWith(const std::string& host,
                                   int port,
                                   double rate_hz,
                                   double timeout_s,
                                   bool upper_registers,
                                   const std::vector<std::string>& without,
                                   std::vector<std::string>& missing) {
  const Deadline deadline = Deadline::in(timeout_s);
  RtdeStream stream;
  stream.client_ = TcpClient::connect({host, port, "the real-time interface (RTDE)"}, deadline);
  const Endpoint& endpoint = stream.client_.endpoint();
  stream.send(kVersion, {0, 2}, deadline);
  const auto accepted = stream.receiveType(kVersion, deadline);
  if (accepted.size() != 1 || accepted[0] != 1) {
    protocolError(endpoint, "refuses RTDE version 2");
  }
  stream.send(kControllerVersion, {}, deadline);
  const auto version = stream.receiveType(kControllerVersion, deadline);
  if (version.size() != 16) {
    protocolError(endpoint, "sent no controller version");
  }
  stream.version_ = {readU32(version.data()), readU32(version.data() + 4),
                     readU32(version.data() + 8), readU32(version.data() + 12)};

  std::vector<std::uint8_t> request(8);
  writeF64(request.data(), rate_hz);
  for (std::size_t i = 0; i < kVariables.size(); ++i) {
    const Variable& variable = kVariables[i];
    if (std::find(without.begin(), without.end(), variable.name) != without.end()) {
      continue;
    }
    if (!stream.names_.empty()) {
      request.push_back(',');
    }
    const bool script = variable.offset == offsetof(RtdeSample, script_state);
    const std::string name = script && !upper_registers ? "output_int_register_0" : variable.name;
    request.insert(request.end(), name.begin(), name.end());
    stream.names_.push_back(name);
    stream.order_.push_back(static_cast<std::uint8_t>(i));
    stream.packet_size_ += sizeOf(variable.kind);
  }
  stream.send(kOutputs, request, deadline);
  const auto answer = stream.receiveType(kOutputs, deadline);
  const std::vector<std::string> types = answer.empty()
                                             ? std::vector<std::string>()
                                             : split(std::string(answer.begin() + 1, answer.end()));
  if (types.size() != stream.names_.size()) {
    protocolError(endpoint, "answered the subscription with " + std::to_string(types.size()) +
                                " types for " + std::to_string(stream.names_.size()) +
                                " variables");
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Variable& variable = kVariables[stream.order_[i]];
    if (types[i] == variable.type) {
      continue;
    }
    if (types[i] != "NOT_FOUND" || variable.required) {
      protocolError(endpoint,
                    "serves " + stream.names_[i] + " as " + types[i] + ", not " + variable.type);
    }
    missing.push_back(stream.names_[i]);
  }
  if (!missing.empty()) {
    return stream;
  }
  stream.recipe_ = answer[0];
  stream.send(kStart, {}, deadline);
  const auto started = stream.receiveType(kStart, deadline);
  if (started.size() != 1 || started[0] != 1) {
    protocolError(endpoint, "would not start its data");
  }
  return stream;
}

void RtdeStream::decode(const std::uint8_t* body, RtdeSample& sample) const noexcept {
  auto* bytes = reinterpret_cast<std::uint8_t*>(&sample);
  const auto storeDouble = [bytes](std::size_t offset, double value) {
    std::memcpy(bytes + offset, &value, sizeof(value));
  };
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  sample.payload_kg = unknown;
  sample.payload_cog_m.fill(unknown);
  sample.X_flange_tcp.fill(unknown);
  sample.tool_acceleration_m_s2.fill(unknown);
  for (const std::uint8_t index : order_) {
    const Variable& variable = kVariables[index];
    const std::size_t size = sizeOf(variable.kind);
    if (variable.kind == Kind::kInt32 || variable.kind == Kind::kUint32) {
      const std::uint32_t value = readU32(body);
      std::memcpy(bytes + variable.offset, &value, sizeof(value));
    } else {
      for (std::size_t at = 0; at < size; at += 8) {
        storeDouble(variable.offset + at, readF64(body + at));
      }
    }
    body += size;
  }
}

RtdeStream::End RtdeStream::receiveNow(RtdeSample& newest, std::uint64_t& skipped) noexcept {
  bool fresh = false;
  for (;;) {
    std::size_t got = 0;
    const auto read = client_.readNow(std::span(buffer_).subspan(filled_), got);
    filled_ += got;
    const std::uint8_t* last = nullptr;
    std::size_t at = 0;
    while (filled_ - at >= kHeader) {
      const std::size_t size = readU16(buffer_.data() + at);
      const std::uint8_t type = buffer_[at + 2];
      // Judged as soon as it is there: where a package was cut, what follows begins in the middle
      // of a number, and the package before it, filled up with the start of another, is no state.
      if (type == kData ? size != kHeader + 1 + packet_size_ : !isOther(type, size)) {
        return End::kGarbage;
      }
      if (filled_ - at < size) {
        break;
      }
      if (type == kData) {
        const double time_s = readF64(buffer_.data() + at + kHeader + 1);
        if (buffer_[at + kHeader] != recipe_ || !follows(time_s, newest_time_s_.value_or(time_s)) ||
            holdsAnother(std::span(buffer_).subspan(at, size))) {
          return End::kGarbage;
        }
        newest_time_s_ = time_s;
        skipped += fresh ? 1 : 0;
        fresh = true;
        last = buffer_.data() + at + kHeader + 1;
      }
      at += size;
    }
    if (last != nullptr) {
      RtdeSample decoded;
      decode(last, decoded);
      if (!isPlausible(decoded)) {
        return End::kGarbage;
      }
      newest = decoded;
    }
    std::memmove(buffer_.data(), buffer_.data() + at, filled_ - at);
    filled_ -= at;
    switch (read) {
      case TcpClient::ReadEnd::kData:
        break;
      case TcpClient::ReadEnd::kNothing:
        return fresh ? End::kSample : End::kNothing;
      case TcpClient::ReadEnd::kClosed:
        return End::kClosed;
      case TcpClient::ReadEnd::kReset:
        return End::kReset;
    }
  }
}

RtdeSample RtdeStream::receive(double timeout_s) {
  const Deadline deadline = Deadline::in(timeout_s);
  RtdeSample sample;
  std::uint64_t skipped = 0;
  for (;;) {
    switch (receiveNow(sample, skipped)) {
      case End::kSample:
        return sample;
      case End::kClosed:
      case End::kReset:
        throw ArmError("arm_link_lost", client_.endpoint().text() +
                                            " ended the connection: look at the controller's log");
      case End::kGarbage:
        protocolError(client_.endpoint(), "sent data that were not subscribed");
      case End::kNothing:
        break;
    }
    if (deadline.passed()) {
      throw ArmError("arm_silent", client_.endpoint().text() +
                                       " started its data but sends none: the controller hangs; "
                                       "restart it");
    }
    timespec pause = toTimespec(500'000);
    nanosleep(&pause, nullptr);
  }
}

}  // namespace s2r::arm
