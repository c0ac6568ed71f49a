#include "native/gripper/json_stream.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace s2r::gripper {
namespace {

bool isSpace(uint8_t byte) {
  return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

bool isBare(uint8_t byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
         (byte >= 'A' && byte <= 'Z') || byte == '-' || byte == '+' || byte == '.';
}

std::optional<double> numberOf(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

// "0x40", as the device writes it; a plain number too.
std::optional<uint32_t> bitsOf(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

}  // namespace

void JsonStream::reset() {
  object_.clear();
  levels_.clear();
}

void JsonStream::startObject() {
  levels_.clear();
  levels_.emplace_back();
  expect_ = Expect::kKeyOrEnd;
  token_ = Token::kNone;
  escaped_ = false;
  text_.clear();
  report_ = {};
  motor_ = {};
  motor_fields_ = 0;
  pending_status_ = {};
}

void JsonStream::feed(const uint8_t* data, size_t size, std::vector<Report>& out) {
  counters_.bytes += size;
  // A given-up object is read again from its second byte, before the bytes that follow it. Each
  // re-reading drops at least one byte, and grammar errors show within a short prefix.
  std::vector<uint8_t> again;
  size_t again_at = 0;
  size_t at = 0;
  while (again_at < again.size() || at < size) {
    const uint8_t byte = again_at < again.size() ? again[again_at++] : data[at++];
    if (object_.empty()) {
      if (byte == '{') {
        object_.push_back(byte);
        startObject();
      } else if (!isSpace(byte)) {
        ++counters_.noise_bytes;
      }
      continue;
    }
    object_.push_back(byte);
    Result result = step(byte);
    if (result == Result::kMore && object_.size() >= kMaxObjectBytes)
      result = Result::kBad;
    if (result == Result::kMore)
      continue;
    if (result == Result::kDone) {
      if (motor_fields_ == 7)
        report_.motor = motor_;
      const bool known = report_.motor || report_.status || report_.version || report_.other_device;
      if (known)
        out.push_back(std::move(report_));
      ++(known ? counters_.reports : counters_.unknown);
      object_.clear();
      continue;
    }
    ++counters_.syntax_errors;
    const auto next = std::find(object_.begin() + 1, object_.end(), '{');
    std::vector<uint8_t> rest(next, object_.end());
    rest.insert(rest.end(), again.begin() + static_cast<ptrdiff_t>(again_at), again.end());
    again = std::move(rest);
    again_at = 0;
    object_.clear();
  }
}

JsonStream::Result JsonStream::step(uint8_t byte) {
  if (token_ == Token::kString)
    return stepString(byte);
  if (token_ == Token::kBare) {
    if (isBare(byte)) {
      text_.push_back(static_cast<char>(byte));
      return text_.size() > kMaxStringBytes ? Result::kBad : Result::kMore;
    }
    token_ = Token::kNone;
    if (!endValue(false))
      return Result::kBad;
  }
  return isSpace(byte) ? Result::kMore : stepStructure(byte);
}

JsonStream::Result JsonStream::stepString(uint8_t byte) {
  // A raw line end inside a string is how half an object shows itself first.
  if (byte < 0x20 || text_.size() > kMaxStringBytes)
    return Result::kBad;
  if (escaped_) {
    escaped_ = false;
    text_.push_back(static_cast<char>(byte));
    return Result::kMore;
  }
  if (byte == '\\') {
    escaped_ = true;
    return Result::kMore;
  }
  if (byte != '"') {
    // Whatever was not ASCII was not sent by the gripper; it never becomes text of ours.
    text_.push_back(byte < 0x7F ? static_cast<char>(byte) : '?');
    return Result::kMore;
  }
  token_ = Token::kNone;
  if (string_is_key_) {
    levels_.back().key = text_;
    expect_ = Expect::kColon;
    return Result::kMore;
  }
  return endValue(true) ? Result::kMore : Result::kBad;
}

JsonStream::Result JsonStream::stepStructure(uint8_t byte) {
  Level& level = levels_.back();
  switch (byte) {
    case '{':
      return open(false);
    case '[':
      return open(true);
    case '}':
      return close(false);
    case ']':
      return close(true);
    case ':':
      if (expect_ != Expect::kColon)
        return Result::kBad;
      expect_ = Expect::kValue;
      return Result::kMore;
    case ',':
      if (expect_ != Expect::kCommaOrEnd)
        return Result::kBad;
      expect_ = level.is_array ? Expect::kValue : Expect::kKeyOrEnd;
      return Result::kMore;
    case '"':
      if (expect_ != Expect::kKeyOrEnd && expect_ != Expect::kValue)
        return Result::kBad;
      string_is_key_ = expect_ == Expect::kKeyOrEnd;
      token_ = Token::kString;
      escaped_ = false;
      text_.clear();
      return Result::kMore;
    default:
      if (expect_ != Expect::kValue || !isBare(byte))
        return Result::kBad;
      token_ = Token::kBare;
      text_.assign(1, static_cast<char>(byte));
      return Result::kMore;
  }
}

JsonStream::Result JsonStream::open(bool is_array) {
  if (expect_ != Expect::kValue || levels_.size() >= kMaxDepth)
    return Result::kBad;
  levels_.push_back({is_array, {}});
  expect_ = is_array ? Expect::kValue : Expect::kKeyOrEnd;
  return Result::kMore;
}

JsonStream::Result JsonStream::close(bool is_array) {
  if (levels_.back().is_array != is_array)
    return Result::kBad;
  // kKeyOrEnd (or kValue in an array) is an empty one or a trailing comma: both are seen in the
  // field.
  const bool may_end =
      expect_ == Expect::kCommaOrEnd || expect_ == (is_array ? Expect::kValue : Expect::kKeyOrEnd);
  if (!may_end)
    return Result::kBad;
  levels_.pop_back();
  expect_ = Expect::kCommaOrEnd;
  return levels_.empty() ? Result::kDone : Result::kMore;
}

bool JsonStream::endValue(bool is_string) {
  if (!is_string && !numberOf(text_) && text_ != "true" && text_ != "false" && text_ != "null") {
    return false;
  }
  store(text_, is_string);
  expect_ = Expect::kCommaOrEnd;
  return true;
}

void JsonStream::store(std::string_view text, bool is_string) {
  if (levels_.back().is_array)
    return;
  const std::string& key = levels_.back().key;
  const std::string& top = levels_.front().key;
  if (top == "AS5047" || top == "IMU")
    report_.other_device = true;
  if (levels_.size() == 1) {
    if (key == "Version")
      report_.version = std::string(text);
    return;
  }
  if (levels_.size() != 2 || levels_.front().is_array)
    return;
  const std::optional<double> number = numberOf(text);
  if (top == "motor" && !is_string && number) {
    if (key == "Speed") {
      motor_.speed_rad_s = *number;
      motor_fields_ |= 1;
    } else if (key == "Current") {
      motor_.current_a = *number / 1000.0;
      motor_fields_ |= 2;
    } else if (key == "Position") {
      motor_.angle_rad = *number;
      motor_fields_ |= 4;
    }
  } else if (top == "motorstatus") {
    // A status without its bits is no status: they are what makes it one.
    MotorStatus status = report_.status.value_or(pending_status_);
    if (key == "Status") {
      if (const auto bits = bitsOf(text)) {
        status.bits = *bits;
        report_.status = status;
      }
      return;
    }
    if (!number)
      return;
    if (key == "Voltage")
      status.voltage_v = number;
    if (key == "DriverTemp")
      status.driver_temperature_c = number;
    if (key == "MotorTemp")
      status.motor_temperature_c = number;
    if (key == "BusCurrent")
      status.bus_current_a = *number / 1000.0;
    (report_.status ? *report_.status : pending_status_) = status;
  }
}

}  // namespace s2r::gripper
