// All sockets of the controller, served by one thread.
#pragma once

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backends/emulators/ur-controller/connection.h"
#include "backends/emulators/ur-controller/process.h"

namespace s2r::ur {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int dashboard_port = 29999, rtde_port = 30004, script_port = 30003, secondary_port = 30002,
      primary_port = 30001;
};

class Server {
 public:
  // Binds every port (0: any free one); throws std::runtime_error with address and reason.
  Server(const ServerOptions& options, Process& process);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] int port(Port port) const;
  [[nodiscard]] int eventFd() const { return event_fd_; }
  // Runs until process.stop.
  void run();

 private:
  struct Listener {
    int fd;
    Port port;
    int number;
  };
  void listen(const std::string& host, int number, Port port);
  void accept(const Listener& listener);
  void readFrom(Connection& connection, double now_s);
  void receive(Connection& connection, const std::string& bytes, double now_s);
  void receiveDashboard(Connection& connection, const std::string& bytes);
  void receiveScript(Connection& connection, const std::string& bytes);
  void onCycle(double now_s);
  void send(Connection& connection, std::string bytes, double now_s);
  void sendTexts(double now_s);
  void streamState(const StateFrame& frame);
  void flushAll(double now_s);
  void drop(int fd);
  void resetAll();
  [[nodiscard]] bool lost(double now_s);
  [[nodiscard]] bool cut(double now_s);

  Process& process_;
  VariableTable table_;
  InputOwners owners_;
  DashboardState dashboard_;
  std::vector<Listener> listeners_;
  std::map<int, std::unique_ptr<Connection>> connections_;
  std::vector<int> to_drop_;
  int epoll_fd_ = -1, event_fd_ = -1, next_id_ = 1;
  StateFrame frame_;
  bool was_remote_ = true;
  LinkFaults faults_;  // as of this turn
  std::mt19937 random_{1};
};

}  // namespace s2r::ur
