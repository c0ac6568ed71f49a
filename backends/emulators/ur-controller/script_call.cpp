#include "backends/emulators/ur-controller/script_call.h"

#include <cctype>
#include <charconv>

namespace s2r::ur {

namespace {

std::string_view trim(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) {
    s.remove_prefix(1);
  }
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) {
    s.remove_suffix(1);
  }
  return s;
}

bool isName(std::string_view s) {
  if (s.empty() || std::isdigit(static_cast<unsigned char>(s.front()))) {
    return false;
  }
  for (const char c : s) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') {
      return false;
    }
  }
  return true;
}

// Position of `wanted` outside quotes and brackets, or npos.
std::size_t findTop(std::string_view s, char wanted, std::size_t from = 0) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = from; i < s.size(); ++i) {
    if (s[i] == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      if (depth == 0 && s[i] == wanted) {
        return i;
      }
      depth += s[i] == '(' || s[i] == '[';
      depth -= s[i] == ')' || s[i] == ']';
    }
  }
  return std::string_view::npos;
}

std::vector<std::string_view> splitTop(std::string_view s) {
  std::vector<std::string_view> parts;
  if (trim(s).empty()) {
    return parts;
  }
  for (std::size_t from = 0;;) {
    const std::size_t comma = findTop(s, ',', from);
    parts.push_back(trim(s.substr(from, comma - from)));
    if (comma == std::string_view::npos) {
      return parts;
    }
    from = comma + 1;
  }
}

std::optional<double> parseNumber(std::string_view s) {
  s = trim(s);
  if (s == "True" || s == "False") {
    return s == "True" ? 1 : 0;
  }
  double sum = 0;
  bool any = false;
  while (!s.empty()) {
    double sign = 1;
    while (!s.empty() && (s.front() == '+' || s.front() == '-')) {
      sign *= s.front() == '-' ? -1 : 1;
      s = trim(s.substr(1));
    }
    double value = 0;
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
    if (error != std::errc{}) {
      return std::nullopt;
    }
    sum += sign * value;
    any = true;
    s = trim(s.substr(static_cast<std::size_t>(end - s.data())));
    if (!s.empty() && s.front() != '+' && s.front() != '-') {
      return std::nullopt;
    }
  }
  return any ? std::optional(sum) : std::nullopt;
}

std::optional<ScriptValue> parseValue(std::string_view s) {
  ScriptValue value;
  if (s.size() >= 2 && s.front() == '"' && s.back() == '"') {
    value.kind = ScriptValue::Kind::kText;
    value.text = std::string(s.substr(1, s.size() - 2));
    return value;
  }
  const bool pose = s.starts_with("p[");
  if ((pose || s.starts_with("[")) && s.ends_with("]")) {
    value.kind = pose ? ScriptValue::Kind::kPose : ScriptValue::Kind::kList;
    for (const std::string_view part :
         splitTop(s.substr(pose ? 2 : 1, s.size() - (pose ? 3 : 2)))) {
      const std::optional<double> number = parseNumber(part);
      if (!number) {
        return std::nullopt;
      }
      value.list.push_back(*number);
    }
    if (pose && value.list.size() != 6) {
      return std::nullopt;
    }
    return value;
  }
  const std::optional<double> number = parseNumber(s);
  if (!number) {
    return std::nullopt;
  }
  value.number = *number;
  return value;
}

}  // namespace

double ScriptCall::number(std::string_view key, std::size_t position, double otherwise) const {
  for (const auto& [name_of, value] : named) {
    if (name_of == key) {
      return value.number;
    }
  }
  return position < arguments.size() ? arguments[position].number : otherwise;
}

std::string withoutComment(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    quoted ^= line[i] == '"';
    if (!quoted && line[i] == '#') {
      line = line.substr(0, i);
      break;
    }
  }
  return std::string(trim(line));
}

std::optional<ScriptCall> parseCall(std::string_view line) {
  const std::string text = withoutComment(line);
  const std::size_t open = text.find('(');
  if (open == std::string::npos || text.back() != ')') {
    return std::nullopt;
  }
  ScriptCall call;
  call.name = std::string(trim(std::string_view(text).substr(0, open)));
  if (!isName(call.name)) {
    return std::nullopt;
  }
  for (std::string_view part :
       splitTop(std::string_view(text).substr(open + 1, text.size() - open - 2))) {
    std::string key;
    const std::size_t equals = findTop(part, '=');
    if (equals != std::string_view::npos && isName(trim(part.substr(0, equals)))) {
      key = std::string(trim(part.substr(0, equals)));
      part = trim(part.substr(equals + 1));
    }
    const std::optional<ScriptValue> value = parseValue(part);
    if (!value) {
      return std::nullopt;
    }
    if (key.empty()) {
      call.arguments.push_back(*value);
    } else {
      call.named.emplace_back(key, *value);
    }
  }
  return call;
}

}  // namespace s2r::ur
