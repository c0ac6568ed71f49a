#include <napi.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "native/scene/measure_geometry.h"
#include "native/scene/segment_box.h"
#include "native/scene/surface_point.h"

namespace s2r::scene {

namespace {

/// A caller's view, copied so that JavaScript may reuse or free its arrays while the worker
/// computes.
struct OwnedView {
  View view;
  std::vector<float> depth_m;
  std::vector<uint8_t> rgb;
};

std::vector<uint8_t> copyBytes(const Napi::Value& value) {
  if (value.IsNull() || value.IsUndefined())
    return {};
  const auto array = value.As<Napi::Uint8Array>();
  return {array.Data(), array.Data() + array.ElementLength()};
}

const uint8_t* orNull(const std::vector<uint8_t>& bytes) {
  return bytes.empty() ? nullptr : bytes.data();
}

/// The wrapper has validated types; sizes are checked again because a wrong one would read out of
/// bounds.
void requireSize(const char* name, size_t found, size_t expected) {
  if (found != expected) {
    throw std::invalid_argument(std::string(name) + " has " + std::to_string(found) +
                                " elements, " + std::to_string(expected) + " are needed");
  }
}

std::shared_ptr<OwnedView> copyView(const Napi::Value& value) {
  const auto object = value.As<Napi::Object>();
  auto owned = std::make_shared<OwnedView>();
  View& view = owned->view;
  view.width = object.Get("width").As<Napi::Number>().Int32Value();
  view.height = object.Get("height").As<Napi::Number>().Int32Value();
  if (view.width < 1 || view.height < 1 || view.width > 8192 || view.height > 8192) {
    throw std::invalid_argument("image size must be within 1 to 8192");
  }
  const size_t count = static_cast<size_t>(view.width) * static_cast<size_t>(view.height);
  const auto depth = object.Get("depth_m").As<Napi::Float32Array>();
  requireSize("depth_m", depth.ElementLength(), count);
  owned->depth_m.assign(depth.Data(), depth.Data() + count);
  owned->rgb = copyBytes(object.Get("rgb"));
  if (!owned->rgb.empty())
    requireSize("rgb", owned->rgb.size(), 3 * count);
  const auto k = object.Get("K").As<Napi::Float64Array>();
  const auto x = object.Get("X").As<Napi::Float64Array>();
  requireSize("K", k.ElementLength(), 4);
  requireSize("X", x.ElementLength(), 16);
  view.intrinsics = {k[0], k[1], k[2], k[3]};
  for (Eigen::Index i = 0; i < 16; ++i)
    view.X_world_camera.matrix()(i / 4, i % 4) = x[static_cast<size_t>(i)];
  view.depth_m = owned->depth_m.data();
  view.rgb = orNull(owned->rgb);
  return owned;
}

std::vector<uint8_t> copyMask(const char* name, const Napi::Value& value, const View& view) {
  std::vector<uint8_t> mask = copyBytes(value);
  if (!mask.empty())
    requireSize(name, mask.size(),
                static_cast<size_t>(view.width) * static_cast<size_t>(view.height));
  return mask;
}

Napi::Array toArray(Napi::Env env, const Vec3& v) {
  auto out = Napi::Array::New(env, 3);
  for (uint32_t i = 0; i < 3; ++i)
    out.Set(i, v[static_cast<Eigen::Index>(i)]);
  return out;
}

Napi::Float32Array toFloats(Napi::Env env, const std::vector<float>& values) {
  auto out = Napi::Float32Array::New(env, values.size());
  std::copy(values.begin(), values.end(), out.Data());
  return out;
}

Napi::Value toValue(Napi::Env env, const Segmentation& s) {
  auto out = Napi::Object::New(env);
  auto mask = Napi::Uint8Array::New(env, s.mask.data.size());
  std::copy(s.mask.data.begin(), s.mask.data.end(), mask.Data());
  out.Set("mask", mask);
  out.Set("area_px", static_cast<double>(s.area_px));
  auto bounds = Napi::Object::New(env);
  bounds.Set("x0", s.bounds.x0);
  bounds.Set("y0", s.bounds.y0);
  bounds.Set("x1", s.bounds.x1);
  bounds.Set("y1", s.bounds.y1);
  out.Set("bounds", bounds);
  out.Set("rule", nameOf(s.rule));
  out.Set("score", s.score);
  out.Set("support", env.Null());
  if (s.support) {
    auto plane = Napi::Object::New(env);
    plane.Set("normal", toArray(env, s.support->plane.normal));
    plane.Set("offset_m", s.support->plane.offset_m);
    out.Set("support", plane);
  }
  return out;
}

Napi::Value toValue(Napi::Env env, const std::optional<Geometry>& geometry, bool with_points) {
  if (!geometry)
    return env.Null();
  const Geometry& g = *geometry;
  auto out = Napi::Object::New(env);
  out.Set("centroid_world", toArray(env, g.centroid_world));
  out.Set("top_z_m", g.top_z_m);
  out.Set("support_z_m",
          g.support_z_m ? Napi::Value(Napi::Number::New(env, *g.support_z_m)) : env.Null());
  out.Set("extents_m", toArray(env, g.extents_m));
  auto axes = Napi::Array::New(env, 3);
  for (uint32_t i = 0; i < 3; ++i)
    axes.Set(i, toArray(env, g.principal_axes[i]));
  out.Set("principal_axes", axes);
  auto box = Napi::Object::New(env);
  box.Set("center_world", toArray(env, g.upright_box.center_world));
  box.Set("size_m", toArray(env, g.upright_box.size_m));
  box.Set("yaw_rad", g.upright_box.yaw_rad);
  box.Set("yaw_defined", g.upright_box.yaw_defined);
  out.Set("upright_box", box);
  out.Set("point_count", static_cast<double>(g.point_count));
  out.Set("confidence", g.confidence);
  if (with_points)
    out.Set("points_world", toFloats(env, g.points_world));
  return out;
}

/// Computes off the event loop, then turns the result into JavaScript on it.
template <typename Result>
class Job : public Napi::AsyncWorker {
 public:
  using Compute = std::function<Result()>;
  using Convert = std::function<Napi::Value(Napi::Env, const Result&)>;

  static Napi::Value start(Napi::Env env, Compute compute, Convert convert) {
    auto* job = new Job(env, std::move(compute), std::move(convert));  // deletes itself when done
    const Napi::Promise promise = job->deferred_.Promise();
    job->Queue();
    return promise;
  }

 protected:
  void Execute() override { result_ = compute_(); }
  void OnOK() override { deferred_.Resolve(convert_(Env(), result_)); }
  void OnError(const Napi::Error& error) override { deferred_.Reject(error.Value()); }

 private:
  Job(Napi::Env env, Compute compute, Convert convert)
      : Napi::AsyncWorker(env),
        deferred_(Napi::Promise::Deferred::New(env)),
        compute_(std::move(compute)),
        convert_(std::move(convert)) {}

  Napi::Promise::Deferred deferred_;
  Compute compute_;
  Convert convert_;
  Result result_{};
};

/// Turns a refused argument into a rejected promise.
Napi::Value guarded(Napi::Env env, const std::function<Napi::Value()>& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    auto deferred = Napi::Promise::Deferred::New(env);
    deferred.Reject(Napi::Error::New(env, error.what()).Value());
    return deferred.Promise();
  }
}

}  // namespace

class SceneAddon : public Napi::Addon<SceneAddon> {
 public:
  SceneAddon(Napi::Env, Napi::Object exports) {
    DefineAddon(exports, {InstanceMethod("segmentBox", &SceneAddon::segment),
                          InstanceMethod("measureGeometry", &SceneAddon::measure),
                          InstanceMethod("pointFromPixel", &SceneAddon::point),
                          InstanceMethod("pointCloud", &SceneAddon::cloud)});
  }

 private:
  Napi::Value segment(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&] {
      auto owned = copyView(info[0]);
      const auto corners = info[1].As<Napi::Int32Array>();
      requireSize("box", corners.ElementLength(), 4);
      const PixelBox box = intersect({corners[0], corners[1], corners[2], corners[3]},
                                     {0, 0, owned->view.width, owned->view.height});
      if (box.width() < 2 || box.height() < 2)
        throw std::invalid_argument("the box covers less than 2 x 2 pixels of the image");
      const auto given = info[2].As<Napi::Object>();
      auto exclude = std::make_shared<std::vector<uint8_t>>(
          copyMask("exclude", given.Get("exclude"), owned->view));
      SegmentOptions options;
      options.gravity_known = given.Get("gravity_known").ToBoolean();
      options.min_height_m = given.Get("min_height_m").ToNumber().DoubleValue();
      options.use_colour = given.Get("use_colour").ToBoolean();
      options.exclude = orNull(*exclude);
      return Job<Segmentation>::start(
          info.Env(),
          [owned, exclude, box, options] { return segmentBox(owned->view, box, options); },
          [](Napi::Env env, const Segmentation& s) { return toValue(env, s); });
    });
  }

  Napi::Value measure(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&] {
      auto owned = copyView(info[0]);
      auto mask = std::make_shared<std::vector<uint8_t>>(copyMask("mask", info[1], owned->view));
      if (mask->empty())
        throw std::invalid_argument("a mask is needed");
      const auto given = info[2].As<Napi::Object>();
      MeasureOptions options;
      options.max_points = static_cast<size_t>(given.Get("max_points").ToNumber().Uint32Value());
      options.support_z_m = given.Get("support_z_m").ToNumber().DoubleValue();
      options.sharp_edges = given.Get("sharp_edges").ToBoolean();
      const bool with_points = options.max_points > 0;
      return Job<std::optional<Geometry>>::start(
          info.Env(),
          [owned, mask, options] { return measureGeometry(owned->view, mask->data(), options); },
          [with_points](Napi::Env env, const std::optional<Geometry>& g) {
            return toValue(env, g, with_points);
          });
    });
  }

  Napi::Value point(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&] {
      auto owned = copyView(info[0]);
      const double u = info[1].ToNumber().DoubleValue();
      const double v = info[2].ToNumber().DoubleValue();
      return Job<std::optional<SurfacePoint>>::start(
          info.Env(), [owned, u, v] { return pointFromPixel(owned->view, u, v); },
          [](Napi::Env env, const std::optional<SurfacePoint>& found) -> Napi::Value {
            if (!found)
              return env.Null();
            auto out = Napi::Object::New(env);
            out.Set("point_world", toArray(env, found->point_world));
            out.Set("normal_world", toArray(env, found->normal_world));
            return out;
          });
    });
  }

  Napi::Value cloud(const Napi::CallbackInfo& info) {
    return guarded(info.Env(), [&] {
      auto owned = copyView(info[0]);
      const int stride = std::clamp(info[1].ToNumber().Int32Value(), 1, 64);
      auto mask = std::make_shared<std::vector<uint8_t>>(copyMask("mask", info[2], owned->view));
      auto exclude =
          std::make_shared<std::vector<uint8_t>>(copyMask("exclude", info[3], owned->view));
      return Job<std::vector<float>>::start(
          info.Env(),
          [owned, stride, mask, exclude] {
            return pointCloud(owned->view, stride, orNull(*mask), orNull(*exclude));
          },
          [](Napi::Env env, const std::vector<float>& points) { return toFloats(env, points); });
    });
  }
};

NODE_API_ADDON(SceneAddon)

}  // namespace s2r::scene
