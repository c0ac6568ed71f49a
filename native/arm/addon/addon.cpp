// Node binding: open() makes an Arm; its commands are answered by the real-time thread within a
// cycle or two, what takes longer (open, recover, close) runs on a thread of its own and settles a
// promise.
#include <dlfcn.h>

#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "native/arm/addon/convert.h"
#include "native/arm/addon/session.h"

namespace s2r::arm {
namespace {

using SessionPointer = std::shared_ptr<Session>;

// Runs `work` on a thread of its own and settles a promise on the event loop with what `finish`
// makes of it.
Napi::Promise runTask(Napi::Env env,
                      const char* name,
                      std::function<void(const Napi::ThreadSafeFunction&)> work,
                      std::function<Napi::Value(Napi::Env)> finish,
                      const Napi::Function& callback = {}) {
  auto deferred = std::make_shared<Napi::Promise::Deferred>(Napi::Promise::Deferred::New(env));
  const Napi::Function called =
      callback.IsEmpty() ? Napi::Function::New(env, [](const Napi::CallbackInfo&) {}) : callback;
  Napi::ThreadSafeFunction settle = Napi::ThreadSafeFunction::New(env, called, name, 0, 1);
  std::thread([=]() mutable {
    std::string code;
    std::string message;
    try {
      work(settle);
    } catch (const ArmError& error) {
      code = error.code();
      message = error.what();
    } catch (const std::exception& error) {
      code = "arm_control";
      message = error.what();
    }
    const auto settled = [deferred, code, message, finish](Napi::Env on, const Napi::Function&) {
      if (code.empty()) {
        deferred->Resolve(finish(on));
      } else {
        deferred->Reject(toError(on, code, message).Value());
      }
    };
    if (settle.BlockingCall(settled) == napi_ok) {
      settle.Release();
    }
  }).detach();
  return deferred->Promise();
}

// The arms of one environment. Shared with the handler of exit(), which outlives the environment.
class Registry {
 public:
  void add(const SessionPointer& session) {
    const std::lock_guard lock(mutex_);
    std::erase_if(sessions_, [](const std::weak_ptr<Session>& known) { return known.expired(); });
    sessions_.push_back(session);
  }

  // Arms that are open come to rest; one that is still being opened is closed by the thread that
  // opens it.
  void end(bool process_ends) {
    std::vector<std::weak_ptr<Session>> sessions;
    {
      const std::lock_guard lock(mutex_);
      sessions.swap(sessions_);
    }
    for (const auto& known : sessions) {
      if (const SessionPointer session = known.lock()) {
        process_ends ? session->mute() : session->silence();
        if (session->isOpen()) {
          (void)session->close();
        } else {
          session->cancel();
        }
      }
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<Session>> sessions_;
};

class ArmObject : public Napi::ObjectWrap<ArmObject> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(
        env, "Arm",
        {InstanceMethod<&ArmObject::info>("info"), InstanceMethod<&ArmObject::state>("state"),
         InstanceMethod<&ArmObject::stateAt>("stateAt"),
         InstanceMethod<&ArmObject::execute>("execute"), InstanceMethod<&ArmObject::stop>("stop"),
         InstanceMethod<&ArmObject::signalStops>("signalStops"),
         InstanceMethod<&ArmObject::resume>("resume"),
         InstanceMethod<&ArmObject::setLoad>("setLoad"),
         InstanceMethod<&ArmObject::renewLease>("renewLease"),
         InstanceMethod<&ArmObject::holdLease>("holdLease"),
         InstanceMethod<&ArmObject::endLease>("endLease"),
         InstanceMethod<&ArmObject::timing>("timing"),
         InstanceMethod<&ArmObject::recover>("recover"),
         InstanceMethod<&ArmObject::close>("close")});
  }

  explicit ArmObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<ArmObject>(info) {
    if (info.Length() != 1 || !info[0].IsExternal()) {
      throw Napi::TypeError::New(info.Env(), "an Arm is made by open()");
    }
    session_ = *info[0].As<Napi::External<SessionPointer>>().Data();
  }

  // Collected without close(): the arm is brought to rest beside the event loop.
  ~ArmObject() override {
    if (session_) {
      std::thread([session = std::move(session_)] { (void)session->close(); }).detach();
    }
  }

 private:
  ArmProcess& process(const Napi::CallbackInfo& info) {
    if (!session_->isOpen() || closing_) {
      throw toError(info.Env(), "arm_closed", "the arm is closed: open it anew");
    }
    return session_->process();
  }

  void throwRefused(const Napi::CallbackInfo& info, const Refused& refused) {
    if (!refused.code.empty()) {
      throw toError(info.Env(), refused.code, refused.message);
    }
  }

  Napi::Value info(const Napi::CallbackInfo& info) {
    return fromInfo(info.Env(), process(info).info());
  }

  Napi::Value state(const Napi::CallbackInfo& info) {
    ArmProcess& arm = process(info);
    Snapshot snapshot;
    StopState stop;
    if (!arm.state(snapshot, stop)) {
      return info.Env().Null();
    }
    Napi::Object to = withFault(info.Env(), arm, snapshot);
    to.Set("stop_latched", stop.latched);
    to.Set("stop_epoch", static_cast<double>(stop.stop_epoch));
    to.Set("stop_reason", stop.latched ? std::string(stop.reason.view()) : std::string());
    return to;
  }

  Napi::Value stateAt(const Napi::CallbackInfo& info) {
    ArmProcess& arm = process(info);
    const double time_s = info[0].ToNumber().DoubleValue();
    Snapshot before;
    Snapshot after;
    if (!arm.stateAt(time_s, before, after)) {
      return info.Env().Null();
    }
    Napi::Object to = withFault(info.Env(), arm, between(before, after, time_s));
    to.Set("stop_reason", std::string());
    return to;
  }

  Napi::Object withFault(Napi::Env env, const ArmProcess& arm, const Snapshot& snapshot) {
    Napi::Object to = fromSnapshot(env, snapshot, session_->X_world_base());
    const FaultDetail fault = faultOf(snapshot);
    to.Set("fault_message", fault.code == FaultCode::kNone ? std::string() : arm.faultText(fault));
    return to;
  }

  void execute(const Napi::CallbackInfo& info) {
    if (info.Length() < 5 || !info[2].IsTypedArray() || !info[3].IsTypedArray() ||
        !info[4].IsObject()) {
      throw Napi::TypeError::New(info.Env(), "execute(group, epoch, time_s, q_rad, guard)");
    }
    const auto times = info[2].As<Napi::Float64Array>();
    const auto joints = info[3].As<Napi::Float64Array>();
    if (times.TypedArrayType() != napi_float64_array ||
        joints.TypedArrayType() != napi_float64_array) {
      throw Napi::TypeError::New(info.Env(), "time_s and q_rad must be Float64Array");
    }
    Trajectory trajectory;
    trajectory.time_s.assign(times.Data(), times.Data() + times.ElementLength());
    trajectory.q_rad.assign(joints.Data(), joints.Data() + joints.ElementLength());
    throwRefused(info,
                 process(info).execute(toCount(info[0], "group"), toCount(info[1], "stopEpoch"),
                                       std::move(trajectory), toGuard(info[4].As<Napi::Object>())));
  }

  Napi::Value stop(const Napi::CallbackInfo& info) {
    const StopServed served = process(info).stop(info[0].ToString().Utf8Value());
    return Napi::Number::New(info.Env(), static_cast<double>(served.stop_epoch));
  }

  void signalStops(const Napi::CallbackInfo& info) {
    try {
      process(info).signalStops(info[0].ToNumber().Int32Value());
    } catch (const ArmError& error) {
      throw toError(info.Env(), error.code(), error.what());
    }
  }

  void resume(const Napi::CallbackInfo& info) {
    const std::string text = info[1].ToString().Utf8Value();
    std::uint64_t token = 0;
    if (!text.empty() && text.size() <= 16 &&
        text.find_first_not_of("0123456789abcdef") == std::string::npos) {
      token = std::stoull(text, nullptr, 16);
    } else if (!text.empty()) {
      throw toError(info.Env(), "resume_token", "the token has not the form that recover gives");
    }
    throwRefused(info, process(info).resume(toCount(info[0], "stopEpoch"), token));
  }

  void setLoad(const Napi::CallbackInfo& info) {
    if (!info[0].IsObject()) {
      throw Napi::TypeError::New(info.Env(), "setLoad(load)");
    }
    process(info).setLoad(toLoad(info[0].As<Napi::Object>()));
  }

  void renewLease(const Napi::CallbackInfo& info) {
    process(info).renewLease(info[0].ToNumber().Uint32Value());
  }
  void holdLease(const Napi::CallbackInfo& info) {
    process(info).holdLease(info[0].ToBoolean().Value());
  }
  void endLease(const Napi::CallbackInfo& info) { process(info).endLease(); }

  Napi::Value timing(const Napi::CallbackInfo& info) {
    ArmProcess& arm = process(info);
    Napi::Object to = Napi::Object::New(info.Env());
    to.Set("wake_lateness", fromLateness(info.Env(), arm.lateness()));
    to.Set("servo_call", fromLateness(info.Env(), arm.servoCost()));
    to.Set("events_dropped", static_cast<double>(arm.eventsDropped() + session_->eventsDropped()));
    return to;
  }

  Napi::Value recover(const Napi::CallbackInfo& info) {
    (void)process(info);
    auto recovered = std::make_shared<Recovered>();
    const SessionPointer session = session_;
    return runTask(
        info.Env(), "arm recover",
        [session, recovered](const Napi::ThreadSafeFunction& called) {
          *recovered = session->process().recover([&called](double seconds) {
            (void)called.BlockingCall([seconds](Napi::Env env, const Napi::Function& onWait) {
              onWait.Call({Napi::Number::New(env, seconds)});
            });
          });
        },
        [recovered](Napi::Env env) -> Napi::Value {
          char token[24];
          std::snprintf(token, sizeof(token), "%016llx",
                        static_cast<unsigned long long>(recovered->token));
          Napi::Object to = Napi::Object::New(env);
          to.Set("token", std::string(token));
          to.Set("stop_epoch", static_cast<double>(recovered->stop_epoch));
          to.Set("count", recovered->count);
          return to;
        },
        info[0].IsFunction() ? info[0].As<Napi::Function>() : Napi::Function());
  }

  Napi::Value close(const Napi::CallbackInfo& info) {
    closing_ = true;
    const SessionPointer session = session_;
    auto whole = std::make_shared<bool>(true);
    return runTask(
        info.Env(), "arm close",
        [session, whole](const Napi::ThreadSafeFunction&) { *whole = session->close(); },
        [session, whole](Napi::Env env) -> Napi::Value {
          session->silence();
          return Napi::Boolean::New(env, *whole);
        });
  }

  SessionPointer session_;
  bool closing_ = false;
};

// Per environment, so that worker threads have arms of their own.
class Addon : public Napi::Addon<Addon> {
 public:
  Addon(Napi::Env env, Napi::Object exports) {
    // Threads may outlive the environment by a little: the code that they run must stay mapped.
    Dl_info where{};
    if (dladdr(reinterpret_cast<void*>(&urRtdeControl), &where) != 0) {
      (void)dlopen(where.dli_fname, RTLD_NOW | RTLD_NODELETE);
    }
    constructor_ = Napi::Persistent(ArmObject::define(env));
    DefineAddon(exports, {InstanceMethod("open", &Addon::open)});
    env.AddCleanupHook([](Addon* self) { self->registry_->end(false); }, this);
    // process.exit() and an exception that nobody caught run no clean-up of the environment, only
    // exit().
    on_exit([](int,
               void* registry) { (*static_cast<std::shared_ptr<Registry>*>(registry))->end(true); },
            new std::shared_ptr<Registry>(registry_));
  }

 private:
  Napi::Value open(const Napi::CallbackInfo& info) {
    if (info.Length() < 2 || !info[0].IsObject() || !info[1].IsFunction()) {
      throw Napi::TypeError::New(info.Env(), "open(options, listener)");
    }
    auto session = std::make_shared<Session>(info.Env(), toOptions(info[0].As<Napi::Object>()),
                                             info[1].As<Napi::Function>());
    registry_->add(session);
    return runTask(
        info.Env(), "arm open", [session](const Napi::ThreadSafeFunction&) { session->open(); },
        [this, session](Napi::Env env) -> Napi::Value {
          SessionPointer pointer = session;
          return constructor_.New({Napi::External<SessionPointer>::New(env, &pointer)});
        });
  }

  Napi::FunctionReference constructor_;
  std::shared_ptr<Registry> registry_ = std::make_shared<Registry>();
};

}  // namespace
}  // namespace s2r::arm

using ArmAddon = s2r::arm::Addon;
NODE_API_ADDON(ArmAddon)
