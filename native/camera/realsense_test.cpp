// Against librealsense itself: its projections, its align block, the recording of a real D435, its
// software device. Skipped, saying so, where the library or the recording is not there.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "native/camera/lens.h"
#include "native/camera/recording_source.h"
#include "native/camera/registration.h"
#include "native/camera/software_source.h"

namespace s2r::camera {
namespace {

std::string pathOf(const char* variable, const char* otherwise) {
  const char* set = std::getenv(variable);
  return set != nullptr ? set : otherwise;
}
std::string library() {
  return pathOf("S2R_REALSENSE_LIBRARY", S2R_ROOT "/.deps/librealsense-2.55.1/librealsense2.so");
}
std::string recording() {
  return pathOf("S2R_REALSENSE_RECORDING",
                S2R_ROOT "/../shared/data/realsense/d435_single_depth_color_640x480.bag");
}

class Realsense : public ::testing::Test {
 protected:
  void SetUp() override {
    if (access(library().c_str(), R_OK) != 0)
      GTEST_SKIP() << "no librealsense at " << library()
                   << ": npm run setup -- --native fetches it";
  }
  CameraConfig config(SourceKind kind) const {
    CameraConfig out;
    out.name = "t";
    out.source = kind;
    out.realsense.library = library();
    out.realsense.serial = "SOFTWARE";
    out.recording.file = recording();
    out.color.wanted = out.depth.wanted = true;
    return out;
  }
  static const RawPlane& plane(const FrameSet& set, PlaneKind kind) {
    for (const RawPlane& each : set.planes) {
      if (each.kind == kind)
        return each;
    }
    throw std::runtime_error("no such plane");
  }
};

class RealsenseRecording : public Realsense {
 protected:
  void SetUp() override {
    Realsense::SetUp();
    if (!IsSkipped() && access(recording().c_str(), R_OK) != 0)
      GTEST_SKIP() << "no recording at " << recording();
  }
};

TEST_F(Realsense, AnotherMajorOrAMissingLibraryIsRefusedWithTheMend) {
  try {
    rs2::Api("/nonexistent/librealsense2.so", "");
    FAIL();
  } catch (const CameraError& error) {
    EXPECT_EQ(error.code(), "camera_library");
    EXPECT_NE(std::string(error.what()).find("Set `library`"), std::string::npos);
  }
  try {
    rs2::Api("libm.so.6", "");
    FAIL();
  } catch (const CameraError& error) {
    EXPECT_NE(std::string(error.what()).find("has no function rs2_get_api_version"),
              std::string::npos);
  }
}

TEST_F(Realsense, ProjectsAsTheLibraryDoes) {
  const rs2::Api api(library(), "");
  void* handle = dlopen(library().c_str(), RTLD_LAZY | RTLD_NOLOAD);
  ASSERT_NE(handle, nullptr);
  using Project = void (*)(float*, const rs2::CIntrinsics*, const float*);
  using Deproject = void (*)(float*, const rs2::CIntrinsics*, const float*, float);
  const auto project = reinterpret_cast<Project>(dlsym(handle, "rs2_project_point_to_pixel"));
  const auto deproject = reinterpret_cast<Deproject>(dlsym(handle, "rs2_deproject_pixel_to_point"));
  ASSERT_TRUE(project != nullptr && deproject != nullptr);
  std::mt19937 random(5);
  std::uniform_real_distribution<float> side(-0.5f, 0.5f), small(-0.002f, 0.002f),
      k1(-0.08f, 0.08f);
  for (const Distortion model :
       {Distortion::kNone, Distortion::kBrownConrady, Distortion::kModifiedBrownConrady,
        Distortion::kInverseBrownConrady}) {
    for (int i = 0; i < 2000; ++i) {
      const rs2::CIntrinsics theirs{
          640,
          480,
          318.2f,
          243.1f,
          600,
          604,
          static_cast<int>(model),
          {k1(random), k1(random), small(random), small(random), small(random)}};
      const float point[3] = {side(random), side(random), 1};
      float pixel[2];
      project(pixel, &theirs, point);
      double u = 0, v = 0;
      const Intrinsics ours = rs2::intrinsicsOf(theirs);
      projectRay(ours, static_cast<double>(point[0]), static_cast<double>(point[1]), u, v);
      ASSERT_NEAR(u, static_cast<double>(pixel[0]), 2e-4) << nameOf(model);
      ASSERT_NEAR(v, static_cast<double>(pixel[1]), 2e-4) << nameOf(model);
      if (model == Distortion::kModifiedBrownConrady)
        continue;  // the library does not invert it
      float back[3];
      deproject(back, &theirs, pixel, 1);
      double x = 0, y = 0;
      ASSERT_TRUE(
          rayOfPixel(ours, static_cast<double>(pixel[0]), static_cast<double>(pixel[1]), x, y));
      ASSERT_NEAR(x, static_cast<double>(point[0]), 2e-6) << nameOf(model);
      // Its ten fixed rounds end near the solution.
      ASSERT_NEAR(x, static_cast<double>(back[0]), 5e-4) << nameOf(model);
      ASSERT_NEAR(y, static_cast<double>(back[1]), 5e-4) << nameOf(model);
    }
  }
}

TEST_F(RealsenseRecording, ComesOutAsTheFileSays) {
  RecordingSource source(config(SourceKind::kRecording));
  source.open();
  EXPECT_EQ(source.info().product, "Intel RealSense D435");
  EXPECT_EQ(source.info().serial, "728612070259");
  EXPECT_EQ(source.info().firmware, "05.09.14.00");
  EXPECT_EQ(source.info().product_id, "0B07");
  EXPECT_EQ(source.info().usb_type, "3.2");
  EXPECT_NEAR(source.info().period_s, 1.0 / 6, 1e-6);
  int rounds = 0;
  for (int got = 0; got < 6;) {
    FrameSet set;
    ASSERT_TRUE(source.next(3, set)) << "after " << got << " frames";
    ++got;
    rounds += set.clock_restarted ? 1 : 0;
    const RawPlane& depth = plane(set, PlaneKind::kDepth);
    const RawPlane& color = plane(set, PlaneKind::kColor);
    EXPECT_NEAR(depth.intrinsics.fx, 390.431, 1e-3);
    EXPECT_NEAR(depth.intrinsics.fy, 390.431, 1e-3);
    EXPECT_NEAR(depth.intrinsics.cx, 331.388, 1e-3);
    EXPECT_NEAR(depth.intrinsics.cy, 242.187, 1e-3);
    EXPECT_NEAR(color.intrinsics.fx, 613.204, 1e-3);
    EXPECT_NEAR(color.intrinsics.fy, 613.419, 1e-3);
    EXPECT_NEAR(color.intrinsics.cx, 319.939, 1e-3);
    EXPECT_NEAR(color.intrinsics.cy, 239.183, 1e-3);
    EXPECT_EQ(depth.intrinsics.model, Distortion::kBrownConrady);
    EXPECT_TRUE(isPinhole(depth.intrinsics));
    EXPECT_NEAR(depth.X_reference_plane.t[0], 0.01431, 1e-5);
    EXPECT_NEAR(depth.X_reference_plane.t[1], 0.00060, 1e-5);
    EXPECT_NEAR(depth.X_reference_plane.t[2], 0.00061, 1e-5);
    EXPECT_NEAR(depth.units_m, 0.001, 1e-9);
    EXPECT_EQ(depth.domain, Domain::kHardwareClock);
    EXPECT_EQ(depth.frame_number, 169u);
    EXPECT_EQ(color.frame_number, 162u);
    EXPECT_NEAR(depth.stamp_s, 360.815089, 1e-5);
    EXPECT_NEAR(color.stamp_s, 360.713523, 1e-5);
    ASSERT_TRUE(depth.exposure_duration_s && depth.stamp_minus_middle_s);
    EXPECT_NEAR(*depth.exposure_duration_s, 0.006452, 1e-9);
    EXPECT_NEAR(*depth.stamp_minus_middle_s, 0.003226, 1e-9);
    const auto* counts = reinterpret_cast<const uint16_t*>(depth.data);
    int valid = 0, least = 65535, most = 0;
    for (int i = 0; i < 640 * 480; ++i) {
      if (counts[i] == 0)
        continue;
      ++valid;
      least = std::min<int>(least, counts[i]);
      most = std::max<int>(most, counts[i]);
    }
    EXPECT_NEAR(valid / (640.0 * 480.0), 0.933, 0.0006);
    EXPECT_EQ(least, 341);
    EXPECT_EQ(most, 3182);
  }
  EXPECT_GE(rounds, 3);  // two frames of depth at most belong to one colour frame
}

TEST_F(RealsenseRecording, RegistersDepthAsTheLibrarysAlignBlockDoes) {
  RecordingSource source(config(SourceKind::kRecording));
  source.open();
  FrameSet set;
  ASSERT_TRUE(source.next(3, set));
  const RawPlane& depth = plane(set, PlaneKind::kDepth);
  const RawPlane& color = plane(set, PlaneKind::kColor);
  // The library's block (its SSE code) rounds u + 0.5 to the nearest integer, so it draws half a
  // pixel too far to the right and down; the target's centre is moved likewise to compare
  // everything else.
  Intrinsics target = pinholeOf(color.intrinsics);
  target.cx += 0.5;
  target.cy += 0.5;
  std::vector<float> ours(640 * 480);
  DepthRegistration(depth.intrinsics, target, depth.X_reference_plane)
      .run(reinterpret_cast<const uint16_t*>(depth.data), depth.units_m, ours.data());

  // Theirs: the recording once more through a pipeline and the align block.
  const rs2::Api api(library(), "");
  void* handle = dlopen(library().c_str(), RTLD_LAZY | RTLD_NOLOAD);
  const auto create_align =
      reinterpret_cast<rs2::Block* (*)(int, rs2::Error**)>(dlsym(handle, "rs2_create_align"));
  const auto start_block = reinterpret_cast<void (*)(rs2::Block*, rs2::Queue*, rs2::Error**)>(
      dlsym(handle, "rs2_start_processing_queue"));
  const auto process = reinterpret_cast<void (*)(rs2::Block*, rs2::Frame*, rs2::Error**)>(
      dlsym(handle, "rs2_process_frame"));
  const auto from_file = reinterpret_cast<void (*)(rs2::Config*, const char*, int, rs2::Error**)>(
      dlsym(handle, "rs2_config_enable_device_from_file_repeat_option"));
  const auto delete_block =
      reinterpret_cast<void (*)(rs2::Block*)>(dlsym(handle, "rs2_delete_processing_block"));
  ASSERT_TRUE(create_align && start_block && process && from_file && delete_block);
  rs2::Context* context = api.call(api.rs2_create_context, api.version());
  std::vector<uint16_t> theirs;
  for (int attempt = 0; attempt < 5 && theirs.empty(); ++attempt) {
    rs2::Config* wanted = api.call(api.rs2_create_config);
    api.call(from_file, wanted, recording().c_str(), 1);
    rs2::Pipeline* pipeline = api.call(api.rs2_create_pipeline, context);
    rs2::PipelineProfile* playing = api.call(api.rs2_pipeline_start_with_config, pipeline, wanted);
    rs2::Queue* queue = api.call(api.rs2_create_frame_queue, 4);
    rs2::Block* align = api.call(create_align, rs2::kStreamColor);
    api.call(start_block, align, queue);
    for (int i = 0; i < 8 && theirs.empty(); ++i) {
      rs2::Frame* frame = nullptr;
      if (api.call(api.rs2_pipeline_try_wait_for_frames, pipeline, &frame, 1000u) == 0)
        break;
      if (api.call(api.rs2_embedded_frames_count, frame) != 2) {
        api.rs2_release_frame(frame);
        continue;
      }
      api.call(process, align, frame);
      rs2::Frame* aligned = nullptr;
      if (api.call(api.rs2_try_wait_for_frame, queue, 1000u, &aligned) == 0)
        continue;
      for (int part = 0; part < 2; ++part) {
        rs2::Frame* each = api.call(api.rs2_extract_frame, aligned, part);
        const rs2::Profile* profile =
            api.call(api.rs2_get_frame_stream_profile, static_cast<const rs2::Frame*>(each));
        const rs2::Frame* view = each;
        if (rs2::dataOf(api, profile).stream == rs2::kStreamDepth &&
            api.call(api.rs2_get_frame_number, view) == depth.frame_number) {
          const auto* data = static_cast<const uint16_t*>(api.call(api.rs2_get_frame_data, view));
          theirs.assign(data, data + 640 * 480);
        }
        api.rs2_release_frame(each);
      }
      api.rs2_release_frame(aligned);
    }
    api.attempt(api.rs2_pipeline_stop, pipeline);
    api.rs2_delete_pipeline_profile(playing);
    delete_block(align);
    api.rs2_delete_frame_queue(queue);
    api.rs2_delete_pipeline(pipeline);
    api.rs2_delete_config(wanted);
  }
  api.rs2_delete_context(context);
  ASSERT_FALSE(theirs.empty()) << "the library's pipeline gave no pair of the short recording";

  // Theirs keeps the depth of the depth camera; ours is in the colour camera's frame. With the
  // rotation about y that differs by up to r20 x + (r22 - 1) times z and t_z: taken back here for
  // the pixel's own ray.
  const Transform& X = depth.X_reference_plane;
  int both = 0, same_coverage = 0, close = 0;
  double sum = 0;
  for (int v = 0; v < 480; ++v) {
    for (int u = 0; u < 640; ++u) {
      const size_t i = static_cast<size_t>(v * 640 + u);
      const bool mine = !std::isnan(ours[i]);
      same_coverage += mine == (theirs[i] != 0) ? 1 : 0;
      if (!mine || theirs[i] == 0)
        continue;
      ++both;
      const double z = static_cast<double>(ours[i]) - X.t[2];
      const double p[3] = {(u - target.cx) / target.fx * static_cast<double>(ours[i]) - X.t[0],
                           (v - target.cy) / target.fy * static_cast<double>(ours[i]) - X.t[1], z};
      const double z_depth = X.r[2] * p[0] + X.r[5] * p[1] + X.r[8] * p[2];
      const double error = std::abs(z_depth - theirs[i] * 0.001);
      close += error < 0.002 ? 1 : 0;
      sum += std::min(error, 0.1);
    }
  }
  RecordProperty("coverage", std::to_string(same_coverage / 307200.0));
  std::printf("same coverage %.5f, within 2 mm %.5f of %d, mean difference %.3f mm\n",
              same_coverage / 307200.0, static_cast<double>(close) / both, both, sum / both * 1e3);
  EXPECT_GT(same_coverage, 307200 * 0.9999);
  EXPECT_GT(close, both * 0.9995);
  EXPECT_LT(sum / both, 0.0001);
}

TEST_F(Realsense, TheSoftwareDeviceDrivesTheLivePath) {
  CameraConfig wanted = config(SourceKind::kSoftware);
  wanted.infrared.wanted = true;
  wanted.software.product = "Intel RealSense D405";
  wanted.software.product_id = "0B5B";
  wanted.software.units_m = 0.0001;
  wanted.software.usb_type = "2.1";
  SoftwareSource source(wanted);
  source.open();
  const DeviceInfo info = source.info();
  EXPECT_EQ(info.serial, "SOFTWARE");
  EXPECT_FALSE(info.has_colour_sensor);
  EXPECT_TRUE(info.colour_from_left_imager);
  EXPECT_NEAR(info.transport_s, 0.0048, 1e-9);
  ASSERT_EQ(info.warnings.size(), 1u);
  EXPECT_EQ(info.warnings[0].substr(0, 5), "usb2:");
  int full = 0;
  uint64_t last = 0;
  for (int i = 0; i < 12; ++i) {
    FrameSet set;
    ASSERT_TRUE(source.next(2, set));
    if (set.planes.size() != 4)
      continue;
    ++full;
    const RawPlane& depth = plane(set, PlaneKind::kDepth);
    const RawPlane& color = plane(set, PlaneKind::kColor);
    EXPECT_NEAR(depth.units_m, 0.0001, 1e-9);
    EXPECT_EQ(reinterpret_cast<const uint16_t*>(depth.data)[100 * 640 + 100], 5000);
    EXPECT_GT(depth.frame_number, last);
    last = depth.frame_number;
    EXPECT_EQ(color.data[0], color.frame_number & 255);
    EXPECT_NEAR(*depth.exposure_duration_s, 0.008, 1e-9);
    EXPECT_NEAR(*depth.stamp_minus_middle_s, 0.004, 1e-9);
    EXPECT_NEAR(plane(set, PlaneKind::kInfraredRight).X_reference_plane.t[0], 0.05, 1e-6);
  }
  EXPECT_GE(full, 8);
  source.close();
}

TEST_F(Realsense, ASerialThatIsNotThereIsNamed) {
  RealsenseSource source(config(SourceKind::kRealsense));
  try {
    source.open();
    FAIL();
  } catch (const CameraError& error) {
    EXPECT_EQ(error.code(), "camera_not_found");
    EXPECT_NE(std::string(error.what()).find("SOFTWARE"), std::string::npos);
  }
}

TEST_F(Realsense, Usb2IsRefusedWhereUsb3IsRequired) {
  CameraConfig wanted = config(SourceKind::kSoftware);
  wanted.software.usb_type = "2.1";
  wanted.realsense.require_usb3 = true;
  SoftwareSource source(wanted);
  try {
    source.open();
    FAIL();
  } catch (const CameraError& error) {
    EXPECT_EQ(error.code(), "camera_usb");
  }
}

TEST_F(Realsense, ACameraWithoutColourSaysSoWhenColourIsAsked) {
  CameraConfig wanted = config(SourceKind::kSoftware);
  wanted.software.product_id = "0AD4";
  SoftwareSource source(wanted);
  try {
    source.open();
    FAIL();
  } catch (const CameraError& error) {
    EXPECT_EQ(error.code(), "camera_stream");
    EXPECT_NE(std::string(error.what()).find("no colour imager"), std::string::npos);
  }
}

TEST_F(Realsense, DepthUnitsOfZeroAreRefused) {
  CameraConfig wanted = config(SourceKind::kSoftware);
  wanted.software.units_m = 0;
  SoftwareSource source(wanted);
  source.open();
  try {
    for (int i = 0; i < 5; ++i) {
      FrameSet set;
      (void)source.next(1, set);
    }
    FAIL();
  } catch (const CameraError& error) {
    EXPECT_EQ(error.code(), "camera_units");
  }
}

}  // namespace
}  // namespace s2r::camera
