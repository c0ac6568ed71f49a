// Types shared by the camera's parts: intrinsics, transforms, one plane of pixels, one set of
// planes.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace s2r::camera {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// A failure with a stable code (camera_*); the message names the value, the limit and the mend.
class CameraError : public std::runtime_error {
 public:
  CameraError(std::string code, const std::string& message)
      : std::runtime_error(message), code_(std::move(code)) {}
  [[nodiscard]] const std::string& code() const { return code_; }

 private:
  std::string code_;
};

// Numbers as librealsense numbers them (checked by name when the library is loaded).
enum class Distortion : int32_t {
  kNone = 0,
  kModifiedBrownConrady = 1,
  kInverseBrownConrady = 2,
  kFtheta = 3,
  kBrownConrady = 4,
  kKannalaBrandt4 = 5,
};

// Pixels; an integer pixel coordinate is a pixel's centre. coeffs are k1 k2 p1 p2 k3.
struct Intrinsics {
  int32_t width = 0;
  int32_t height = 0;
  double fx = 0;
  double fy = 0;
  double cx = 0;
  double cy = 0;
  Distortion model = Distortion::kNone;
  int32_t reserved = 0;
  double coeffs[5] = {0, 0, 0, 0, 0};

  bool operator==(const Intrinsics&) const = default;
};

// X_a_b: takes coordinates in b to coordinates in a. r is row-major, t in metres.
struct Transform {
  double r[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double t[3] = {0, 0, 0};

  bool operator==(const Transform&) const = default;
};

enum class PlaneKind : uint32_t { kColor = 0, kDepth = 1, kInfraredLeft = 2, kInfraredRight = 3 };
inline constexpr int kPlanes = 4;

enum class PixelFormat : uint32_t { kNone = 0, kRgb8 = 1, kZ16 = 2, kY8 = 3 };
[[nodiscard]] constexpr int bytesPerPixel(PixelFormat format) {
  return format == PixelFormat::kRgb8 ? 3 : format == PixelFormat::kZ16 ? 2 : 1;
}

// The clock that a stamp was read from. Stamps of two domains are never compared or mixed.
enum class Domain : uint32_t {
  kHardwareClock = 0,  // the camera's own microsecond counter
  kSystemTime = 1,     // the host's wall clock when the frame came (no metadata)
  kGlobalTime = 2,     // the camera's counter as the library maps it to the host's wall clock
  kMonotonic = 3,      // CLOCK_MONOTONIC of this host (the emulated bench)
};

[[nodiscard]] const char* nameOf(Distortion model);
[[nodiscard]] const char* nameOf(Domain domain);
[[nodiscard]] const char* nameOf(PlaneKind kind);
// Throws camera_calibration for a name that is none of the models.
[[nodiscard]] Distortion distortionByName(const std::string& name);

// Seconds of CLOCK_MONOTONIC and of CLOCK_REALTIME.
[[nodiscard]] double monotonicSeconds();
[[nodiscard]] double wallSeconds();

// One plane as a source hands it over. The pixels live as long as the set's owner.
struct RawPlane {
  PlaneKind kind = PlaneKind::kColor;
  PixelFormat format = PixelFormat::kNone;
  int width = 0;
  int height = 0;
  int stride_bytes = 0;
  const uint8_t* data = nullptr;
  uint64_t frame_number = 0;
  double stamp_s = kUnknown;  // in `domain`, as the device gave it
  Domain domain = Domain::kHardwareClock;
  // From the frame's metadata, where it has them: duration of the exposure, and how much earlier
  // than the stamp its middle was.
  std::optional<double> exposure_duration_s;
  std::optional<double> stamp_minus_middle_s;
  bool has_metadata = false;
  double units_m = 0;  // depth only: metres of one count
  Intrinsics intrinsics;
  Transform
      X_reference_plane;  // the reference is the left image: colour, else infrared left, else depth
};

// What a source hands over at once: at most one plane of each kind.
struct FrameSet {
  std::vector<RawPlane> planes;
  std::shared_ptr<void> owner;
  double arrival_time_s = 0;  // CLOCK_MONOTONIC when the last plane reached this process
  bool clock_restarted =
      false;  // stamps and numbers begin anew (a recording's next round, a restart)
};

// What is known of the device behind a source.
struct DeviceInfo {
  std::string product;
  std::string product_id;
  std::string serial;
  std::string firmware;
  std::string usb_type;
  std::string physical_port;
  std::string library_version;
  bool has_colour_sensor = true;
  bool colour_from_left_imager = false;
  double transport_s =
      0;  // shortest time from the end of an exposure to its arrival, of this model
  double period_s = 1.0 / 30;
  std::vector<std::string> warnings;
};

}  // namespace s2r::camera
