#include "native/arm/process/stop_listener.h"

#include <pthread.h>
#include <sched.h>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <vector>
#include <zmq.hpp>

#include "native/arm/link/error.h"
#include "native/arm/process/realtime.h"

namespace s2r::arm {
namespace {

// Longer ones belong into a log, not into every message about the stop.
constexpr std::size_t kLongestReason = 90;
constexpr int kLargestMessage = 1 << 20;
// A reply that a client does not take is dropped: nothing here waits for anybody.
constexpr int kWaitingReplies = 64;

}  // namespace

struct StopListener::Sockets {
  zmq::context_t context;
  zmq::socket_t router;
  zmq::socket_t quit_in;
  zmq::socket_t quit_out;
};

std::string stopReason(const void* bytes, std::size_t size) {
  std::string reason;
  try {
    protozero::pbf_reader reader(static_cast<const char*>(bytes), size);
    while (reader.next()) {
      if (reader.tag() == 3 && reader.wire_type() == protozero::pbf_wire_type::length_delimited) {
        reason = reader.get_string();
      } else {
        reader.skip();
      }
    }
  } catch (const protozero::exception&) {
    reason = "unreadable stop request";
  }
  if (reason.empty()) {
    return "stop";
  }
  return reason.substr(0, kLongestReason);
}

std::string encodeStopReply(const StopServed& served) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_uint64(1, served.stop_epoch);
  writer.add_double(2, served.time_s);
  return bytes;
}

StopListener::StopListener(const std::string& address, int fifo_priority, Stop stop)
    : sockets_(std::make_unique<Sockets>()), stop_(std::move(stop)) {
  Sockets& sockets = *sockets_;
  if (fifo_priority > 0) {
    sockets.context.set(zmq::ctxopt::thread_sched_policy, SCHED_FIFO);
    sockets.context.set(zmq::ctxopt::thread_priority, fifo_priority);
  }
  try {
    sockets.router = zmq::socket_t(sockets.context, zmq::socket_type::router);
    sockets.router.set(zmq::sockopt::linger, 0);
    sockets.router.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(kLargestMessage));
    sockets.router.set(zmq::sockopt::sndhwm, kWaitingReplies);
    sockets.router.bind(address);
    address_ = sockets.router.get(zmq::sockopt::last_endpoint);
    sockets.quit_in = zmq::socket_t(sockets.context, zmq::socket_type::pair);
    sockets.quit_out = zmq::socket_t(sockets.context, zmq::socket_type::pair);
    sockets.quit_in.bind("inproc://quit");
    sockets.quit_out.connect("inproc://quit");
  } catch (const zmq::error_t& error) {
    throw ArmError("arm_stop_address", "the stop socket cannot be bound at " + address + ": " +
                                           error.what() +
                                           "; end the process that uses it or choose another");
  }
  thread_ = std::thread([this, fifo_priority] { run(fifo_priority); });
}

StopListener::~StopListener() {
  sockets_->quit_out.send(zmq::str_buffer("quit"), zmq::send_flags::none);
  thread_.join();
  sockets_->router.close();
  sockets_->quit_in.close();
  sockets_->quit_out.close();
}

void StopListener::run(int fifo_priority) {
  pthread_setname_np(pthread_self(), "s2r-stop");
  if (fifo_priority > 0) {
    requestFifo(fifo_priority);
  }
  Sockets& sockets = *sockets_;
  zmq::pollitem_t items[2] = {{sockets.router.handle(), 0, ZMQ_POLLIN, 0},
                              {sockets.quit_in.handle(), 0, ZMQ_POLLIN, 0}};
  for (;;) {
    zmq::poll(items, 2, std::chrono::milliseconds(-1));
    if ((items[1].revents & ZMQ_POLLIN) != 0) {
      return;
    }
    std::vector<zmq::message_t> parts;
    bool more = true;
    while (more) {
      zmq::message_t part;
      if (!sockets.router.recv(part, zmq::recv_flags::dontwait)) {
        break;
      }
      more = part.more();
      parts.push_back(std::move(part));
    }
    if (parts.empty()) {
      continue;
    }
    // First part: whom to answer. A REQ client also has an empty part, which goes back with the
    // reply.
    const bool empty_part = parts.size() > 2 && parts[1].size() == 0;
    const std::string reason =
        parts.size() > 1 ? stopReason(parts.back().data(), parts.back().size()) : "stop";
    const std::string reply = encodeStopReply(stop_(reason));
    try {
      bool sent =
          sockets.router.send(parts[0], zmq::send_flags::sndmore | zmq::send_flags::dontwait)
              .has_value();
      if (sent && empty_part) {
        sent = sockets.router
                   .send(zmq::message_t(), zmq::send_flags::sndmore | zmq::send_flags::dontwait)
                   .has_value();
      }
      if (sent) {
        (void)sockets.router.send(zmq::buffer(reply), zmq::send_flags::dontwait);
      }
    } catch (const zmq::error_t&) {  // the client is gone; the stop stands
    }
  }
}

}  // namespace s2r::arm
