#include "native/gripper/json_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace s2r::gripper {
namespace {

constexpr char kWhole[] =
    "{\r\n\"motor\":{\r\n\"Speed\":0.5,\r\n\"Current\":-600,\r\n\"Position\":1.25\r\n},\r\n"
    "\"motorstatus\":{\r\n\"Voltage\":24.1,\r\n\"DriverTemp\":31,\r\n\"MotorTemp\":30,\r\n"
    "\"Status\":\"0x40\",\r\n\"BusCurrent\":120\r\n}\r\n}\r\n";

std::vector<Report> feed(JsonStream& stream, const std::string& text) {
  std::vector<Report> out;
  stream.feed(reinterpret_cast<const uint8_t*>(text.data()), text.size(), out);
  return out;
}

std::vector<Report> parse(const std::string& text) {
  JsonStream stream;
  return feed(stream, text);
}

TEST(JsonStream, ReadsATelemetryObject) {
  const auto out = parse(kWhole);
  ASSERT_EQ(out.size(), 1U);
  ASSERT_TRUE(out[0].motor && out[0].status);
  EXPECT_DOUBLE_EQ(out[0].motor->speed_rad_s, 0.5);
  EXPECT_DOUBLE_EQ(out[0].motor->current_a, -0.6);
  EXPECT_DOUBLE_EQ(out[0].motor->angle_rad, 1.25);
  EXPECT_EQ(out[0].status->bits, 0x40U);
  EXPECT_DOUBLE_EQ(out[0].status->voltage_v.value(), 24.1);
  EXPECT_DOUBLE_EQ(out[0].status->driver_temperature_c.value(), 31.0);
  EXPECT_DOUBLE_EQ(out[0].status->bus_current_a.value(), 0.12);
}

TEST(JsonStream, AnyCutGivesTheSame) {
  const std::string text = std::string(kWhole) + kWhole;
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    JsonStream stream;
    auto out = feed(stream, text.substr(0, cut));
    const auto rest = feed(stream, text.substr(cut));
    out.insert(out.end(), rest.begin(), rest.end());
    ASSERT_EQ(out.size(), 2U) << cut;
    EXPECT_DOUBLE_EQ(out[1].motor->angle_rad, 1.25);
  }
}

TEST(JsonStream, TrailingCommas) {
  const auto out = parse(
      "{\"motor\":{\"Speed\":0,\"Current\":1,\"Position\":2,},\"x\":[1,2,],"
      "\"motorstatus\":{\"Status\":\"0x41\",},}");
  ASSERT_EQ(out.size(), 1U);
  EXPECT_DOUBLE_EQ(out[0].motor->angle_rad, 2.0);
  EXPECT_EQ(out[0].status->bits, 0x41U);
}

TEST(JsonStream, BracesAndQuotesInsideStrings) {
  const auto out = parse("{\"Version\":\"a}{\\\"b\\\\\"}");
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].version.value(), "a}{\"b\\");
}

TEST(JsonStream, NoiseBeforeAndBetween) {
  JsonStream stream;
  const std::string noise = "boot v1]\xff\xfe,\"\x00\x01}";
  const auto out = feed(stream, noise + kWhole + noise + kWhole);
  EXPECT_EQ(out.size(), 2U);
  EXPECT_GT(stream.counters().noise_bytes, 10U);
}

TEST(JsonStream, HalfAnObjectCostsNoMoreThanTheNextOne) {
  const std::string whole = kWhole;
  for (size_t cut = 1; cut + 2 < whole.size(); ++cut) {
    const auto out = parse(whole.substr(0, cut) + whole + whole + whole);
    EXPECT_GE(out.size(), 2U) << cut;
    for (const Report& report : out) {
      if (report.motor) {
        EXPECT_DOUBLE_EQ(report.motor->angle_rad, 1.25) << cut;
      }
    }
  }
  for (size_t cut = 1; cut < whole.size(); ++cut) {
    EXPECT_GE(parse(whole.substr(cut) + whole + whole).size(), 2U) << cut;
  }
}

TEST(JsonStream, NumbersThatAreNoneAreRefused) {
  for (const char* bad : {"nan", "1.2.3", "0x40", "inf", "--1", "1e999", "1-2"}) {
    const std::string text =
        std::string("{\"motor\":{\"Speed\":0,\"Current\":1,\"Position\":") + bad + "}}";
    EXPECT_TRUE(parse(text).empty()) << bad;
  }
}

TEST(JsonStream, AMotorNeedsAllThreeFields) {
  EXPECT_TRUE(parse("{\"motor\":{\"Speed\":0,\"Position\":1}}").empty());
  EXPECT_TRUE(parse("{\"motor\":{\"Speed\":\"0\",\"Current\":\"1\",\"Position\":\"1\"}}").empty());
  EXPECT_TRUE(parse("{\"Speed\":0,\"Current\":1,\"Position\":1}").empty());
  EXPECT_TRUE(parse("{\"motorstatus\":{\"Voltage\":24}}").empty());
}

TEST(JsonStream, KnowsTheHandHeldDevice) {
  const auto out = parse("{\"Command\":0,\"AS5047\":{\"angle\":1.0,\"rad\":0.017}}");
  ASSERT_EQ(out.size(), 1U);
  EXPECT_TRUE(out[0].other_device);
}

TEST(JsonStream, MemoryStaysBoundedAndReadingResumes) {
  JsonStream stream;
  std::string flood = "{";
  for (int i = 0; i < 4000; ++i)
    flood += "\"k\":1, ";
  EXPECT_TRUE(feed(stream, flood).empty());
  EXPECT_LE(stream.buffered(), JsonStream::kMaxObjectBytes);
  EXPECT_TRUE(feed(stream, std::string(100000, '{')).empty());
  EXPECT_LE(stream.buffered(), JsonStream::kMaxObjectBytes);
  EXPECT_TRUE(feed(stream, "{\"" + std::string(5000, 'x')).empty());
  EXPECT_EQ(feed(stream, kWhole).size(), 1U);
}

}  // namespace
}  // namespace s2r::gripper
