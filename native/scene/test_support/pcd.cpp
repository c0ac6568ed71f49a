#include "native/scene/test_support/pcd.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>

namespace s2r::scene::test {

View LabelledScene::view() const {
  View view;
  view.width = width;
  view.height = height;
  view.depth_m = depth_m.data();
  view.rgb = rgb.data();
  view.intrinsics = intrinsics;
  return view;
}

std::vector<uint8_t> decompressLzf(const std::vector<uint8_t>& packed, size_t size) {
  std::vector<uint8_t> out;
  out.reserve(size);
  size_t i = 0;
  auto next = [&]() -> size_t {
    if (i >= packed.size())
      throw std::runtime_error("LZF stream ends early");
    return packed[i++];
  };
  while (i < packed.size()) {
    const size_t control = next();
    if (control < 32) {  // control + 1 literal bytes
      for (size_t k = 0; k <= control; ++k)
        out.push_back(static_cast<uint8_t>(next()));
      continue;
    }
    size_t length = control >> 5;
    if (length == 7)
      length += next();
    const size_t back = ((control & 31) << 8) + next() + 1;
    if (back > out.size())
      throw std::runtime_error("LZF reference before the start");
    for (size_t k = 0; k < length + 2; ++k)
      out.push_back(out[out.size() - back]);
  }
  if (out.size() != size)
    throw std::runtime_error("LZF stream has another size than announced");
  return out;
}

namespace {

/// Least squares of ratio = (pixel - c) / f over all valid points, so that no camera file is
/// needed.
void solveAxis(const std::vector<double>& pixel,
               const std::vector<double>& ratio,
               double& f,
               double& c) {
  double n = 0, su = 0, sr = 0, suu = 0, sur = 0;
  for (size_t i = 0; i < pixel.size(); ++i) {
    n += 1;
    su += pixel[i];
    sr += ratio[i];
    suu += pixel[i] * pixel[i];
    sur += pixel[i] * ratio[i];
  }
  const double slope = (n * sur - su * sr) / (n * suu - su * su);
  f = 1.0 / slope;
  c = -(sr - slope * su) / n * f;
}

}  // namespace

LabelledScene readLabelledPcd(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error("cannot open " + path);
  std::map<std::string, std::vector<std::string>> header;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    header[key] = {std::istream_iterator<std::string>(words), {}};
    if (key == "DATA")
      break;
  }
  if (header["DATA"] != std::vector<std::string>{"binary_compressed"} ||
      header["FIELDS"] != std::vector<std::string>{"label", "x", "y", "z", "rgba"}) {
    throw std::runtime_error(path + " is not binary_compressed with fields label x y z rgba");
  }
  LabelledScene scene;
  scene.width = std::stoi(header["WIDTH"].at(0));
  scene.height = std::stoi(header["HEIGHT"].at(0));
  const size_t count = static_cast<size_t>(scene.width) * static_cast<size_t>(scene.height);
  uint32_t sizes[2] = {0, 0};
  file.read(reinterpret_cast<char*>(sizes), sizeof sizes);
  std::vector<uint8_t> packed(sizes[0]);
  file.read(reinterpret_cast<char*>(packed.data()), static_cast<std::streamsize>(packed.size()));
  if (!file || sizes[1] != count * 20)
    throw std::runtime_error(path + " is cut off");
  const std::vector<uint8_t> raw = decompressLzf(packed, sizes[1]);

  auto word = [&](size_t field, size_t i, void* to) {
    std::memcpy(to, &raw[(field * count + i) * 4], 4);
  };
  scene.depth_m.resize(count);
  scene.label.resize(count);
  scene.rgb.resize(count * 3);
  std::vector<double> us, vs, xs, ys;
  for (size_t i = 0; i < count; ++i) {
    float x = 0, y = 0, z = 0;
    uint32_t rgba = 0;
    word(0, i, &scene.label[i]);
    word(1, i, &x);
    word(2, i, &y);
    word(3, i, &z);
    word(4, i, &rgba);
    scene.depth_m[i] = z;
    scene.rgb[i * 3] = static_cast<uint8_t>(rgba >> 16);
    scene.rgb[i * 3 + 1] = static_cast<uint8_t>(rgba >> 8);
    scene.rgb[i * 3 + 2] = static_cast<uint8_t>(rgba);
    if (!(z > 0))
      continue;
    us.push_back(static_cast<double>(i % static_cast<size_t>(scene.width)));
    vs.push_back(static_cast<double>(i / static_cast<size_t>(scene.width)));
    xs.push_back(static_cast<double>(x) / z);
    ys.push_back(static_cast<double>(y) / z);
  }
  if (us.size() < 100)
    throw std::runtime_error(path + " holds no depth");
  solveAxis(us, xs, scene.intrinsics.fx_px, scene.intrinsics.cx_px);
  solveAxis(vs, ys, scene.intrinsics.fy_px, scene.intrinsics.cy_px);
  return scene;
}

}  // namespace s2r::scene::test
