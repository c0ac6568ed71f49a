// The stop socket: a thread of its own that turns whatever arrives into a stop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace s2r::arm {

struct StopServed {
  std::uint64_t stop_epoch = 0;
  double time_s = 0;  // when the arm began to decelerate
};

// Binds a ZeroMQ ROUTER at `address` and follows StopRequest and StopReply of
// src/contract/device.proto: any bytes are a stop, also ones that cannot be read. `stop` latches it
// and gives the new epoch; it is called on this thread. Throws ArmError arm_stop_address where the
// address cannot be bound.
class StopListener {
 public:
  using Stop = std::function<StopServed(const std::string& reason)>;
  // `fifo_priority` 0: the ordinary scheduler, else also ZeroMQ's own thread runs under SCHED_FIFO.
  StopListener(const std::string& address, int fifo_priority, Stop stop);
  ~StopListener();
  StopListener(const StopListener&) = delete;
  StopListener& operator=(const StopListener&) = delete;

  // As bound: with the port in place of "*".
  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  struct Sockets;
  void run(int fifo_priority);
  std::unique_ptr<Sockets> sockets_;
  Stop stop_;
  std::string address_;
  std::thread thread_;
};

// The reason in an encoded StopRequest; "stop" where there is none or the bytes cannot be read.
[[nodiscard]] std::string stopReason(const void* bytes, std::size_t size);
[[nodiscard]] std::string encodeStopReply(const StopServed& served);

}  // namespace s2r::arm
