#include "backends/emulators/ur-controller/script_recogniser.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <utility>

#include "backends/emulators/ur-controller/path_script.h"
#include "backends/emulators/ur-controller/register_program.h"
#include "backends/emulators/ur-controller/statement_program.h"

namespace s2r::ur {

namespace {

constexpr std::size_t kLongestProgram = 4 * 1024 * 1024;

std::string firstWord(const std::string& line) {
  const auto end = std::find_if(line.begin(), line.end(),
                                [](unsigned char c) { return !std::isalnum(c) && c != '_'; });
  return {line.begin(), end};
}

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back(withoutComment(std::string_view(text).substr(from, end - from)));
    from = end + 1;
  }
  return lines;
}

// `global name = # remark` with the number on the next line, or the number on the same line.
std::optional<int> offsetIn(const std::string& text, const std::string& name) {
  const auto skipBlanks = [&text](std::size_t at) {
    return std::min(text.find_first_not_of(" \t\n", at), text.size());
  };
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos;) {
    at = skipBlanks(at + name.size());
    if (at >= text.size() || text[at] != '=') {
      continue;
    }
    at = skipBlanks(at + 1);
    if (at < text.size() && text[at] == '#') {
      at = skipBlanks(std::min(text.find('\n', at), text.size()));
    }
    int number = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (error == std::errc{}) {
      return number;
    }
  }
  return std::nullopt;
}

bool isRegisterScript(const std::string& text) {
  for (const char* part : {"def rtde_cmd()", "def process_cmd(", "def exec_move_path()",
                           "read_input_integer_register(", "reg_offset_int"}) {
    if (text.find(part) == std::string::npos) {
      return false;
    }
  }
  return true;
}

RecognisedScript registerScript(const std::string& text) {
  const std::optional<int> ints = offsetIn(text, "reg_offset_int");
  const std::optional<int> floats = offsetIn(text, "reg_offset_float");
  if (!ints || !floats || (*ints != 0 && *ints != 24) || (*floats != 0 && *floats != 24)) {
    return {nullptr, "register control script without register offsets of 0 or 24"};
  }
  std::vector<ScriptMove> path;
  int progress = -1;
  const std::size_t begin = text.find("def exec_move_path()");
  for (const std::string& line :
       linesOf(text.substr(begin, text.find("\n    end", begin) - begin))) {
    if (line.empty() || line.starts_with("def ") || line.starts_with("textmsg(")) {
      continue;
    }
    const std::optional<ScriptCall> call = parseCall(line);
    const std::optional<ScriptMove> move = call ? moveOf(*call) : std::nullopt;
    if (move) {
      path.push_back(*move);
      path.back().progress = std::exchange(progress, -1);
    } else if (call && call->name == "signal_async_progress" && call->arguments.size() == 1) {
      progress = static_cast<int>(call->arguments[0].number);
    } else {
      return {nullptr, "line of a path not understood: " + line};
    }
  }
  return {std::make_unique<RegisterProgram>(*ints, *floats, std::move(path)), ""};
}

}  // namespace

std::vector<std::string> ScriptSplitter::push(std::string_view bytes) {
  std::vector<std::string> programs;
  for (const char c : bytes) {
    if (line_.size() + program_.size() > kLongestProgram) {  // no script: forget it
      line_.clear();
      program_.clear();
      depth_ = 0;
    }
    line_.push_back(c);
    if (c != '\n') {
      continue;
    }
    const std::string line = withoutComment(line_);
    const std::string word = firstWord(line);
    const bool program = depth_ > 0;
    if (word == "def" || word == "sec" || word == "thread" || word == "while" || word == "if" ||
        word == "for") {
      ++depth_;
    } else if (word == "end") {
      depth_ = std::max(0, depth_ - 1);
    }
    if (program || depth_ > 0) {
      program_ += line_;
      if (depth_ == 0) {
        programs.push_back(std::move(program_));
        program_.clear();
      }
    } else if (!line.empty()) {
      programs.push_back(line_);
    }
    line_.clear();
  }
  return programs;
}

RecognisedScript recogniseScript(const std::string& text) {
  if (isRegisterScript(text)) {
    return registerScript(text);
  }
  std::vector<std::string> lines = linesOf(text);
  std::erase_if(lines, [](const std::string& line) { return line.empty(); });
  std::string name = "line";
  if (!lines.empty() && lines.front().starts_with("def ")) {
    name = firstWord(lines.front().substr(4));
    if (lines.back() != "end") {
      return {nullptr, "program without an end"};
    }
    lines.erase(lines.begin());
    lines.pop_back();
  }
  std::vector<ScriptCall> calls;
  for (const std::string& line : lines) {
    std::optional<ScriptCall> call = parseCall(line);
    if (!call || !StatementProgram::understands(*call)) {
      return {nullptr, "script not understood at: " + line.substr(0, 120)};
    }
    calls.push_back(std::move(*call));
  }
  return {std::make_unique<StatementProgram>(name, std::move(calls)), ""};
}

}  // namespace s2r::ur
