// Node binding of the reader's side: the shared memory of one camera, mapped and read off the event
// loop.
#include <fcntl.h>
#include <napi.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "native/camera/frame_view.h"

namespace {

using s2r::camera::CameraError;
using s2r::camera::FrameHeader;
using s2r::camera::FrameView;
using s2r::camera::Intrinsics;
using s2r::camera::PlaneHeader;
using s2r::camera::PlaneKind;
using s2r::camera::SlotReader;
using s2r::camera::View;
using s2r::camera::ViewBuffers;
using s2r::camera::ViewOptions;

Napi::Error errorOf(Napi::Env env, const std::string& code, const std::string& message) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("code", Napi::String::New(env, code));
  return error;
}

// The mapping lives until the last worker that reads it has ended.
class Mapping {
 public:
  explicit Mapping(int fd) {
    // Its size can no longer change: a writer gone wrong could otherwise take pages from under the
    // reader.
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
      throw CameraError("camera_failed",
                        std::string("the frame memory cannot be sealed: ") + std::strerror(errno));
    }
    struct stat info{};
    if (fstat(fd, &info) != 0 || info.st_size <= 0)
      throw CameraError("camera_failed", "the frame memory has no size yet");
    bytes_ = static_cast<size_t>(info.st_size);
    address_ = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd, 0);
    if (address_ == MAP_FAILED) {
      throw CameraError("camera_failed",
                        std::string("the frame memory cannot be mapped: ") + std::strerror(errno));
    }
    try {
      const SlotReader reader(address_, bytes_);
      reader_ = std::make_unique<SlotReader>(reader);
      view_ = std::make_unique<FrameView>(reader);
    } catch (...) {
      munmap(address_, bytes_);
      throw;
    }
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { munmap(address_, bytes_); }

  [[nodiscard]] const SlotReader& reader() const { return *reader_; }
  FrameView::Result read(const ViewOptions& options, const ViewBuffers& buffers, View& out) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto result = view_->read(options, buffers, out);
    torn_ = view_->torn();
    return result;
  }
  [[nodiscard]] uint64_t torn() const { return torn_; }

 private:
  void* address_ = nullptr;
  size_t bytes_ = 0;
  std::unique_ptr<SlotReader> reader_;
  std::unique_ptr<FrameView> view_;
  std::mutex mutex_;
  std::atomic<uint64_t> torn_{0};
};

Napi::Object intrinsicsOf(Napi::Env env, const Intrinsics& k) {
  auto out = Napi::Object::New(env);
  out.Set("width", k.width);
  out.Set("height", k.height);
  out.Set("fx", k.fx);
  out.Set("fy", k.fy);
  out.Set("cx", k.cx);
  out.Set("cy", k.cy);
  out.Set("model", nameOf(k.model));
  auto coeffs = Napi::Array::New(env, 5);
  for (uint32_t i = 0; i < 5; ++i)
    coeffs.Set(i, k.coeffs[i]);
  out.Set("coeffs", coeffs);
  return out;
}

Napi::Object planeOf(Napi::Env env, const PlaneHeader& plane, const Intrinsics& handed_out) {
  auto out = Napi::Object::New(env);
  out.Set("frame_number", static_cast<double>(plane.frame_number));
  out.Set("lost", static_cast<double>(plane.lost));
  out.Set("stamp_s", plane.stamp_s);
  out.Set("domain", nameOf(plane.domain));
  out.Set("exposure_time_s", plane.exposure_time_s);
  out.Set("earliest_time_s", plane.earliest_time_s);
  out.Set("exposure_duration_s", plane.exposure_duration_s);
  out.Set("uncertainty_s", plane.uncertainty_s);
  out.Set("clamped", plane.clamped != 0);
  out.Set("units_m", plane.units_m);
  out.Set("intrinsics", intrinsicsOf(env, handed_out));
  auto X = Napi::Array::New(env, 16);
  for (uint32_t row = 0; row < 3; ++row) {
    for (uint32_t column = 0; column < 3; ++column)
      X.Set(row * 4 + column, plane.X_reference_plane.r[row * 3 + column]);
    X.Set(row * 4 + 3, plane.X_reference_plane.t[row]);
  }
  for (uint32_t i = 12; i < 16; ++i)
    X.Set(i, i == 15 ? 1 : 0);
  out.Set("X_left_plane", X);
  return out;
}

class ReadWorker : public Napi::AsyncWorker {
 public:
  ReadWorker(Napi::Env env,
             std::shared_ptr<Mapping> mapping,
             const ViewOptions& options,
             const ViewBuffers& buffers,
             const Napi::Object& kept)
      : Napi::AsyncWorker(env, "s2r.camera.read"),
        deferred_(Napi::Promise::Deferred::New(env)),
        mapping_(std::move(mapping)),
        options_(options),
        buffers_(buffers),
        kept_(Napi::Persistent(kept)) {}

  [[nodiscard]] Napi::Promise promise() const { return deferred_.Promise(); }

  void Execute() override {
    try {
      result_ = mapping_->read(options_, buffers_, view_);
    } catch (const CameraError& error) {
      code_ = error.code();
      SetError(error.what());
    }
  }

  void OnOK() override {
    const Napi::Env env = Env();
    if (result_ != FrameView::Result::kOk) {
      deferred_.Resolve(env.Null());
      return;
    }
    auto out = Napi::Object::New(env);
    const FrameHeader& frame = view_.frame;
    out.Set("count", static_cast<double>(frame.count));
    out.Set("arrival_time_s", frame.arrival_time_s);
    out.Set("earliest_time_s", frame.earliest_time_s);
    out.Set("published_time_s", frame.published_time_s);
    out.Set("clock_restarts", static_cast<double>(frame.clock_restarts));
    out.Set("refused", static_cast<double>(frame.refused));
    out.Set("depth_registered", view_.depth_registered);
    out.Set("copy_s", view_.copy_s);
    out.Set("make_s", view_.make_s);
    auto planes = Napi::Object::New(env);
    for (int i = 0; i < s2r::camera::kPlanes; ++i) {
      if (view_.intrinsics[static_cast<size_t>(i)].has_value())
        planes.Set(nameOf(static_cast<PlaneKind>(i)),
                   planeOf(env, frame.planes[i], *view_.intrinsics[static_cast<size_t>(i)]));
    }
    out.Set("planes", planes);
    deferred_.Resolve(out);
  }

  void OnError(const Napi::Error& error) override {
    deferred_.Reject(errorOf(Env(), code_, error.Message()).Value());
  }

 private:
  const Napi::Promise::Deferred deferred_;
  const std::shared_ptr<Mapping> mapping_;
  const ViewOptions options_;
  const ViewBuffers buffers_;
  const Napi::ObjectReference kept_;  // the buffers' owner, so that they outlive the work
  FrameView::Result result_ = FrameView::Result::kNone;
  View view_;
  std::string code_ = "camera_failed";
};

class FrameReader : public Napi::ObjectWrap<FrameReader> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(
        env, "FrameReader",
        {InstanceMethod("status", &FrameReader::status), InstanceMethod("read", &FrameReader::read),
         InstanceMethod("close", &FrameReader::close)});
  }

  explicit FrameReader(const Napi::CallbackInfo& info) : Napi::ObjectWrap<FrameReader>(info) {
    if (info.Length() != 1 || !info[0].IsNumber())
      throw Napi::TypeError::New(info.Env(), "FrameReader takes the descriptor of a frame memory");
    try {
      mapping_ = std::make_shared<Mapping>(info[0].As<Napi::Number>().Int32Value());
    } catch (const CameraError& error) {
      throw errorOf(info.Env(), error.code(), error.what());
    }
  }

 private:
  [[nodiscard]] Mapping& mapping(Napi::Env env) const {
    if (mapping_ == nullptr)
      throw errorOf(env, "camera_failed", "the camera is closed");
    return *mapping_;
  }

  Napi::Value status(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const Mapping& mapped = mapping(env);
    auto out = Napi::Object::New(env);
    out.Set("count", static_cast<double>(mapped.reader().newestCount()));
    out.Set("heartbeat_age_s",
            s2r::camera::monotonicSeconds() - mapped.reader().heartbeatSeconds());
    out.Set("torn", static_cast<double>(mapped.torn()));
    FrameHeader newest;
    const bool known = mapped.reader().peek(newest) == SlotReader::Result::kOk;
    out.Set("earliest_time_s", known ? newest.earliest_time_s : s2r::camera::kUnknown);
    return out;
  }

  template <class T>
  static std::span<T> spanOf(const Napi::Object& buffers,
                             const char* name,
                             napi_typedarray_type type) {
    const Napi::Value value = buffers.Get(name);
    if (value.IsNull() || value.IsUndefined())
      return {};
    if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type)
      throw Napi::TypeError::New(buffers.Env(),
                                 std::string("buffers.") + name + " has a wrong type");
    auto array = value.As<Napi::TypedArrayOf<T>>();
    return {array.Data(), array.ElementLength()};
  }

  Napi::Value read(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    if (info.Length() != 2 || !info[0].IsObject() || !info[1].IsObject())
      throw Napi::TypeError::New(env, "read takes options and buffers");
    (void)mapping(env);
    const auto wanted = info[0].As<Napi::Object>();
    const auto buffers = info[1].As<Napi::Object>();
    ViewOptions options;
    options.rectify = wanted.Get("rectify").ToBoolean();
    options.register_depth = wanted.Get("register_depth").ToBoolean();
    options.not_before_s = wanted.Get("not_before_s").ToNumber();
    ViewBuffers to;
    to.rgb = spanOf<uint8_t>(buffers, "rgb", napi_uint8_array);
    to.depth_m = spanOf<float>(buffers, "depth_m", napi_float32_array);
    to.infrared_left = spanOf<uint8_t>(buffers, "infrared_left", napi_uint8_array);
    to.infrared_right = spanOf<uint8_t>(buffers, "infrared_right", napi_uint8_array);
    auto* worker = new ReadWorker(env, mapping_, options, to, buffers);
    const Napi::Promise promise = worker->promise();
    worker->Queue();
    return promise;
  }

  Napi::Value close(const Napi::CallbackInfo& info) {
    mapping_ = nullptr;
    return info.Env().Undefined();
  }

  std::shared_ptr<Mapping> mapping_;
};

class CameraAddon : public Napi::Addon<CameraAddon> {
 public:
  CameraAddon(Napi::Env env, Napi::Object exports) {
    DefineAddon(exports, {InstanceMethod("createMemory", &CameraAddon::createMemory),
                          InstanceMethod("closeMemory", &CameraAddon::closeMemory),
                          InstanceMethod("monotonicSeconds", &CameraAddon::monotonicSeconds)});
    exports.Set("FrameReader", FrameReader::define(env));
  }

 private:
  Napi::Value createMemory(const Napi::CallbackInfo& info) {
    const int fd = memfd_create("s2r-camera", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) {
      throw errorOf(info.Env(), "camera_failed",
                    std::string("no memory for frames can be made: ") + std::strerror(errno));
    }
    return Napi::Number::New(info.Env(), fd);
  }
  Napi::Value closeMemory(const Napi::CallbackInfo& info) {
    ::close(info[0].As<Napi::Number>().Int32Value());
    return info.Env().Undefined();
  }
  Napi::Value monotonicSeconds(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), s2r::camera::monotonicSeconds());
  }
};

}  // namespace

NODE_API_ADDON(CameraAddon)
