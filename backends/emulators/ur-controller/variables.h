// Names, types and places of the variables that the real-time data exchange can read and write.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "backends/emulators/ur-controller/state.h"

namespace s2r::ur {

enum class VariableType {
  kBool,
  kUint8,
  kUint32,
  kUint64,
  kInt32,
  kDouble,
  kVector3d,
  kVector6d,
  kVector6Int32,
};

[[nodiscard]] std::string_view typeName(VariableType type);

struct Variable {
  VariableType type = VariableType::kDouble;
  std::size_t offset = 0;  // in StateFrame (outputs) or Inputs
  [[nodiscard]] std::size_t elements() const;
  [[nodiscard]] std::size_t elementSize() const;
  [[nodiscard]] std::size_t size() const { return elements() * elementSize(); }
};

// Immutable after construction.
class VariableTable {
 public:
  VariableTable();
  [[nodiscard]] const Variable* output(std::string_view name) const;
  [[nodiscard]] const Variable* input(std::string_view name) const;

 private:
  std::unordered_map<std::string, Variable> outputs_, inputs_;
};

// Appends one variable of a frame in network order.
void encodeVariable(const Variable& variable, const void* base, std::string& out);
// Reads one variable from network order; `bytes` holds at least variable.size() from `at`.
void decodeVariable(const Variable& variable, std::string_view bytes, std::size_t at, void* base);

}  // namespace s2r::ur
