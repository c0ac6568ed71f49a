// One accepted socket with its buffers, non-blocking.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string>

#include "backends/emulators/ur-controller/dashboard.h"
#include "backends/emulators/ur-controller/rtde_session.h"
#include "backends/emulators/ur-controller/script_recogniser.h"

namespace s2r::ur {

enum class Port { kDashboard, kRtde, kScript, kSecondary, kPrimary };

// Bytes that are held back until their time has come.
class DelayLine {
 public:
  void add(std::string bytes, double due_s) {
    // Order is kept: nothing overtakes what is already on its way.
    entries_.push_back(
        {std::max(due_s, entries_.empty() ? 0.0 : entries_.back().due_s), std::move(bytes)});
  }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // Everything that is due, in one piece.
  [[nodiscard]] std::string takeDue(double now_s) {
    std::string out;
    while (!entries_.empty() && entries_.front().due_s <= now_s) {
      out += entries_.front().bytes;
      entries_.pop_front();
    }
    return out;
  }

 private:
  struct Entry {
    double due_s;
    std::string bytes;
  };
  std::deque<Entry> entries_;
};

class Connection {
 public:
  Connection(int fd, Port port, int id);
  ~Connection();  // closes
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] Port port() const { return port_; }
  [[nodiscard]] int id() const { return id_; }
  // False when the peer has closed or the socket failed.
  [[nodiscard]] bool read(std::string& bytes);
  [[nodiscard]] bool flush();
  [[nodiscard]] bool congested() const { return !out.empty(); }
  void resetOnClose();

  std::string out;           // not yet taken by the kernel
  double stuck_since_s = 0;  // 0: not stuck
  bool close_when_flushed = false;
  bool has_uploaded = false;
  bool greeted = false;  // kinematics info was sent
  std::string line;      // of the dashboard, as far as it has come
  std::unique_ptr<RtdeSession> rtde;
  ScriptSplitter splitter;
  DelayLine incoming, outgoing;

 private:
  int fd_;
  Port port_;
  int id_;
};

}  // namespace s2r::ur
