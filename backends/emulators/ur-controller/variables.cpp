#include "backends/emulators/ur-controller/variables.h"

#include <cstddef>

#include "backends/emulators/ur-controller/wire.h"

namespace s2r::ur {

std::string_view typeName(VariableType type) {
  switch (type) {
    case VariableType::kBool:
      return "BOOL";
    case VariableType::kUint8:
      return "UINT8";
    case VariableType::kUint32:
      return "UINT32";
    case VariableType::kUint64:
      return "UINT64";
    case VariableType::kInt32:
      return "INT32";
    case VariableType::kDouble:
      return "DOUBLE";
    case VariableType::kVector3d:
      return "VECTOR3D";
    case VariableType::kVector6d:
      return "VECTOR6D";
    case VariableType::kVector6Int32:
      return "VECTOR6INT32";
  }
  return "NOT_FOUND";
}

std::size_t Variable::elements() const {
  switch (type) {
    case VariableType::kVector3d:
      return 3;
    case VariableType::kVector6d:
    case VariableType::kVector6Int32:
      return 6;
    default:
      return 1;
  }
}

std::size_t Variable::elementSize() const {
  switch (type) {
    case VariableType::kBool:
    case VariableType::kUint8:
      return 1;
    case VariableType::kUint32:
    case VariableType::kInt32:
    case VariableType::kVector6Int32:
      return 4;
    default:
      return 8;
  }
}

VariableTable::VariableTable() {
  using enum VariableType;
  const auto out = [this](const char* name, VariableType type, std::size_t offset) {
    outputs_[name] = {type, offset};
  };
#define S2R_OUT(name, type) out(#name, type, offsetof(StateFrame, name))
  S2R_OUT(timestamp, kDouble);
  S2R_OUT(target_q, kVector6d);
  S2R_OUT(target_qd, kVector6d);
  S2R_OUT(target_qdd, kVector6d);
  S2R_OUT(target_current, kVector6d);
  S2R_OUT(target_moment, kVector6d);
  S2R_OUT(actual_q, kVector6d);
  S2R_OUT(actual_qd, kVector6d);
  S2R_OUT(actual_current, kVector6d);
  S2R_OUT(actual_current_as_torque, kVector6d);
  S2R_OUT(joint_control_output, kVector6d);
  S2R_OUT(actual_TCP_pose, kVector6d);
  S2R_OUT(actual_TCP_speed, kVector6d);
  S2R_OUT(actual_TCP_force, kVector6d);
  S2R_OUT(target_TCP_pose, kVector6d);
  S2R_OUT(target_TCP_speed, kVector6d);
  S2R_OUT(actual_digital_input_bits, kUint64);
  S2R_OUT(actual_digital_output_bits, kUint64);
  S2R_OUT(joint_temperatures, kVector6d);
  S2R_OUT(actual_execution_time, kDouble);
  S2R_OUT(robot_mode, kInt32);
  S2R_OUT(joint_mode, kVector6Int32);
  S2R_OUT(safety_mode, kInt32);
  S2R_OUT(safety_status, kInt32);
  S2R_OUT(actual_tool_accelerometer, kVector3d);
  S2R_OUT(speed_scaling, kDouble);
  S2R_OUT(target_speed_fraction, kDouble);
  S2R_OUT(actual_momentum, kDouble);
  S2R_OUT(actual_main_voltage, kDouble);
  S2R_OUT(actual_robot_voltage, kDouble);
  S2R_OUT(actual_robot_current, kDouble);
  S2R_OUT(actual_joint_voltage, kVector6d);
  S2R_OUT(runtime_state, kUint32);
  S2R_OUT(robot_status_bits, kUint32);
  S2R_OUT(safety_status_bits, kUint32);
  S2R_OUT(elbow_position, kVector3d);
  S2R_OUT(elbow_velocity, kVector3d);
  S2R_OUT(analog_io_types, kUint32);
  S2R_OUT(standard_analog_input0, kDouble);
  S2R_OUT(standard_analog_input1, kDouble);
  S2R_OUT(standard_analog_output0, kDouble);
  S2R_OUT(standard_analog_output1, kDouble);
  S2R_OUT(io_current, kDouble);
  S2R_OUT(tool_mode, kUint32);
  S2R_OUT(tool_analog_input_types, kUint32);
  S2R_OUT(tool_analog_input0, kDouble);
  S2R_OUT(tool_analog_input1, kDouble);
  S2R_OUT(tool_output_voltage, kInt32);
  S2R_OUT(tool_output_current, kDouble);
  S2R_OUT(tool_temperature, kDouble);
  S2R_OUT(tcp_force_scalar, kDouble);
  S2R_OUT(ft_raw_wrench, kVector6d);
  S2R_OUT(tcp_offset, kVector6d);
  S2R_OUT(payload, kDouble);
  S2R_OUT(payload_cog, kVector3d);
  S2R_OUT(payload_inertia, kVector6d);
  S2R_OUT(script_control_line, kUint32);
#undef S2R_OUT
  const std::size_t registers = offsetof(StateFrame, out), written = offsetof(StateFrame, in);
  out("output_bit_registers0_to_31", kUint32, registers + offsetof(OutputRegisters, bits_0_to_31));
  out("output_bit_registers32_to_63", kUint32,
      registers + offsetof(OutputRegisters, bits_32_to_63));
  const auto in = [&](const std::string& name, VariableType type, std::size_t offset,
                      bool readable) {
    inputs_[name] = {type, offset};
    if (readable) {
      outputs_[name] = {type, written + offset};
    }
  };
#define S2R_IN(name, type) in(#name, type, offsetof(Inputs, name), false)
  S2R_IN(speed_slider_mask, kUint32);
  S2R_IN(speed_slider_fraction, kDouble);
  S2R_IN(standard_digital_output_mask, kUint8);
  S2R_IN(standard_digital_output, kUint8);
  S2R_IN(configurable_digital_output_mask, kUint8);
  S2R_IN(configurable_digital_output, kUint8);
  S2R_IN(tool_digital_output_mask, kUint8);
  S2R_IN(tool_digital_output, kUint8);
  S2R_IN(standard_analog_output_mask, kUint8);
  S2R_IN(standard_analog_output_type, kUint8);
  S2R_IN(standard_analog_output_0, kDouble);
  S2R_IN(standard_analog_output_1, kDouble);
  S2R_IN(external_force_torque, kVector6d);
#undef S2R_IN
  in("input_bit_registers0_to_31", kUint32, offsetof(Inputs, bits_0_to_31), true);
  in("input_bit_registers32_to_63", kUint32, offsetof(Inputs, bits_32_to_63), true);
  for (std::size_t i = 0; i < 64; ++i) {
    const std::string n = std::to_string(64 + i);
    in("input_bit_register_" + n, kBool, offsetof(Inputs, bits_64_to_127) + i, true);
    outputs_["output_bit_register_" + n] = {
        kBool, registers + offsetof(OutputRegisters, bits_64_to_127) + i};
  }
  for (std::size_t i = 0; i < kRegisters; ++i) {
    const std::string n = std::to_string(i);
    in("input_int_register_" + n, kInt32, offsetof(Inputs, ints) + 4 * i, true);
    in("input_double_register_" + n, kDouble, offsetof(Inputs, doubles) + 8 * i, true);
    outputs_["output_int_register_" + n] = {kInt32,
                                            registers + offsetof(OutputRegisters, ints) + 4 * i};
    outputs_["output_double_register_" + n] = {
        kDouble, registers + offsetof(OutputRegisters, doubles) + 8 * i};
  }
}

const Variable* VariableTable::output(std::string_view name) const {
  const auto found = outputs_.find(std::string(name));
  return found == outputs_.end() ? nullptr : &found->second;
}

const Variable* VariableTable::input(std::string_view name) const {
  const auto found = inputs_.find(std::string(name));
  return found == inputs_.end() ? nullptr : &found->second;
}

void encodeVariable(const Variable& variable, const void* base, std::string& out) {
  const auto* bytes = static_cast<const char*>(base) + variable.offset;
  const std::size_t size = variable.elementSize();
  for (std::size_t i = 0; i < variable.elements(); ++i) {
    appendSwapped(out, bytes + i * size, size);
  }
}

void decodeVariable(const Variable& variable, std::string_view bytes, std::size_t at, void* base) {
  auto* target = static_cast<char*>(base) + variable.offset;
  const std::size_t size = variable.elementSize();
  for (std::size_t i = 0; i < variable.elements(); ++i) {
    for (std::size_t b = 0; b < size; ++b) {
      target[i * size + b] = bytes[at + i * size + size - 1 - b];
    }
  }
}

}  // namespace s2r::ur
