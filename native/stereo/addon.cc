// Node binding of the stereo matcher: one function, compute(left, right, options), which returns a
// promise.
#include <napi.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "native/stereo/stereo_matcher.h"

namespace {

using s2r::stereo::Simd;
using s2r::stereo::StereoParams;
using s2r::stereo::StereoResult;

Napi::Float32Array floatsOf(Napi::Env env, const std::vector<float>& values) {
  auto array = Napi::Float32Array::New(env, values.size());
  if (!values.empty())
    std::memcpy(array.Data(), values.data(), values.size() * sizeof(float));
  return array;
}

// Owns copies of both images: the caller may write to, transfer or drop its arrays while this runs.
class ComputeWorker : public Napi::AsyncWorker {
 public:
  ComputeWorker(Napi::Env env,
                std::vector<uint8_t> left,
                std::vector<uint8_t> right,
                const StereoParams& params)
      : Napi::AsyncWorker(env, "s2r.stereo.compute"),
        deferred_(Napi::Promise::Deferred::New(env)),
        left_(std::move(left)),
        right_(std::move(right)),
        params_(params) {}

  [[nodiscard]] Napi::Promise promise() const { return deferred_.Promise(); }

  void Execute() override { result_ = s2r::stereo::computeStereo(left_, right_, params_); }

  void OnOK() override {
    auto out = Napi::Object::New(Env());
    out.Set("depth_m", floatsOf(Env(), result_.depth_m));
    out.Set("disparity_px", floatsOf(Env(), result_.disparity_px));
    out.Set("valid_fraction", result_.valid_fraction);
    out.Set("filled_fraction", result_.filled_fraction);
    out.Set("model", result_.model);
    deferred_.Resolve(out);
  }

  void OnError(const Napi::Error& error) override { deferred_.Reject(error.Value()); }

 private:
  const Napi::Promise::Deferred deferred_;
  const std::vector<uint8_t> left_;
  const std::vector<uint8_t> right_;
  const StereoParams params_;
  StereoResult result_;
};

class StereoAddon : public Napi::Addon<StereoAddon> {
 public:
  StereoAddon(Napi::Env /*env*/, Napi::Object exports) {
    DefineAddon(exports, {InstanceMethod("compute", &StereoAddon::compute)});
  }

 private:
  static std::vector<uint8_t> bytesOf(const Napi::Value& value, const char* name) {
    if (value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == napi_uint8_array) {
      const auto array = value.As<Napi::Uint8Array>();
      return {array.Data(), array.Data() + array.ElementLength()};
    }
    throw Napi::TypeError::New(value.Env(), std::string(name) + " must be a Uint8Array");
  }

  static double numberOf(const Napi::Object& options, const char* name) {
    const Napi::Value value = options.Get(name);
    if (!value.IsNumber()) {
      throw Napi::TypeError::New(options.Env(), std::string(name) + " must be a number");
    }
    return value.As<Napi::Number>().DoubleValue();
  }

  // Numbers that no int holds become ones that checkParams refuses.
  static int integerOf(const Napi::Object& options, const char* name) {
    const double value = numberOf(options, name);
    if (!(value > -1e9 && value < 1e9)) {
      throw Napi::RangeError::New(options.Env(),
                                  std::string(name) + " must be an integer of at most nine digits");
    }
    return static_cast<int>(value);
  }

  static StereoParams paramsOf(const Napi::Object& options) {
    StereoParams p;
    p.width = integerOf(options, "width");
    p.height = integerOf(options, "height");
    p.channels = integerOf(options, "channels");
    p.fx_px = numberOf(options, "fx_px");
    p.baseline_m = numberOf(options, "baseline_m");
    p.doffs_px = numberOf(options, "doffs_px");
    p.min_disparity = integerOf(options, "min_disparity");
    p.disparities = integerOf(options, "disparities");
    p.threads = integerOf(options, "threads");
    p.uniqueness_percent = numberOf(options, "uniqueness_percent");
    p.left_right_max_px = integerOf(options, "left_right_max_px");
    p.speckle_px = integerOf(options, "speckle_px");
    p.fill_px = integerOf(options, "fill_px");
    const std::string simd = options.Get("simd").ToString();
    if (simd == "auto") {
      p.simd = Simd::kAuto;
    } else if (simd == "portable") {
      p.simd = Simd::kPortable;
    } else if (simd == "avx2") {
      p.simd = Simd::kAvx2;
    } else {
      throw Napi::TypeError::New(options.Env(),
                                 "simd is \"" + simd + "\", but must be auto, avx2 or portable");
    }
    return p;
  }

  Napi::Value compute(const Napi::CallbackInfo& info) {
    if (info.Length() != 3 || !info[2].IsObject()) {
      throw Napi::TypeError::New(info.Env(), "compute takes left, right and an options object");
    }
    auto* worker =
        new ComputeWorker(info.Env(), bytesOf(info[0], "left"), bytesOf(info[1], "right"),
                          paramsOf(info[2].As<Napi::Object>()));
    worker->Queue();
    return worker->promise();
  }
};

}  // namespace

NODE_API_ADDON(StereoAddon)
