#include "native/pose/convert.h"

#include <algorithm>

namespace s2r::pose {
namespace {

constexpr double kGripDepth_m = 0.012;  // where a model says nothing of its pads

[[noreturn]] void refuse(Napi::Env env, const std::string& name, const char* expected) {
  throw Napi::TypeError::New(env, name + ": expected " + expected);
}

Napi::Object toObject(const Napi::Value& value, const char* name) {
  if (!value.IsObject()) {
    refuse(value.Env(), name, "an object");
  }
  return value.As<Napi::Object>();
}

bool absent(const Napi::Value& value) {
  return value.IsUndefined() || value.IsNull();
}

double number(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  if (!value.IsNumber()) {
    refuse(object.Env(), name, "a number");
  }
  return value.As<Napi::Number>().DoubleValue();
}

double number(const Napi::Object& object, const char* name, double otherwise) {
  return absent(object.Get(name)) ? otherwise : number(object, name);
}

bool boolean(const Napi::Object& object, const char* name, bool otherwise) {
  const Napi::Value value = object.Get(name);
  return absent(value) ? otherwise : value.ToBoolean().Value();
}

template <size_t kCount>
std::array<double, kCount> numbers(const Napi::Value& value, const char* name) {
  std::array<double, kCount> out;
  if (!value.IsArray() || value.As<Napi::Array>().Length() != kCount) {
    refuse(value.Env(), name, ("an array of " + std::to_string(kCount) + " numbers").c_str());
  }
  const auto array = value.As<Napi::Array>();
  for (uint32_t i = 0; i < kCount; ++i) {
    const Napi::Value item = array.Get(i);
    if (!item.IsNumber()) {
      refuse(value.Env(), name, "numbers only");
    }
    out[i] = item.As<Napi::Number>().DoubleValue();
  }
  return out;
}

Vec3 toVec3(const Napi::Value& value, const char* name) {
  const auto v = numbers<3>(value, name);
  return {v[0], v[1], v[2]};
}

// visit(item) for each element of an array field; an absent field is empty.
template <typename Visit>
void forEach(const Napi::Object& object, const char* name, Visit visit) {
  const Napi::Value value = object.Get(name);
  if (absent(value)) {
    return;
  }
  if (!value.IsArray()) {
    refuse(object.Env(), name, "an array");
  }
  const auto array = value.As<Napi::Array>();
  for (uint32_t i = 0; i < array.Length(); ++i) {
    visit(array.Get(i));
  }
}

std::vector<float> floats(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  if (absent(value)) {
    return {};
  }
  if (!value.IsTypedArray() ||
      value.As<Napi::TypedArray>().TypedArrayType() != napi_float32_array) {
    refuse(object.Env(), name, "a Float32Array");
  }
  const auto array = value.As<Napi::Float32Array>();
  return {array.Data(), array.Data() + array.ElementLength()};
}

Capsule toCapsule(const Napi::Object& object) {
  return {toVec3(object.Get("p0_m"), "p0_m"), toVec3(object.Get("p1_m"), "p1_m"),
          number(object, "radius_m")};
}

OrientedBox toBox(const Napi::Object& object) {
  return {toTransform(object.Get("X_world_box"), "X_world_box"),
          toVec3(object.Get("size_m"), "size_m")};
}

HeldObject toHeld(const Napi::Object& object) {
  return {toTransform(object.Get("X_tcp_object"), "X_tcp_object"),
          toVec3(object.Get("size_m"), "size_m"), boolean(object, "round", false)};
}

Scene toScene(const Napi::Object& object) {
  Scene scene;
  if (!absent(object.Get("table_z_m"))) {
    scene.table_z_m = number(object, "table_z_m");
  }
  forEach(object, "zones", [&](const Napi::Value& item) {
    const Napi::Object zone = toObject(item, "zone");
    scene.zones.push_back({zone.Get("name").ToString(), toBox(zone)});
  });
  forEach(object, "obstacles", [&](const Napi::Value& item) {
    const Napi::Object obstacle = toObject(item, "obstacle");
    scene.obstacles.push_back({obstacle.Get("name").ToString(), toCapsule(obstacle)});
  });
  scene.cloud_world_m = floats(object, "cloud_world_m");
  scene.exclude_points_world_m = floats(object, "exclude_points_world_m");
  scene.exclude_radius_m = number(object, "exclude_radius_m", scene.exclude_radius_m);
  forEach(object, "exclude_boxes", [&](const Napi::Value& item) {
    scene.exclude_boxes.push_back(toBox(toObject(item, "exclude_boxes")));
  });
  scene.arm_clearance_m = number(object, "arm_clearance_m", scene.arm_clearance_m);
  scene.tool_clearance_m = number(object, "tool_clearance_m", scene.tool_clearance_m);
  scene.table_tolerance_m = number(object, "table_tolerance_m", scene.table_tolerance_m);
  scene.min_neighbours = static_cast<int>(number(object, "min_neighbours", scene.min_neighbours));
  return scene;
}

Tool toTool(const Napi::Value& value, const ArmModel& model) {
  Tool tool;
  tool.opening_m = model.gripper.max_opening_m;
  if (!absent(value)) {
    const Napi::Object object = toObject(value, "tool");
    tool.opening_m = number(object, "opening_m", tool.opening_m);
    if (!absent(object.Get("held"))) {
      tool.held = toHeld(toObject(object.Get("held"), "held"));
    }
  }
  return tool;
}

void readCommon(const Napi::Object& options, const ArmModel& model, PlanCommon& out) {
  out.q_start_rad = toJoints(options.Get("q_start_rad"), "q_start_rad");
  if (!absent(options.Get("scene"))) {
    out.scene = toScene(toObject(options.Get("scene"), "scene"));
  }
  out.tool = toTool(options.Get("tool"), model);
  out.dt_s = number(options, "dt_s", out.dt_s);
  out.min_duration_s = number(options, "min_duration_s", out.min_duration_s);
  out.velocity_scale = number(options, "velocity_scale", out.velocity_scale);
  out.acceleration_scale = number(options, "acceleration_scale", out.acceleration_scale);
  out.jerk_scale = number(options, "jerk_scale", out.jerk_scale);
}

}  // namespace

Joints toJoints(const Napi::Value& value, const char* name) {
  const auto v = numbers<6>(value, name);
  return Joints(v.data());
}

Transform toTransform(const Napi::Value& value, const char* name) {
  const auto v = numbers<16>(value, name);
  Transform X = Transform::Identity();
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) {
      X.linear()(row, column) = v[row * 4 + column];
    }
    X.translation()[row] = v[row * 4 + 3];
  }
  // Numbers rounded for display are no rotation any more: take one beside them.
  if (!X.linear().isUnitary(1e-12) && X.linear().allFinite()) {
    X.linear() = Eigen::Quaterniond(Mat3(X.linear())).normalized().toRotationMatrix();
  }
  return X;
}

ArmModel toArmModel(const Napi::Value& value) {
  const Napi::Object object = toObject(value, "arm model");
  ArmModel m;
  m.name = object.Get("name").ToString();
  size_t joint = 0;
  forEach(object, "dh", [&](const Napi::Value& item) {
    const Napi::Object row = toObject(item, "dh");
    if (joint < m.dh.size()) {
      m.dh[joint] = {number(row, "a_m"), number(row, "d_m"), number(row, "alpha_rad"),
                     number(row, "theta_offset_rad", 0)};
    }
    ++joint;
  });
  if (joint != m.dh.size()) {
    refuse(object.Env(), "dh", "6 rows");
  }
  m.X_world_base = toTransform(object.Get("X_world_base"), "X_world_base");
  m.X_flange_tcp = toTransform(object.Get("X_flange_tcp"), "X_flange_tcp");
  m.position_min_rad = toJoints(object.Get("position_min_rad"), "position_min_rad");
  m.position_max_rad = toJoints(object.Get("position_max_rad"), "position_max_rad");
  m.velocity_max_rad_s = toJoints(object.Get("velocity_max_rad_s"), "velocity_max_rad_s");
  m.acceleration_max_rad_s2 =
      toJoints(object.Get("acceleration_max_rad_s2"), "acceleration_max_rad_s2");
  m.jerk_max_rad_s3 = toJoints(object.Get("jerk_max_rad_s3"), "jerk_max_rad_s3");
  forEach(object, "capsules", [&](const Napi::Value& item) {
    const Napi::Object capsule = toObject(item, "capsules");
    const double link = number(capsule, "link");
    if (!(link >= 0 && link <= 6)) {
      refuse(object.Env(), "capsules.link", "0 to 6");
    }
    m.capsules.push_back({static_cast<int>(link), toCapsule(capsule)});
  });
  const Napi::Object gripper = toObject(object.Get("gripper"), "gripper");
  forEach(gripper, "capsules", [&](const Napi::Value& item) {
    m.gripper.capsules.push_back(toCapsule(toObject(item, "gripper.capsules")));
  });
  m.gripper.max_opening_m = number(gripper, "max_opening_m");
  m.gripper.min_opening_m = number(gripper, "min_opening_m", 0);
  const Napi::Object finger = toObject(gripper.Get("finger"), "finger");
  m.gripper.finger_length_m = number(finger, "length_m");
  m.gripper.finger_width_m = number(finger, "width_m");
  m.gripper.finger_thickness_m = number(finger, "thickness_m");
  m.gripper.tip_beyond_tcp_m = number(finger, "tip_beyond_tcp_m", 0);
  m.gripper.grip_depth_m =
      number(finger, "grip_depth_m", std::min(kGripDepth_m, 0.5 * m.gripper.finger_length_m));
  m.fixed_links = static_cast<int>(number(object, "fixed_links", m.fixed_links));
  if (!absent(object.Get("self_collision_ignore"))) {
    m.self_collision_ignore.clear();
    forEach(object, "self_collision_ignore", [&](const Napi::Value& item) {
      const auto pair = numbers<2>(item, "self_collision_ignore");
      m.self_collision_ignore.push_back({static_cast<int>(pair[0]), static_cast<int>(pair[1])});
    });
  }
  return m;
}

CheckRequest toCheckRequest(const Napi::Object& options, const ArmModel& model) {
  return {toJoints(options.Get("q_rad"), "q_rad"), toScene(toObject(options.Get("scene"), "scene")),
          toTool(options.Get("tool"), model)};
}

JointRequest toJointRequest(const Napi::Object& options, const ArmModel& model) {
  JointRequest out;
  readCommon(options, model, out);
  if (!absent(options.Get("q_goal_rad"))) {
    out.q_goal_rad = toJoints(options.Get("q_goal_rad"), "q_goal_rad");
  } else {
    out.X_world_goal = toTransform(options.Get("X_world_goal"), "X_world_goal");
  }
  out.detour = boolean(options, "detour", true);
  return out;
}

PathRequest toPathRequest(const Napi::Object& options, const ArmModel& model) {
  PathRequest out;
  readCommon(options, model, out);
  if (absent(options.Get("poses_world"))) {
    out.poses_world.push_back(toTransform(options.Get("X_world_goal"), "X_world_goal"));
  }
  forEach(options, "poses_world", [&](const Napi::Value& item) {
    out.poses_world.push_back(toTransform(item, "poses_world"));
  });
  CartesianLimits& limits = out.limits;
  limits.speed_m_s = number(options, "speed_m_s", limits.speed_m_s);
  limits.acceleration_m_s2 = number(options, "acceleration_m_s2", limits.acceleration_m_s2);
  limits.jerk_m_s3 = number(options, "jerk_m_s3", limits.jerk_m_s3);
  limits.rotation_speed_rad_s =
      number(options, "rotation_speed_rad_s", limits.rotation_speed_rad_s);
  limits.rotation_acceleration_rad_s2 =
      number(options, "rotation_acceleration_rad_s2", limits.rotation_acceleration_rad_s2);
  limits.rotation_jerk_rad_s3 =
      number(options, "rotation_jerk_rad_s3", limits.rotation_jerk_rad_s3);
  out.blend_m = number(options, "blend_m", out.blend_m);
  return out;
}

GraspRequest toGraspRequest(const Napi::Object& options, const ArmModel& model) {
  GraspRequest out;
  out.grasp_center_world_m = toVec3(options.Get("grasp_center_world_m"), "grasp_center_world_m");
  out.closing_axis_world = toVec3(options.Get("closing_axis_world"), "closing_axis_world");
  if (!absent(options.Get("approach_axis_world"))) {
    out.approach_axis_world = toVec3(options.Get("approach_axis_world"), "approach_axis_world");
  }
  if (!absent(options.Get("target"))) {
    const Napi::Object target = toObject(options.Get("target"), "target");
    if (!absent(target.Get("upright_box"))) {
      const Napi::Object box = toObject(target.Get("upright_box"), "upright_box");
      out.target_box = UprightBox{toVec3(box.Get("center_world_m"), "center_world_m"),
                                  toVec3(box.Get("size_m"), "size_m"), number(box, "yaw_rad"),
                                  boolean(box, "round", false)};
    }
    out.target_points_world_m = floats(target, "points_world_m");
  }
  out.scene = toScene(toObject(options.Get("scene"), "scene"));
  out.q_seed_rad = toJoints(options.Get("q_seed_rad"), "q_seed_rad");
  out.opening_margin_m = number(options, "opening_margin_m", out.opening_margin_m);
  out.max_opening_m = number(options, "max_opening_m", model.gripper.max_opening_m);
  out.fingertip_clearance_m = number(options, "fingertip_clearance_m", out.fingertip_clearance_m);
  out.approach_distance_m = number(options, "approach_distance_m", out.approach_distance_m);
  out.lift_height_m = number(options, "lift_height_m", out.lift_height_m);
  return out;
}

PlaceRequest toPlaceRequest(const Napi::Object& options, const ArmModel& model) {
  PlaceRequest out;
  out.held = toHeld(toObject(options.Get("held"), "held"));
  out.target_point_world_m = toVec3(options.Get("target_point_world_m"), "target_point_world_m");
  if (!absent(options.Get("object_axis_world"))) {
    out.object_axis_world = toVec3(options.Get("object_axis_world"), "object_axis_world");
  }
  if (!absent(options.Get("anchor_on_object_m"))) {
    out.anchor_on_object_m = toVec3(options.Get("anchor_on_object_m"), "anchor_on_object_m");
  }
  out.scene = toScene(toObject(options.Get("scene"), "scene"));
  out.q_seed_rad = toJoints(options.Get("q_seed_rad"), "q_seed_rad");
  out.support_cloud_world_m = floats(options, "support_cloud_world_m");
  if (!absent(options.Get("held_opening_m"))) {
    out.held_opening_m = number(options, "held_opening_m");
  }
  out.release_opening_m = number(options, "release_opening_m", model.gripper.max_opening_m);
  out.release_height_m = number(options, "release_height_m", out.release_height_m);
  out.carry_height_m = number(options, "carry_height_m", out.carry_height_m);
  return out;
}

}  // namespace s2r::pose
