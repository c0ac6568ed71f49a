// One call of a script line: name and arguments. Understands numbers, sums of numbers, lists,
// poses, True and False, strings and named arguments: what recognised scripts consist of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace s2r::ur {

struct ScriptValue {
  enum class Kind { kNumber, kList, kPose, kText } kind = Kind::kNumber;
  double number = 0;
  std::vector<double> list;
  std::string text;
};

struct ScriptCall {
  std::string name;
  std::vector<ScriptValue> arguments;
  std::vector<std::pair<std::string, ScriptValue>> named;

  // By name, else by position, else the value given.
  [[nodiscard]] double number(std::string_view key, std::size_t position, double otherwise) const;
};

// Line without its comment, trimmed; a # inside quotes stays.
[[nodiscard]] std::string withoutComment(std::string_view line);
// Empty when the line is not such a call.
[[nodiscard]] std::optional<ScriptCall> parseCall(std::string_view line);

}  // namespace s2r::ur
