#include "native/gripper/serial_port.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace s2r::gripper {
namespace {

namespace fs = std::filesystem;

std::string errorText(int error) {
  return std::generic_category().message(error);
}

std::string realPath(const std::string& path) {
  char buffer[PATH_MAX];
  return ::realpath(path.c_str(), buffer) != nullptr ? std::string(buffer) : path;
}

// The serial number of the USB device that a tty belongs to: the nearest parent in sysfs that has
// one.
std::optional<std::string> usbSerialOf(const std::string& device) {
  std::error_code error;
  fs::path folder =
      fs::canonical(fs::path("/sys/class/tty") / fs::path(device).filename() / "device", error);
  while (!error && folder.has_relative_path()) {
    std::ifstream file(folder / "serial");
    std::string line;
    if (file && std::getline(file, line))
      return line;
    folder = folder.parent_path();
  }
  return std::nullopt;
}

Failure openFailure(const std::string& path, int error) {
  switch (error) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case EIO:
      return {code::kNotFound, "no device at " + path + " (" + errorText(error) +
                                   "): plug the gripper in, look for its link under "
                                   "/dev/serial/by-path and set gripper.path to it"};
    case EACCES:
    case EPERM:
      return {code::kPermission, path + " may not be opened (" + errorText(error) +
                                     "): add this user to the group dialout and log in again"};
    case EBUSY:
      return {code::kInUse, path + " is held by another program: end it (fuser " + path +
                                " names it), then try again"};
    default:
      return {code::kNotFound, path + " cannot be opened: " + errorText(error)};
  }
}

}  // namespace

SerialPort::~SerialPort() {
  close();
}

std::optional<Failure> SerialPort::open(const PortOptions& options) {
  close();
  resolved_path_ = realPath(options.path);
  fd_ = ::open(options.path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (fd_ < 0)
    return openFailure(options.path, errno);
  auto failure = setUp(options);
  if (failure) {
    ::close(fd_);
    fd_ = -1;
  }
  return failure;
}

std::optional<Failure> SerialPort::setUp(const PortOptions& options) {
  termios line{};
  if (::isatty(fd_) == 0 || ::tcgetattr(fd_, &line) != 0) {
    return Failure{code::kNotSerial, options.path +
                                         " is not a serial line: set gripper.path to the "
                                         "gripper's link under /dev/serial/by-path"};
  }
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0)
    return openFailure(options.path, EBUSY);
  if (::ioctl(fd_, TIOCEXCL) != 0)
    return openFailure(options.path, errno);
  if (!options.usb_serial.empty()) {
    const auto found = usbSerialOf(resolved_path_);
    if (found != options.usb_serial) {
      return Failure{code::kWrongDevice, options.path + " has the USB serial number " +
                                             (found ? "\"" + *found + "\"" : std::string("none")) +
                                             ", not \"" + options.usb_serial +
                                             "\": mend gripper.path or gripper.serial"};
    }
  }
  ::cfmakeraw(&line);
  line.c_cflag |= CLOCAL | CREAD;
  line.c_cflag &= ~static_cast<tcflag_t>(HUPCL | CRTSCTS | CSTOPB | PARENB | CSIZE);
  line.c_cflag |= CS8;
  line.c_iflag &= ~static_cast<tcflag_t>(IXON | IXOFF | IXANY);
  line.c_cc[VMIN] = 0;
  line.c_cc[VTIME] = 0;
  ::cfsetispeed(&line, B460800);
  ::cfsetospeed(&line, B460800);
  termios got{};
  // tcsetattr succeeds when it could do any part of what was asked: only reading back tells.
  if (::tcsetattr(fd_, TCSANOW, &line) != 0 || ::tcgetattr(fd_, &got) != 0 ||
      ::cfgetospeed(&got) != B460800 || (got.c_cflag & CSIZE) != CS8 ||
      (got.c_cflag & (PARENB | CSTOPB | CRTSCTS | HUPCL)) != 0) {
    return Failure{code::kNotSerial,
                   options.path +
                       " does not take 460800 baud 8N1: this is not the gripper's "
                       "adapter, or its driver is too old"};
  }
  // What arrived before this was for nobody.
  ::tcflush(fd_, TCIFLUSH);
  return std::nullopt;
}

void SerialPort::close() {
  if (fd_ < 0)
    return;
  ::ioctl(fd_, TIOCNXCL);
  ::close(fd_);
  fd_ = -1;
}

SerialPort::IoResult SerialPort::read(uint8_t* data, size_t size) {
  const ssize_t count = ::read(fd_, data, size);
  if (count > 0)
    return {IoState::kOk, static_cast<size_t>(count), 0};
  if (count < 0 && (errno == EAGAIN || errno == EINTR))
    return {IoState::kWouldBlock, 0, 0};
  // With VMIN 0 a terminal's read gives 0 both for "nothing" and for "gone": poll tells them apart.
  if (count == 0)
    return {IoState::kWouldBlock, 0, 0};
  return {IoState::kLost, 0, errno};
}

SerialPort::IoResult SerialPort::write(const uint8_t* data, size_t size) {
  const ssize_t count = ::write(fd_, data, size);
  if (count >= 0)
    return {IoState::kOk, static_cast<size_t>(count), 0};
  if (errno == EAGAIN || errno == EINTR)
    return {IoState::kWouldBlock, 0, 0};
  return {IoState::kLost, 0, errno};
}

}  // namespace s2r::gripper
