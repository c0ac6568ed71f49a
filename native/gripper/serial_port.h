// A serial line at 460800 baud, 8N1, raw, held by this process alone.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "native/gripper/errors.h"

namespace s2r::gripper {

struct PortOptions {
  std::string path;        // a device or a link to one, as /dev/serial/by-path/…
  std::string usb_serial;  // where not empty, the USB serial number that the device must have
};

// Opens without waiting for a carrier, sets the line, clears HUPCL (closing then leaves DTR alone,
// so that the device is not reset by us), takes TIOCEXCL and a lock: root passes the former, a
// second copy of this driver never passes the latter. Every call returns at once.
class SerialPort {
 public:
  SerialPort() = default;
  ~SerialPort();
  SerialPort(const SerialPort&) = delete;
  SerialPort& operator=(const SerialPort&) = delete;

  [[nodiscard]] std::optional<Failure> open(const PortOptions& options);
  void close();
  [[nodiscard]] bool isOpen() const { return fd_ >= 0; }
  [[nodiscard]] int fd() const { return fd_; }
  // The device that the path led to when it was opened.
  [[nodiscard]] const std::string& resolvedPath() const { return resolved_path_; }

  enum class IoState : uint8_t { kOk, kWouldBlock, kLost };
  struct IoResult {
    IoState state = IoState::kOk;
    size_t count = 0;
    int error = 0;  // errno where lost; 0 is end of file
  };
  [[nodiscard]] IoResult read(uint8_t* data, size_t size);
  [[nodiscard]] IoResult write(const uint8_t* data, size_t size);

 private:
  [[nodiscard]] std::optional<Failure> setUp(const PortOptions& options);

  int fd_ = -1;
  std::string resolved_path_;
};

}  // namespace s2r::gripper
