// Random damage to a stream of telemetry. Run under sanitizers too (S2R_SANITIZE).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "native/gripper/json_stream.h"

namespace s2r::gripper {
namespace {

using Random = std::mt19937_64;

int pick(Random& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

std::string objectOf(int index, Random& random) {
  char text[512];
  const char* comma = pick(random, 0, 9) == 0 ? "," : "";
  std::snprintf(
      text, sizeof text,
      "{\r\n\"motor\":{\r\n\"Speed\":%.4f,\r\n\"Current\":%d,\r\n\"Position\":%.3f%s\r\n},\r\n"
      "\"motorstatus\":{\r\n\"Voltage\":24.0,\r\n\"Status\":\"0x40\"%s\r\n}%s\r\n}\r\n",
      index * 1e-4, -index, index * 1e-3, comma, comma, comma);
  return text;
}

std::vector<Report> feedInPieces(JsonStream& stream, const std::string& text, Random& random) {
  std::vector<Report> out;
  for (size_t at = 0; at < text.size();) {
    const size_t size =
        std::min<size_t>(text.size() - at, static_cast<size_t>(pick(random, 1, 97)));
    // A copy of exactly this size, so that a sanitizer sees any read past its end.
    const std::vector<uint8_t> piece(text.begin() + static_cast<ptrdiff_t>(at),
                                     text.begin() + static_cast<ptrdiff_t>(at + size));
    stream.feed(piece.data(), piece.size(), out);
    EXPECT_LE(stream.buffered(), JsonStream::kMaxObjectBytes);
    at += size;
  }
  return out;
}

TEST(JsonStreamFuzz, RandomBytesNeverBecomeTelemetry) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    JsonStream stream;
    std::string text;
    // Bytes of the alphabet that the grammar is made of are far more telling than uniform ones.
    const std::string alphabet = "{}[]:,\"\\ 0123456789.-e+\r\nmotorSpeed\x01\x80\xff";
    const bool grammar = seed % 2 == 0;
    for (int i = 0; i < 4000; ++i) {
      text += grammar ? alphabet[static_cast<size_t>(
                            pick(random, 0, static_cast<int>(alphabet.size()) - 1))]
                      : static_cast<char>(pick(random, 0, 255));
    }
    for (const Report& report : feedInPieces(stream, text, random)) {
      EXPECT_FALSE(report.motor) << seed;
    }
    // Two whole objects later it reads again, whatever it was left in.
    Random tail(seed);
    const std::string whole = objectOf(7, tail);
    const auto out = feedInPieces(stream, whole + whole + whole, random);
    ASSERT_FALSE(out.empty()) << seed;
    EXPECT_DOUBLE_EQ(out.back().motor->angle_rad, 0.007);
  }
}

TEST(JsonStreamFuzz, DamageCostsItsNeighboursOnly) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    JsonStream stream;
    constexpr int kObjects = 200;
    std::string text;
    int damages = 0;
    for (int i = 0; i < kObjects; ++i) {
      std::string object = objectOf(i, random);
      if (pick(random, 0, 9) == 0) {
        ++damages;
        const auto at = static_cast<size_t>(pick(random, 0, static_cast<int>(object.size()) - 1));
        switch (pick(random, 0, 3)) {
          case 0:
            object.resize(at);
            break;
          case 1:
            object.erase(0, at);
            break;
          case 2:
            // Punctuation and controls only: a digit in a number's place is not detectable.
            object.insert(at, 1, "{}[]\":,\x02\xff"[pick(random, 0, 8)]);
            break;
          default:
            object.erase(at, static_cast<size_t>(pick(random, 1, 40)));
        }
      }
      text += object;
    }
    const auto out = feedInPieces(stream, text, random);
    int motors = 0;
    int changed = 0;
    double last_rad = -1.0;
    for (const Report& report : out) {
      if (!report.motor)
        continue;
      ++motors;
      EXPECT_TRUE(std::isfinite(report.motor->angle_rad));
      EXPECT_GE(report.motor->angle_rad, 0.0);
      // A number that lost digits is a number still, in the damaged object alone.
      if (report.motor->angle_rad > kObjects * 1e-3) {
        ++changed;
      } else {
        last_rad = report.motor->angle_rad;
      }
    }
    EXPECT_GE(motors, kObjects - 3 * damages - 1) << seed << " with " << damages;
    EXPECT_LE(changed, damages) << seed;
    EXPECT_GT(last_rad, (kObjects - 30) * 1e-3) << seed;
  }
}

TEST(JsonStreamFuzz, BitFlipsDoNotCrash) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    JsonStream stream;
    std::string text;
    for (int i = 0; i < 50; ++i)
      text += objectOf(i, random);
    for (int i = 0; i < 60; ++i) {
      text[static_cast<size_t>(pick(random, 0, static_cast<int>(text.size()) - 1))] ^=
          static_cast<char>(1 << pick(random, 0, 7));
    }
    for (const Report& report : feedInPieces(stream, text, random)) {
      if (report.motor) {
        EXPECT_TRUE(std::isfinite(report.motor->angle_rad));
      }
    }
    EXPECT_EQ(stream.counters().bytes, text.size());
  }
}

}  // namespace
}  // namespace s2r::gripper
