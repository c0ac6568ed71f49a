// Reads the fields of one JSON object and refuses what was not asked for.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "native/camera/types.h"

namespace s2r::camera {

class JsonFields {
 public:
  JsonFields(const nlohmann::json& object, std::string where, std::string code)
      : object_(object), where_(std::move(where)), code_(std::move(code)) {
    if (!object.is_object())
      fail("", "must be an object");
  }

  [[nodiscard]] bool has(const std::string& key) {
    known_.insert(key);
    return object_.contains(key) && !object_.at(key).is_null();
  }
  [[nodiscard]] const nlohmann::json& need(const std::string& key) {
    if (!has(key))
      fail(key, "is missing");
    return object_.at(key);
  }
  void number(const std::string& key, double& out, double least, double most) {
    if (!has(key))
      return;
    const auto& value = object_.at(key);
    if (!value.is_number() || !(value.get<double>() >= least && value.get<double>() <= most))
      fail(key, "is " + value.dump() + ", but must be a number from " + text(least) + " to " +
                    text(most));
    out = value.get<double>();
  }
  template <class Integer>
  void integer(const std::string& key, Integer& out, int least, int most) {
    double value = static_cast<double>(out);
    number(key, value, least, most);
    if (value != std::floor(value))
      fail(key, "must be a whole number");
    out = static_cast<Integer>(value);
  }
  void boolean(const std::string& key, bool& out) {
    if (!has(key))
      return;
    if (!object_.at(key).is_boolean())
      fail(key, "must be true or false");
    out = object_.at(key).get<bool>();
  }
  void string(const std::string& key, std::string& out, bool required = false) {
    if (required)
      (void)need(key);
    if (!has(key))
      return;
    if (!object_.at(key).is_string() || (required && object_.at(key).get<std::string>().empty()))
      fail(key, "must be a text");
    out = object_.at(key).get<std::string>();
  }
  template <size_t N>
  void numbers(const std::string& key, double (&out)[N]) {
    if (!has(key))
      return;
    const auto& value = object_.at(key);
    if (!value.is_array() || value.size() != N)
      fail(key, "must be " + std::to_string(N) + " numbers");
    for (size_t i = 0; i < N; ++i) {
      if (!value[i].is_number())
        fail(key, "must be " + std::to_string(N) + " numbers");
      out[i] = value[i].template get<double>();
    }
  }
  // To be called last: any key that was not asked for is refused.
  void done() const {
    for (const auto& [key, value] : object_.items()) {
      if (known_.count(key) == 0) {
        std::string list;
        for (const auto& name : known_)
          list += (list.empty() ? "" : ", ") + name;
        throw CameraError(code_, where_ + " has an unknown key \"" + key + "\"; known are " + list);
      }
    }
  }
  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    throw CameraError(code_, where_ + (key.empty() ? " " : "." + key + " ") + what);
  }

 private:
  static std::string text(double value) {
    nlohmann::json json = value;
    return json.dump();
  }
  const nlohmann::json& object_;
  std::string where_;
  std::string code_;
  std::set<std::string> known_;
};

}  // namespace s2r::camera
