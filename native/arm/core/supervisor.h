// The arm's cycle: supervisor, trajectory player, tracker, gate and guards in one step every 2 ms.
#pragma once

#include <memory>

#include "native/arm/core/config.h"
#include "native/arm/core/cycle.h"

namespace s2r::arm {

// Owned by one thread, which calls step() once each period. The constructor allocates, step() never
// does.
class Supervisor {
 public:
  explicit Supervisor(
      const CoreConfig& config);  // throws std::invalid_argument with the text of validate()
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Writes every field of `output`.
  Result step(const CycleInput& input, CycleOutput& output) noexcept;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> self_;
};

}  // namespace s2r::arm
