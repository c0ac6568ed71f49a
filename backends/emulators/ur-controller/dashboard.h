// The dashboard server: one line in, one line out.
#pragma once

#include <string>
#include <string_view>

#include "backends/emulators/ur-controller/controller.h"

namespace s2r::ur {

// What the pendant's screen keeps beside the controller.
struct DashboardState {
  std::string loaded_program, popup, user_role = "PROGRAMMER", operational_mode = "NONE";
  bool safety_popup = false;
  int reports = 0;
};

struct DashboardAnswer {
  std::string line;
  bool close = false;      // quit
  bool shut_down = false;  // the controller goes off
};

inline constexpr std::string_view kDashboardBanner = "Connected: Universal Robots Dashboard Server";

[[nodiscard]] DashboardAnswer answerDashboard(std::string_view line,
                                              Controller& controller,
                                              DashboardState& state);

}  // namespace s2r::ur
