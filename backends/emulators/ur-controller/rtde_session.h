// One client of the real-time data exchange, protocol versions 1 and 2, bytes in and bytes out.
//
// Packages are big-endian: u16 size (header included), u8 type. V protocol version, v controller
// version, O output set-up, I input set-up, S start, P pause, U data, M text. An input variable
// belongs to the connection that set it up first, until that closes: others are told IN_USE.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backends/emulators/ur-controller/controller.h"
#include "backends/emulators/ur-controller/variables.h"

namespace s2r::ur {

// Which connection may write which input variable.
class InputOwners {
 public:
  [[nodiscard]] bool mayTake(const std::string& name, int connection) const {
    const auto found = owners_.find(name);
    return found == owners_.end() || found->second == connection;
  }
  void take(const std::string& name, int connection) { owners_[name] = connection; }
  void release(int connection) {
    std::erase_if(owners_, [connection](const auto& entry) { return entry.second == connection; });
  }

 private:
  std::unordered_map<std::string, int> owners_;
};

class RtdeSession {
 public:
  RtdeSession(int id, const VariableTable& table, InputOwners& owners, Controller& controller)
      : id_(id), table_(table), owners_(owners), controller_(controller) {}
  ~RtdeSession() { owners_.release(id_); }
  RtdeSession(const RtdeSession&) = delete;
  RtdeSession& operator=(const RtdeSession&) = delete;

  // Handles what has arrived; answers are appended to `out`. The lock of the controller is held.
  // With `lose`, input data packages are thrown away where it says so.
  template <typename Lose>
  void receive(std::string_view bytes, double arrival_s, std::string& out, Lose lose) {
    in_.append(bytes);
    while (in_.size() >= 3) {
      const std::size_t size = packageSize();
      if (size < 3) {  // nothing that follows can be found again
        broken_ = true;
        return;
      }
      if (in_.size() < size) {
        return;
      }
      const std::string package = in_.substr(0, size);
      in_.erase(0, size);
      if (package[2] == 'U' && lose()) {
        continue;
      }
      handle(package[2], std::string_view(package).substr(3), arrival_s, out);
    }
  }

  // Appends the data package of this cycle when one is due.
  void cycle(const StateFrame& frame, std::string& out);
  void text(const Text& message, std::string& out) const;
  [[nodiscard]] bool started() const { return started_; }
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  struct InputRecipe {
    std::vector<Variable> variables;
    std::size_t size = 0;
    std::vector<int> int_registers;
    int command_register = -1;  // 0 or 24 when the recipe writes one of them
    bool slider = false, digital = false, analog = false;
  };

  [[nodiscard]] std::size_t packageSize() const;
  void handle(char type, std::string_view body, double arrival_s, std::string& out);
  void setUpOutputs(std::string_view body, std::string& out);
  void setUpInputs(std::string_view body, std::string& out);
  void writeInputs(std::string_view body, double arrival_s, std::string& out);
  void complain(TextLevel level, const std::string& message, std::string& out) const;

  int id_;
  const VariableTable& table_;
  InputOwners& owners_;
  Controller& controller_;
  std::string in_;
  int protocol_ = 1;
  bool started_ = false, broken_ = false;
  std::vector<Variable> outputs_;
  double frequency_hz_ = 125;
  double due_ = 0;  // packages owed, counted up by the cycles
  std::uint64_t last_cycle_ = 0;
  std::vector<InputRecipe> inputs_;
};

}  // namespace s2r::ur
