#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace s2r::scene::test {

/// Folder of real recordings: S2R_DATA_DIR of the environment, else the one the build names. Empty
/// where absent.
[[nodiscard]] inline std::string dataFolder(const std::string& name) {
  const char* given = std::getenv("S2R_DATA_DIR");
  const std::string path = std::string(given ? given : S2R_DATA_DIR) + "/" + name;
  return std::filesystem::is_directory(path) ? path : "";
}

/// Sanitized builds run the same tests on a sample, several times slower as they are.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr int kThinning = 10;
#else
inline constexpr int kThinning = 1;
#endif

}  // namespace s2r::scene::test
