// What differs between RealSense models and cannot be asked of the device.
#pragma once

#include <array>
#include <string_view>

namespace s2r::camera {

struct Model {
  std::string_view product_id;
  std::string_view name;
  // Whether the camera has an imager for colour; where it has none, colour_from_left tells whether
  // the left imager's picture is offered as the colour stream (of the stereo module).
  bool has_colour_sensor;
  bool colour_from_left;
  // Shortest time from the end of an exposure to its arrival, as users measured it.
  double transport_s;
};

inline constexpr double kUsualTransportS = 0.03;

inline constexpr std::array<Model, 8> kModels = {{
    {"0AD3", "D415", true, false, kUsualTransportS},
    {"0AD4", "D430", false, false, kUsualTransportS},
    {"0B07", "D435", true, false, kUsualTransportS},
    {"0B3A", "D435I", true, false, 0.029},
    {"0B5B", "D405", false, true, 0.0048},
    {"0B5C", "D455", true, false, kUsualTransportS},
    {"0B4B", "D430I", false, false, kUsualTransportS},
    {"0AD2", "D410", false, false, kUsualTransportS},
}};

// Of an unknown product it is only assumed that it has a colour sensor.
[[nodiscard]] constexpr Model modelOf(std::string_view product_id) {
  for (const Model& model : kModels) {
    if (model.product_id == product_id)
      return model;
  }
  return {product_id, "unknown", true, false, kUsualTransportS};
}

}  // namespace s2r::camera
