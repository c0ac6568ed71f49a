// Tells what an uploaded script is. No interpreter: three kinds are known.
//
// - The register control script: a program that takes its commands from the input registers by the
//   contract described in register_program.h. Recognised by its command reader, its dispatcher and
//   the two register offsets; the offsets and a path injected into it are read from the text.
// - A straight-line program: only calls with constant arguments out of the list in
//   statement_program.cpp.
// - A single such call outside any program.
// Everything else is refused, with the line that was not understood.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/emulators/ur-controller/robot.h"

namespace s2r::ur {

// Cuts a byte stream into complete programs (def .. end) and single lines.
class ScriptSplitter {
 public:
  // Appends bytes and returns the programs completed by them.
  [[nodiscard]] std::vector<std::string> push(std::string_view bytes);

 private:
  std::string line_, program_;
  int depth_ = 0;
};

struct RecognisedScript {
  std::unique_ptr<Program> program;  // empty: refused
  std::string refusal;
};

[[nodiscard]] RecognisedScript recogniseScript(const std::string& text);

}  // namespace s2r::ur
