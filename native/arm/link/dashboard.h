// Dashboard server of the controller (port 29999): one line asked, one line answered.
#pragma once

#include <string>

#include "native/arm/link/tcp_client.h"

namespace s2r::arm {

class Dashboard {
 public:
  // Connects and reads the banner; arm_protocol where it is no dashboard's.
  static Dashboard connect(const std::string& host, int port, double timeout_s);

  // The answer to one command, by `timeout_s`.
  std::string ask(const std::string& command, double timeout_s = 2.0);

  // "is in remote control" -> true; also true where the version has no such command (before 5.6).
  [[nodiscard]] bool inRemoteControl();
  // "PolyscopeVersion" -> "5.17.0.128113".
  [[nodiscard]] std::string polyscopeVersion();
  [[nodiscard]] std::string serialNumber();
  // Asks the program to end; arm_refused with the controller's words where it does not.
  void stopProgram();
  void closeSafetyPopup();
  // Asks to leave a protective stop; arm_refused with the controller's words (the lock-out of 5 s).
  void unlockProtectiveStop();

 private:
  explicit Dashboard(TcpClient client) : client_(std::move(client)) {}
  TcpClient client_;
};

}  // namespace s2r::arm
