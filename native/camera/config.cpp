#include "native/camera/config.h"

#include "native/camera/json_fields.h"

namespace s2r::camera {

namespace {

using nlohmann::json;

constexpr const char* kCode = "camera_config";

StreamRequest streamOf(const json& value, const std::string& where) {
  StreamRequest out;
  JsonFields fields(value, where, kCode);
  out.wanted = true;
  fields.integer("width", out.width, 16, 4096);
  fields.integer("height", out.height, 16, 4096);
  fields.integer("fps", out.fps, 1, 300);
  fields.done();
  return out;
}

SoftwareOptions softwareOf(const json& value) {
  SoftwareOptions out;
  JsonFields fields(value, "source.software", kCode);
  fields.string("product", out.product);
  fields.string("product_id", out.product_id);
  fields.string("usb_type", out.usb_type);
  fields.number("units_m", out.units_m, 0, 1);
  fields.number("depth_m", out.depth_m, 0.01, 60);
  fields.number("first_stamp_ms", out.first_stamp_ms, 0, 1e13);
  fields.boolean("metadata", out.metadata);
  fields.integer("exposure_us", out.exposure_us, 1, 1000000);
  std::string model = nameOf(out.model);
  fields.string("model", model);
  out.model = distortionByName(model);
  fields.numbers("coeffs", out.coeffs);
  fields.numbers("X_color_depth_t_m", out.X_color_depth_t_m);
  fields.integer("skip_at", out.skip_at, 0, 1000000);
  fields.integer("domain_at", out.domain_at, 0, 1000000);
  fields.integer("stall_at", out.stall_at, 0, 1000000);
  fields.integer("hang_at", out.hang_at, 0, 1000000);
  fields.string("heals", out.heals);
  if (out.heals != "never" && out.heals != "restart" && out.heals != "reset" &&
      out.heals != "reconnect")
    fields.fail("heals",
                "is \"" + out.heals + "\", but must be restart, reset, reconnect or never");
  fields.done();
  return out;
}

void realsenseOf(JsonFields& fields, RealsenseOptions& out) {
  fields.boolean("global_time", out.global_time);
  if (fields.has("emitter")) {
    bool on = false;
    fields.boolean("emitter", on);
    out.emitter = on ? 1 : 0;
  }
  fields.integer("exposure_us", out.exposure_us, 0, 200000);
  fields.boolean("require_usb3", out.require_usb3);
  fields.boolean("hardware_reset", out.hardware_reset);
  fields.number("reset_wait_s", out.reset_wait_s, 0.1, 300);
}

void sourceOf(const json& value, CameraConfig& out) {
  JsonFields fields(value, "source", kCode);
  std::string kind;
  fields.string("kind", kind, true);
  if (kind != "plant") {
    fields.string("library", out.realsense.library, true);
    fields.string("preload", out.realsense.preload);
  }
  if (kind == "realsense") {
    out.source = SourceKind::kRealsense;
    fields.string("serial", out.realsense.serial, true);
    realsenseOf(fields, out.realsense);
  } else if (kind == "software") {
    out.source = SourceKind::kSoftware;
    out.realsense.serial = "SOFTWARE";
    fields.string("serial", out.realsense.serial);
    realsenseOf(fields, out.realsense);
    if (fields.has("software"))
      out.software = softwareOf(value.at("software"));
  } else if (kind == "recording") {
    out.source = SourceKind::kRecording;
    fields.string("file", out.recording.file, true);
    fields.boolean("loop", out.recording.loop);
    fields.number("max_skew_s", out.recording.max_skew_s, 0, 10);
  } else if (kind == "plant") {
    out.source = SourceKind::kPlant;
    fields.string("address", out.plant.address, true);
    fields.string("camera", out.plant.camera, true);
    fields.number("timeout_s", out.plant.timeout_s, 0.05, 60);
  } else {
    fields.fail("kind", "is \"" + kind + "\", but must be realsense, recording, plant or software");
  }
  fields.done();
}

}  // namespace

CameraConfig parseConfig(std::string_view text) {
  const json value = json::parse(text, nullptr, false);
  if (value.is_discarded())
    throw CameraError(kCode, "the configuration is not JSON");
  CameraConfig out;
  JsonFields fields(value, "camera", kCode);
  fields.string("name", out.name, true);
  sourceOf(fields.need("source"), out);
  {
    const json& streams = fields.need("streams");
    JsonFields each(streams, "streams", kCode);
    if (each.has("color"))
      out.color = streamOf(streams.at("color"), "streams.color");
    if (each.has("depth"))
      out.depth = streamOf(streams.at("depth"), "streams.depth");
    if (each.has("infrared"))
      out.infrared = streamOf(streams.at("infrared"), "streams.infrared");
    each.done();
  }
  if (!out.color.wanted && !out.depth.wanted && !out.infrared.wanted)
    fields.fail("streams", "names none of color, depth, infrared");
  fields.integer("slots", out.slots, 4, 8);
  fields.number("stall_s", out.stall_s, 0, 60);
  fields.number("open_timeout_s", out.open_timeout_s, 0.1, 300);
  fields.done();
  return out;
}

}  // namespace s2r::camera
