#include "backends/emulators/ur-controller/rtde_session.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "backends/emulators/ur-controller/wire.h"

namespace s2r::ur {

namespace {

constexpr std::size_t kMaxNames = 2048;
constexpr double kMinFrequency = 1, kMaxFrequency = 500, kVersion1Frequency = 125;

void package(std::string& out, char type, std::string_view body) {
  put(out, static_cast<std::uint16_t>(body.size() + 3));
  out.push_back(type);
  out.append(body);
}

std::string oneByte(bool accepted) {
  return std::string(1, accepted ? '\1' : '\0');
}

// Names between commas; one comma at the end is no empty name.
std::vector<std::string> namesOf(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    names.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return names;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) {
    out += (out.empty() ? "" : ",") + part;
  }
  return out;
}

}  // namespace

std::size_t RtdeSession::packageSize() const {
  return take<std::uint16_t>(in_, 0);
}

void RtdeSession::handle(char type, std::string_view body, double arrival_s, std::string& out) {
  switch (type) {
    case 'V': {
      const unsigned wanted = body.size() >= 2 ? take<std::uint16_t>(body, 0) : 0;
      const bool accepted = wanted == 1 || wanted == 2;
      if (accepted) {
        protocol_ = static_cast<int>(wanted);
      }
      package(out, 'V', oneByte(accepted));
      return;
    }
    case 'v': {
      const Version& version = controller_.options().version;
      std::string answer;
      for (const unsigned part : {version.major, version.minor, version.bugfix, version.build}) {
        put(answer, static_cast<std::uint32_t>(part));
      }
      package(out, 'v', answer);
      return;
    }
    case 'O':
      setUpOutputs(body, out);
      return;
    case 'I':
      setUpInputs(body, out);
      return;
    case 'S':
      started_ = !outputs_.empty();
      due_ = 1;  // the first package comes at once
      last_cycle_ = 0;
      package(out, 'S', oneByte(started_));
      if (!started_) {
        complain(TextLevel::kError, "start refused: no outputs are set up", out);
      }
      return;
    case 'P':
      started_ = false;
      package(out, 'P', oneByte(true));
      return;
    case 'U':
      writeInputs(body, arrival_s, out);
      return;
    case 'M':  // a client may write to the log
      return;
    default:
      complain(TextLevel::kWarning,
               "unknown package type " + std::to_string(static_cast<unsigned char>(type)), out);
  }
}

void RtdeSession::setUpOutputs(std::string_view body, std::string& out) {
  double frequency = kVersion1Frequency;
  if (protocol_ == 2) {
    if (body.size() < 8) {
      package(out, 'O', std::string(1, '\0'));
      complain(TextLevel::kError, "output set-up without a frequency", out);
      return;
    }
    frequency = take<double>(body, 0);
    body.remove_prefix(8);
  }
  const bool too_long = body.size() > kMaxNames;
  std::vector<std::string> types;
  std::vector<Variable> variables;
  bool valid = !too_long;
  for (const std::string& name : too_long ? std::vector<std::string>() : namesOf(body)) {
    const Variable* variable = table_.output(name);
    types.emplace_back(variable ? typeName(variable->type) : "NOT_FOUND");
    if (variable) {
      variables.push_back(*variable);
    } else {
      valid = false;
    }
  }
  valid = valid && !variables.empty();
  if (valid) {
    outputs_ = std::move(variables);
    frequency_hz_ = frequency >= kMinFrequency ? std::min(frequency, kMaxFrequency)
                                               : kMinFrequency;  // also where it is no number
  }
  std::string answer;
  if (protocol_ == 2) {
    answer.push_back(valid ? '\1' : '\0');
  }
  answer += too_long ? "NOT_FOUND" : joined(types);
  package(out, 'O', answer);
  if (too_long) {
    complain(TextLevel::kError, "list of outputs is longer than 2048 bytes", out);
  }
}

void RtdeSession::setUpInputs(std::string_view body, std::string& out) {
  if (body.size() > kMaxNames) {
    package(out, 'I', std::string(1, '\0') + "NOT_FOUND");
    complain(TextLevel::kError, "list of inputs is longer than 2048 bytes", out);
    return;
  }
  const std::vector<std::string> names = namesOf(body);
  InputRecipe recipe;
  std::vector<std::string> types;
  bool valid = !names.empty() && inputs_.size() < 255;
  for (const std::string& name : names) {
    const Variable* variable = table_.input(name);
    const bool free = owners_.mayTake(name, id_);
    types.emplace_back(!variable ? "NOT_FOUND" : free ? typeName(variable->type) : "IN_USE");
    if (!variable || !free) {
      valid = false;
      continue;
    }
    recipe.variables.push_back(*variable);
    recipe.size += variable->size();
    if (name.starts_with("input_int_register_")) {
      const int index = std::stoi(name.substr(19));
      recipe.int_registers.push_back(index);
      if (index == 0 || index == 24) {
        recipe.command_register = index;
      }
    }
    recipe.slider |= name.starts_with("speed_slider");
    recipe.digital |= name.find("digital_output") != std::string::npos;
    recipe.analog |= name.find("analog_output") != std::string::npos;
  }
  std::string answer;
  if (valid) {
    for (const std::string& name : names) {
      owners_.take(name, id_);
    }
    inputs_.push_back(std::move(recipe));
  }
  answer.push_back(valid ? static_cast<char>(inputs_.size()) : '\0');
  package(out, 'I', answer + joined(types));
}

void RtdeSession::writeInputs(std::string_view body, double arrival_s, std::string& out) {
  const std::size_t number = body.empty() ? 0 : static_cast<unsigned char>(body[0]);
  if (number == 0 || number > inputs_.size()) {
    complain(TextLevel::kWarning, "input data of unknown recipe " + std::to_string(number), out);
    return;
  }
  const InputRecipe& recipe = inputs_[number - 1];
  if (body.size() - 1 < recipe.size) {
    // As the controller does: what is missing keeps its value.
    complain(TextLevel::kWarning, "input data of recipe " + std::to_string(number) + " is short",
             out);
  }
  Inputs& inputs = controller_.inputs();
  std::size_t at = 1;
  for (const Variable& variable : recipe.variables) {
    if (at + variable.size() > body.size()) {
      break;
    }
    decodeVariable(variable, body, at, &inputs);
    at += variable.size();
  }
  for (const int index : recipe.int_registers) {
    controller_.feedWatchdog(index);
  }
  if (recipe.slider && inputs.speed_slider_mask != 0) {
    controller_.applySlider(inputs.speed_slider_fraction);
  }
  if (recipe.digital || recipe.analog) {
    controller_.applyOutputsFromInputs(recipe.digital, recipe.analog);
  }
  controller_.inputsWritten(recipe.command_register >= 0, std::max(0, recipe.command_register),
                            arrival_s);
}

void RtdeSession::cycle(const StateFrame& frame, std::string& out) {
  if (!started_) {
    return;
  }
  const std::uint64_t before = std::exchange(last_cycle_, frame.cycle);
  const std::uint64_t cycles = before == 0 ? 0 : frame.cycle - before;
  due_ += static_cast<double>(std::min<std::uint64_t>(cycles, 500)) * frequency_hz_ * kCycleS;
  if (due_ < 1 - 1e-9) {
    return;
  }
  due_ = std::fmod(due_ + 1e-9, 1.0);  // what could not be sent in time is left out
  std::string body;
  if (protocol_ == 2) {
    body.push_back('\1');
  }
  for (const Variable& variable : outputs_) {
    encodeVariable(variable, &frame, body);
  }
  package(out, 'U', body);
}

void RtdeSession::text(const Text& message, std::string& out) const {
  std::string body;
  if (protocol_ == 2) {
    const std::string shown = message.message.substr(0, 255), source = "Controller";
    body.push_back(static_cast<char>(shown.size()));
    body += shown;
    body.push_back(static_cast<char>(source.size()));
    body += source;
    body.push_back(static_cast<char>(message.level));
  } else {
    body.push_back(static_cast<char>(message.level));
    body += message.message;
  }
  package(out, 'M', body);
}

void RtdeSession::complain(TextLevel level, const std::string& message, std::string& out) const {
  text({level, 0, message}, out);
}

}  // namespace s2r::ur
