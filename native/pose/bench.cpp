// Prints the CPU time of the core's calls: median and 95th percentile over repeated calls.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>

#include "native/pose/compile_grasp.h"
#include "native/pose/compile_place.h"
#include "native/pose/test_arm.h"

namespace {

using namespace s2r::pose;

// Of this thread, so that a busy machine does not show.
double cpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void bench(const char* name, int repeats, int batch, const std::function<void(int)>& call) {
  std::vector<double> us(repeats);
  for (int r = 0; r < repeats; ++r) {
    const double start = cpuSeconds();
    for (int b = 0; b < batch; ++b) {
      call(r * batch + b);
    }
    us[r] = 1e6 * (cpuSeconds() - start) / batch;
  }
  std::ranges::sort(us);
  std::printf("%-52s p50 %10.2f us   p95 %10.2f us\n", name, us[repeats / 2],
              us[repeats * 95 / 100]);
}

void add(std::vector<float>& cloud, double x, double y, double z) {
  cloud.insert(cloud.end(), {static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)});
}

// 20,000 points: a table with noise and six blocks on it, one of them at `free` left out.
std::vector<float> clutter(std::mt19937& random, size_t points) {
  std::uniform_real_distribution<double> x(0.25, 0.75), y(-0.4, 0.4), u(-1, 1);
  std::normal_distribution<double> noise(0, 0.0015);
  std::vector<float> cloud;
  const double blocks[6][2] = {{0.4, -0.2},  {0.6, -0.2},  {0.4, 0.25},
                               {0.62, 0.25}, {0.35, 0.02}, {0.66, 0.02}};
  while (cloud.size() < 3 * points) {
    if (random() % 2 == 0) {
      add(cloud, x(random), y(random), noise(random));
    } else {
      const auto& b = blocks[random() % 6];
      const int face = random() % 3;
      const double px = face == 0 ? (u(random) > 0 ? 1 : -1) : u(random),
                   py = face == 1 ? (u(random) > 0 ? 1 : -1) : u(random);
      add(cloud, b[0] + 0.03 * px, b[1] + 0.03 * py, face == 2 ? 0.08 : 0.04 + 0.04 * u(random));
    }
  }
  return cloud;
}

}  // namespace

int main() {
  std::mt19937 random(1);
  const Arm arm{ur5e()};
  const Arm calibrated{calibratedUr5e(1)};
  std::vector<Joints> q(1000);
  std::vector<Transform> X(1000), X_calibrated(1000);
  for (int i = 0; i < 1000; ++i) {
    q[i] = randomJoints(random);
    X[i] = arm.kinematics().forward(q[i]);
    X_calibrated[i] = calibrated.kinematics().forward(q[i]);
  }
  double sink = 0;
  bench("forward kinematics", 200, 1000,
        [&](int i) { sink += arm.kinematics().forward(q[i % 1000])(0, 3); });
  bench("Jacobian", 200, 1000,
        [&](int i) { sink += arm.kinematics().jacobian(q[i % 1000])(0, 0); });
  bench("all inverse solutions, nominal arm", 100, 1000,
        [&](int i) { sink += arm.inverse.solve(X[i % 1000]).count; });
  bench("all inverse solutions, calibrated arm", 100, 100,
        [&](int i) { sink += calibrated.inverse.solve(X_calibrated[i % 1000]).count; });

  Scene scene;
  scene.table_z_m = 0;
  scene.cloud_world_m = clutter(random, 20000);
  bench("index of a 20,000-point cloud", 50, 1,
        [&](int) { sink += static_cast<double>(SceneIndex(scene).cloud.points().size()); });
  const SceneIndex index(scene);
  CollisionChecker checker(arm.model, index, {0.08, std::nullopt});
  const Frames home = arm.kinematics().frames(homeJoints());
  bench("collision check of one configuration", 100, 100,
        [&](int) { sink += checker.check(home, arm.kinematics().tcpOf(home)).clearance_m; });

  JointRequest joint;
  joint.q_start_rad = homeJoints();
  joint.q_goal_rad = homeJoints();
  (*joint.q_goal_rad)[0] += 0.8;
  bench("joint plan, no scene", 50, 1,
        [&](int) { sink += static_cast<double>(planJoint(arm, joint).samples.q_rad.size()); });
  joint.scene = scene;
  bench("joint plan, 20,000 points", 50, 1,
        [&](int) { sink += static_cast<double>(planJoint(arm, joint).samples.q_rad.size()); });

  PathRequest path;
  path.q_start_rad = homeJoints();
  Transform goal = arm.kinematics().forward(homeJoints());
  goal.translation() += Vec3(0, -0.3, 0);
  path.poses_world = {goal};
  bench("linear plan of 0.3 m, no scene", 50, 1,
        [&](int) { sink += static_cast<double>(planPath(arm, path).samples.q_rad.size()); });
  path.scene = scene;
  bench("linear plan of 0.3 m, 20,000 points", 50, 1,
        [&](int) { sink += static_cast<double>(planPath(arm, path).samples.q_rad.size()); });

  GraspRequest grasp;
  grasp.target_box = UprightBox{Vec3(0.5, 0.05, 0.03), Vec3(0.05, 0.05, 0.06), 0.4, false};
  grasp.grasp_center_world_m = grasp.target_box->center_world_m;
  grasp.closing_axis_world = Vec3(-std::sin(0.4), std::cos(0.4), 0);
  grasp.scene = scene;
  grasp.q_seed_rad = homeJoints();
  grasp.max_opening_m = 0.095;
  int grasps = 0, places = 0;
  bench("compile grasp, 20,000 points", 50, 1, [&](int i) {
    grasp.grasp_center_world_m.y() = grasp.target_box->center_world_m.y() = 0.05 + 0.001 * (i % 20);
    grasps += compileGrasp(arm, grasp).outcome.code == CompileCode::kOk ? 1 : 0;
  });
  GraspRequest blocked = grasp;
  blocked.grasp_center_world_m = blocked.target_box->center_world_m = Vec3(0.45, -0.2, 0.03);
  bench("compile grasp that is blocked, 20,000 points", 50, 1,
        [&](int) { sink += static_cast<double>(compileGrasp(arm, blocked).outcome.code); });
  PlaceRequest place;
  place.held.size_m = Vec3(0.05, 0.05, 0.06);
  place.held.X_tcp_object.linear() = rotationOf(Vec3(kPi, 0, 0));
  place.scene = scene;
  place.q_seed_rad = homeJoints();
  place.release_opening_m = 0.095;
  bench("compile place, 20,000 points", 50, 1, [&](int i) {
    place.target_point_world_m = Vec3(0.5, -0.05 + 0.001 * (i % 20), 0);
    places += compilePlace(arm, place).outcome.code == CompileCode::kOk ? 1 : 0;
  });
  place.target_point_world_m = Vec3(0.43, -0.2, 0);
  bench("compile place that is blocked, 20,000 points", 50, 1,
        [&](int) { sink += static_cast<double>(compilePlace(arm, place).outcome.code); });
  std::printf("grasps %d of 50, places %d of 50 (checksum %g)\n", grasps, places, sink);
  return 0;
}
