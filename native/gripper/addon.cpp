// Node binding of the gripper's driver: class Gripper (one line each) and the linkage's
// conversions.
#include <napi.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "native/gripper/driver.h"
#include "native/gripper/kinematics.h"

namespace {

using s2r::gripper::Dialect;
using s2r::gripper::Driver;
using s2r::gripper::DriverOptions;
using s2r::gripper::EndReason;
using s2r::gripper::Event;
using s2r::gripper::EventType;
using s2r::gripper::Failure;
using s2r::gripper::Phase;
using s2r::gripper::State;

// Events wait here while JavaScript is busy; there are a few in a second at most.
constexpr size_t kMostEventsQueued = 1024;

const char* nameOf(EventType type) {
  switch (type) {
    case EventType::kReady:
      return "ready";
    case EventType::kMotionEnded:
      return "motion_ended";
    case EventType::kSlipped:
      return "slipped";
    case EventType::kFault:
      return "fault";
    case EventType::kDialect:
      return "dialect";
  }
  return "fault";
}

const char* nameOf(EndReason reason) {
  switch (reason) {
    case EndReason::kCompleted:
      return "completed";
    case EndReason::kStalled:
      return "stalled";
    case EndReason::kTimeout:
      return "timeout";
    case EndReason::kFault:
      return "fault";
    case EndReason::kStopped:
      return "stopped";
  }
  return "fault";
}

const char* nameOf(Phase phase) {
  switch (phase) {
    case Phase::kClosed:
      return "closed";
    case Phase::kConnecting:
      return "connecting";
    case Phase::kLimiting:
      return "limiting";
    case Phase::kEnabling:
      return "enabling";
    case Phase::kReady:
      return "ready";
    case Phase::kMoving:
      return "moving";
    case Phase::kReleasing:
      return "releasing";
    case Phase::kFault:
      return "fault";
  }
  return "fault";
}

const char* nameOf(Dialect dialect) {
  return dialect == Dialect::kRos ? "ros" : dialect == Dialect::kSdk ? "sdk" : "auto";
}

Napi::Value failureOf(Napi::Env env, const Failure& failure) {
  if (failure.code.empty())
    return env.Null();
  auto out = Napi::Object::New(env);
  out.Set("code", failure.code);
  out.Set("message", failure.message);
  return out;
}

Napi::Value numberOrNull(Napi::Env env, double value) {
  return std::isfinite(value) ? Napi::Number::New(env, value) : env.Null();
}

Napi::Value numberOrNull(Napi::Env env, const std::optional<double>& value) {
  return value ? numberOrNull(env, *value) : env.Null();
}

Napi::Object eventOf(Napi::Env env, const Event& event) {
  auto out = Napi::Object::New(env);
  out.Set("type", nameOf(event.type));
  out.Set("time_s", event.time_s);
  out.Set("motion", static_cast<double>(event.motion));
  out.Set("reason", nameOf(event.reason));
  out.Set("opening_m", numberOrNull(env, event.opening_m));
  out.Set("failure", failureOf(env, event.failure));
  return out;
}

double numberOf(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  if (!value.IsNumber()) {
    throw Napi::TypeError::New(object.Env(), std::string(name) + " must be a number");
  }
  return value.As<Napi::Number>().DoubleValue();
}

std::optional<double> maybeNumberOf(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  if (value.IsUndefined() || value.IsNull())
    return std::nullopt;
  return numberOf(object, name);
}

std::string textOf(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  if (!value.IsString()) {
    throw Napi::TypeError::New(object.Env(), std::string(name) + " must be a string");
  }
  return value.As<Napi::String>();
}

DriverOptions optionsOf(const Napi::Object& object) {
  DriverOptions options;
  options.port.path = textOf(object, "path");
  options.port.usb_serial = textOf(object, "usb_serial");
  const std::string dialect = textOf(object, "dialect");
  if (dialect != "auto" && dialect != "sdk" && dialect != "ros") {
    throw Napi::TypeError::New(object.Env(),
                               "dialect is \"" + dialect + "\", but must be auto, sdk or ros");
  }
  options.settings.dialect = dialect == "ros"   ? Dialect::kRos
                             : dialect == "sdk" ? Dialect::kSdk
                                                : Dialect::kAuto;
  options.settings.current_limit_a = numberOf(object, "current_limit_a");
  options.settings.newton_per_amp = numberOf(object, "newton_per_amp");
  options.settings.speed_m_s = numberOf(object, "speed_m_s");
  options.settings.max_speed_m_s = numberOf(object, "max_speed_m_s");
  options.settings.tolerance_m = numberOf(object, "tolerance_m");
  options.settings.slip_m = numberOf(object, "slip_m");
  const std::string on_disconnect = textOf(object, "on_disconnect");
  if (on_disconnect != "hold" && on_disconnect != "release") {
    throw Napi::TypeError::New(
        object.Env(), "on_disconnect is \"" + on_disconnect + "\", but must be hold or release");
  }
  options.release_on_close = on_disconnect == "release";
  return options;
}

// What outlives the JavaScript object: the driver, and the way back to JavaScript.
struct Link {
  Napi::ThreadSafeFunction events;
  std::unique_ptr<Driver> driver;
  std::atomic<uint64_t> dropped_events = 0;
  bool finished = false;  // on the JavaScript thread

  // Ends the driver's thread, then gives the way back: nobody uses it after that.
  void finish() {
    if (finished)
      return;
    finished = true;
    driver->close();
    events.Release();
  }

  void send(const Event& event) {
    auto copy = std::make_unique<Event>(event);
    const auto call = [](Napi::Env env, Napi::Function listener, Event* data) {
      const std::unique_ptr<Event> owned(data);
      if (env != nullptr && !listener.IsEmpty())
        listener.Call({eventOf(env, *owned)});
    };
    if (events.NonBlockingCall(copy.get(), call) == napi_ok) {
      [[maybe_unused]] Event* taken = copy.release();
    } else {
      ++dropped_events;
    }
  }
};

// The end of an environment (a worker, a test runner or a main thread that ran out of work) closes
// the line as close() does. It runs before the thread-safe function's own end, which was registered
// earlier. A main thread that calls process.exit() runs no such hooks: there the wrapper calls
// closeNow.
void endWithEnvironment(void* data) {
  static_cast<Link*>(data)->finish();
}

class CloseWorker : public Napi::AsyncWorker {
 public:
  CloseWorker(Napi::Env env, std::shared_ptr<Link> link)
      : Napi::AsyncWorker(env, "s2r.gripper.close"),
        deferred_(Napi::Promise::Deferred::New(env)),
        link_(std::move(link)) {}
  [[nodiscard]] Napi::Promise promise() const { return deferred_.Promise(); }
  void Execute() override { released_ = link_->driver->close(); }
  void OnOK() override { deferred_.Resolve(Napi::Boolean::New(Env(), released_)); }
  void OnError(const Napi::Error& error) override { deferred_.Reject(error.Value()); }

 private:
  const Napi::Promise::Deferred deferred_;
  const std::shared_ptr<Link> link_;
  bool released_ = false;
};

class Gripper : public Napi::ObjectWrap<Gripper> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(
        env, "Gripper",
        {InstanceMethod("state", &Gripper::state), InstanceMethod("info", &Gripper::info),
         InstanceMethod("stopDescriptor", &Gripper::stopDescriptor),
         InstanceMethod("stops", &Gripper::stops), InstanceMethod("move", &Gripper::move),
         InstanceMethod("hold", &Gripper::hold), InstanceMethod("recover", &Gripper::recover),
         InstanceMethod("close", &Gripper::close), InstanceMethod("closeNow", &Gripper::closeNow)});
  }

  explicit Gripper(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Gripper>(info) {
    if (info.Length() != 2 || !info[0].IsObject() || !info[1].IsFunction()) {
      throw Napi::TypeError::New(info.Env(), "Gripper takes options and a listener");
    }
    const DriverOptions options = optionsOf(info[0].As<Napi::Object>());
    link_ = std::make_shared<Link>();
    link_->events = Napi::ThreadSafeFunction::New(info.Env(), info[1].As<Napi::Function>(),
                                                  "s2r.gripper.events", kMostEventsQueued, 1);
    // An open gripper alone keeps no process alive.
    link_->events.Unref(info.Env());
    link_->driver =
        std::make_unique<Driver>(options, [link = link_.get()](const Event& e) { link->send(e); });
    napi_add_env_cleanup_hook(info.Env(), endWithEnvironment, link_.get());
  }

  // After the environment's end the hook has run, and must not be taken away once more.
  ~Gripper() override {
    if (!link_ || link_->finished)
      return;
    napi_remove_env_cleanup_hook(Env(), endWithEnvironment, link_.get());
    link_->finish();
  }

 private:
  Napi::Value state(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const State state = link_->driver->state();
    auto out = Napi::Object::New(env);
    out.Set("phase", nameOf(state.phase));
    out.Set("time_s", numberOrNull(env, state.time_s));
    out.Set("angle_rad", numberOrNull(env, state.angle_rad));
    out.Set("opening_m", numberOrNull(env, state.opening_m));
    out.Set("target_opening_m", numberOrNull(env, state.target_opening_m));
    out.Set("speed_m_s", state.speed_m_s);
    out.Set("current_a", state.current_a);
    out.Set("force_estimate_n", state.force_estimate_n);
    out.Set("moving", state.moving);
    out.Set("stalled", state.stalled);
    out.Set("slipped", state.slipped);
    out.Set("status_bits", state.status_bits);
    out.Set("enabled", (state.status_bits & s2r::gripper::kStatusEnabled) != 0);
    out.Set("homed", (state.status_bits & s2r::gripper::kStatusHomed) != 0);
    out.Set("voltage_v", numberOrNull(env, state.voltage_v));
    out.Set("driver_temperature_c", numberOrNull(env, state.driver_temperature_c));
    out.Set("motor_temperature_c", numberOrNull(env, state.motor_temperature_c));
    out.Set("motion", static_cast<double>(state.motion));
    out.Set("fault", failureOf(env, state.fault));
    return out;
  }

  Napi::Value info(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const State state = link_->driver->state();
    const auto counters = link_->driver->counters();
    auto out = Napi::Object::New(env);
    out.Set("device", link_->driver->resolvedPath());
    out.Set("dialect", nameOf(state.dialect));
    out.Set("version", state.version.empty() ? env.Null() : Napi::String::New(env, state.version));
    out.Set("current_limit_a", state.current_limit_a);
    out.Set("limit_observed", state.limit_observed);
    const auto count = [&](const char* name, uint64_t value) {
      out.Set(name, static_cast<double>(value));
    };
    count("bytes", counters.stream.bytes);
    count("reports", counters.stream.reports);
    count("skipped_reports", counters.skipped_reports);
    count("unknown_objects", counters.stream.unknown);
    count("syntax_errors", counters.stream.syntax_errors);
    count("noise_bytes", counters.stream.noise_bytes);
    count("opened", counters.opened);
    count("dropped_events", link_->dropped_events);
    return out;
  }

  Napi::Value move(const Napi::CallbackInfo& info) {
    if (info.Length() != 1 || !info[0].IsObject()) {
      throw Napi::TypeError::New(info.Env(), "move takes an object");
    }
    const auto object = info[0].As<Napi::Object>();
    const auto stops = maybeNumberOf(object, "stops");
    const auto reply =
        link_->driver->move({numberOf(object, "opening_m"), maybeNumberOf(object, "force_n"),
                             maybeNumberOf(object, "speed_m_s"),
                             stops ? std::optional(static_cast<uint64_t>(*stops)) : std::nullopt});
    auto out = Napi::Object::New(info.Env());
    out.Set("motion", static_cast<double>(reply.motion));
    out.Set("failure", failureOf(info.Env(), reply.refusal.value_or(Failure{})));
    return out;
  }

  Napi::Value stopDescriptor(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), link_->driver->stopDescriptor());
  }

  Napi::Value stops(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), static_cast<double>(link_->driver->stops()));
  }

  void hold(const Napi::CallbackInfo& /*info*/) { link_->driver->hold(); }

  Napi::Value recover(const Napi::CallbackInfo& info) {
    return failureOf(info.Env(), link_->driver->recover().value_or(Failure{}));
  }

  Napi::Value close(const Napi::CallbackInfo& info) {
    auto* worker = new CloseWorker(info.Env(), link_);
    worker->Queue();
    return worker->promise();
  }

  // For the end of the process, after which no promise is kept: returns within 0.3 s.
  Napi::Value closeNow(const Napi::CallbackInfo& info) {
    return Napi::Boolean::New(info.Env(), link_->driver->close());
  }

  std::shared_ptr<Link> link_;
};

class GripperAddon : public Napi::Addon<GripperAddon> {
 public:
  GripperAddon(Napi::Env env, Napi::Object exports) {
    DefineAddon(exports, {InstanceValue("Gripper", Gripper::define(env)),
                          InstanceMethod("openingFromAngle", &GripperAddon::openingFromAngle),
                          InstanceMethod("angleFromOpening", &GripperAddon::angleFromOpening)});
  }

 private:
  static double argument(const Napi::CallbackInfo& info) {
    if (info.Length() != 1 || !info[0].IsNumber()) {
      throw Napi::TypeError::New(info.Env(), "takes one number");
    }
    return info[0].As<Napi::Number>().DoubleValue();
  }

  Napi::Value openingFromAngle(const Napi::CallbackInfo& info) {
    return numberOrNull(info.Env(), s2r::gripper::openingFromAngle(argument(info)));
  }

  Napi::Value angleFromOpening(const Napi::CallbackInfo& info) {
    return numberOrNull(info.Env(), s2r::gripper::angleFromOpening(argument(info)));
  }
};

}  // namespace

NODE_API_ADDON(GripperAddon)
