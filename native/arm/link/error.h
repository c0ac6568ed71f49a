// The one error of the link: a stable code and what the operator does next.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace s2r::arm {

class ArmError : public std::runtime_error {
 public:
  ArmError(std::string code, const std::string& message)
      : std::runtime_error(message), code_(std::move(code)) {}
  [[nodiscard]] const std::string& code() const { return code_; }

 private:
  std::string code_;
};

}  // namespace s2r::arm
