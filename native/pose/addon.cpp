// Node binding: one class `Arm` per model; its asynchronous methods run on libuv's worker threads.
#include <algorithm>
#include <functional>

#include "native/pose/convert.h"

namespace s2r::pose {
namespace {

// Computes `Result` off the event loop and settles a promise with it. Keeps the arm alive
// meanwhile.
template <typename Result>
class Job : public Napi::AsyncWorker {
 public:
  using Compute = std::function<Result(const Arm&)>;
  using Convert = Napi::Value (*)(Napi::Env, const Result&);

  static Napi::Value start(Napi::Env env,
                           std::shared_ptr<const Arm> arm,
                           Compute compute,
                           Convert convert) {
    auto* job = new Job(env, std::move(arm), std::move(compute), convert);
    const Napi::Promise promise = job->deferred_.Promise();
    job->Queue();
    return promise;
  }

  void Execute() override { result_ = compute_(*arm_); }
  void OnOK() override { deferred_.Resolve(convert_(Env(), result_)); }
  void OnError(const Napi::Error& error) override { deferred_.Reject(error.Value()); }

 private:
  Job(Napi::Env env, std::shared_ptr<const Arm> arm, Compute compute, Convert convert)
      : Napi::AsyncWorker(env),
        deferred_(Napi::Promise::Deferred::New(env)),
        arm_(std::move(arm)),
        compute_(std::move(compute)),
        convert_(convert) {}

  Napi::Promise::Deferred deferred_;
  std::shared_ptr<const Arm> arm_;
  Compute compute_;
  Convert convert_;
  Result result_;
};

Napi::Object optionsOf(const Napi::CallbackInfo& info) {
  if (!info[0].IsObject()) {
    throw Napi::TypeError::New(info.Env(), "options: expected an object");
  }
  return info[0].As<Napi::Object>();
}

class ArmObject : public Napi::ObjectWrap<ArmObject> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "Arm",
                       {InstanceMethod<&ArmObject::forward>("forward"),
                        InstanceMethod<&ArmObject::linkFrames>("linkFrames"),
                        InstanceMethod<&ArmObject::inverse>("inverse"),
                        InstanceMethod<&ArmObject::inverseNearest>("inverseNearest"),
                        InstanceMethod<&ArmObject::jacobian>("jacobian"),
                        InstanceMethod<&ArmObject::checkCollision>("checkCollision"),
                        InstanceMethod<&ArmObject::planJointMotion>("planJoint"),
                        InstanceMethod<&ArmObject::planPathMotion>("planLinear"),
                        InstanceMethod<&ArmObject::planPathMotion>("planPath"),
                        InstanceMethod<&ArmObject::compileGraspPoses>("compileGrasp"),
                        InstanceMethod<&ArmObject::compilePlacePoses>("compilePlace")});
  }

  explicit ArmObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<ArmObject>(info) {
    try {
      arm_ = std::make_shared<const Arm>(toArmModel(info[0]));
    } catch (const std::invalid_argument& error) {
      throw Napi::Error::New(info.Env(), error.what());
    }
  }

 private:
  Napi::Value forward(const Napi::CallbackInfo& info) {
    return fromTransform(info.Env(), arm_->kinematics().forward(toJoints(info[0], "q_rad")));
  }
  Napi::Value linkFrames(const Napi::CallbackInfo& info) {
    const Frames frames = arm_->kinematics().frames(toJoints(info[0], "q_rad"));
    Napi::Array out = Napi::Array::New(info.Env(), frames.size());
    for (uint32_t i = 0; i < frames.size(); ++i) {
      out.Set(i, fromTransform(info.Env(), frames[i]));
    }
    return out;
  }
  Napi::Value inverse(const Napi::CallbackInfo& info) {
    const Transform X = toTransform(info[0], "X_world_tcp");
    std::vector<Joints> solutions;
    if (info[1].ToBoolean()) {
      solutions = arm_->inverse.solveWithin(X, info[2].ToBoolean());
    } else {
      const Solutions all = arm_->inverse.solve(X);
      solutions.assign(all.q_rad.begin(), all.q_rad.begin() + all.count);
      std::ranges::stable_sort(solutions, {},
                               [](const Joints& q) { return q.cwiseAbs().maxCoeff(); });
    }
    Napi::Array out = Napi::Array::New(info.Env(), solutions.size());
    for (uint32_t i = 0; i < solutions.size(); ++i) {
      out.Set(i, fromJoints(info.Env(), solutions[i]));
    }
    return out;
  }
  Napi::Value inverseNearest(const Napi::CallbackInfo& info) {
    const auto near = arm_->inverse.solveNear(toTransform(info[0], "X_world_tcp"),
                                              toJoints(info[1], "q_seed_rad"));
    return near.empty() ? info.Env().Null() : fromJoints(info.Env(), near.front());
  }
  Napi::Value jacobian(const Napi::CallbackInfo& info) {
    const Matrix6 J = arm_->kinematics().jacobian(toJoints(info[0], "q_rad"));
    Napi::Array out = Napi::Array::New(info.Env(), 36);
    for (uint32_t i = 0; i < 36; ++i) {
      out.Set(i, J(i / 6, i % 6));
    }
    return out;
  }
  Napi::Value checkCollision(const Napi::CallbackInfo& info) {
    auto request =
        std::make_shared<const CheckRequest>(toCheckRequest(optionsOf(info), arm_->model));
    return Job<CollisionChecker::Result>::start(
        info.Env(), arm_,
        [request](const Arm& arm) {
          const SceneIndex index(request->scene);
          const Frames frames = arm.kinematics().frames(request->q_rad);
          return CollisionChecker(arm.model, index, request->tool)
              .check(frames, arm.kinematics().tcpOf(frames));
        },
        &fromCheck);
  }
  Napi::Value planJointMotion(const Napi::CallbackInfo& info) {
    auto request =
        std::make_shared<const JointRequest>(toJointRequest(optionsOf(info), arm_->model));
    return Job<Plan>::start(
        info.Env(), arm_, [request](const Arm& arm) { return planJoint(arm, *request); },
        &fromPlan);
  }
  Napi::Value planPathMotion(const Napi::CallbackInfo& info) {
    auto request = std::make_shared<const PathRequest>(toPathRequest(optionsOf(info), arm_->model));
    return Job<Plan>::start(
        info.Env(), arm_, [request](const Arm& arm) { return planPath(arm, *request); }, &fromPlan);
  }
  Napi::Value compileGraspPoses(const Napi::CallbackInfo& info) {
    auto request =
        std::make_shared<const GraspRequest>(toGraspRequest(optionsOf(info), arm_->model));
    return Job<Grasp>::start(
        info.Env(), arm_, [request](const Arm& arm) { return compileGrasp(arm, *request); },
        &fromGrasp);
  }
  Napi::Value compilePlacePoses(const Napi::CallbackInfo& info) {
    auto request =
        std::make_shared<const PlaceRequest>(toPlaceRequest(optionsOf(info), arm_->model));
    return Job<Place>::start(
        info.Env(), arm_, [request](const Arm& arm) { return compilePlace(arm, *request); },
        &fromPlace);
  }

  std::shared_ptr<const Arm> arm_;
};

class PoseAddon : public Napi::Addon<PoseAddon> {
 public:
  PoseAddon(Napi::Env env, Napi::Object exports) {
    DefineAddon(exports, {InstanceValue("Arm", ArmObject::define(env), napi_enumerable)});
  }
};

}  // namespace
}  // namespace s2r::pose

using PoseAddon = s2r::pose::PoseAddon;
NODE_API_ADDON(PoseAddon)
