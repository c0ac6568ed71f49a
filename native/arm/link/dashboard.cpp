#include "native/arm/link/dashboard.h"

#include <algorithm>
#include <cctype>

namespace s2r::arm {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool contains(const std::string& text, const char* part) {
  return lower(text).find(part) != std::string::npos;
}

}  // namespace

Dashboard Dashboard::connect(const std::string& host, int port, double timeout_s) {
  const Deadline deadline = Deadline::in(timeout_s);
  Dashboard dashboard(TcpClient::connect({host, port, "the dashboard"}, deadline));
  const std::string banner = dashboard.client_.readLine(deadline);
  if (!contains(banner, "dashboard")) {
    throw ArmError("arm_protocol", dashboard.client_.endpoint().text() + " greets with \"" +
                                       banner.substr(0, 80) +
                                       "\": this is no Universal Robots dashboard; check arm.host");
  }
  return dashboard;
}

std::string Dashboard::ask(const std::string& command, double timeout_s) {
  const Deadline deadline = Deadline::in(timeout_s);
  client_.writeAll(command + "\n", deadline);
  return client_.readLine(deadline);
}

bool Dashboard::inRemoteControl() {
  const std::string answer = ask("is in remote control");
  return contains(answer, "true") || contains(answer, "could not understand");
}

std::string Dashboard::polyscopeVersion() {
  const std::string answer = ask("PolyscopeVersion");
  const auto isVersionChar = [](unsigned char c) { return std::isdigit(c) || c == '.'; };
  const auto first = std::find_if(answer.begin(), answer.end(),
                                  [](unsigned char c) { return std::isdigit(c) != 0; });
  return {first, std::find_if_not(first, answer.end(), isVersionChar)};
}

std::string Dashboard::serialNumber() {
  return ask("get serial number");
}

void Dashboard::stopProgram() {
  const std::string answer = ask("stop", 5.0);
  if (!contains(answer, "stopped")) {
    throw ArmError("arm_refused", "the controller would not end its program: \"" + answer +
                                      "\"; end it on the pendant");
  }
}

void Dashboard::closeSafetyPopup() {
  (void)ask("close safety popup");
}

void Dashboard::unlockProtectiveStop() {
  const std::string answer = ask("unlock protective stop", 5.0);
  if (!contains(answer, "releasing")) {
    throw ArmError("arm_refused", "the controller keeps its protective stop: \"" + answer +
                                      "\"; clear the cause, wait 5 s and ask again");
  }
}

}  // namespace s2r::arm
