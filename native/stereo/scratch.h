// Working memory and threads of one call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace s2r::stereo {

struct FreeDeleter {
  void operator()(void* memory) const { std::free(memory); }
};

template <typename T>
using Scratch = std::unique_ptr<T[], FreeDeleter>;

// Uninitialised memory; throws std::bad_alloc. Large volumes ask for huge pages, because taking the
// page faults of small ones would cost more than matching does.
template <typename T>
[[nodiscard]] Scratch<T> scratch(int64_t count) {
  constexpr size_t kHugePage = size_t{2} << 20;
  const size_t bytes = static_cast<size_t>(count) * sizeof(T);
  const size_t alignment = bytes >= 2 * kHugePage ? kHugePage : 64;
  const size_t rounded = (bytes / alignment + 1) * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr)
    throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
  if (alignment == kHugePage)
    madvise(memory, rounded, MADV_HUGEPAGE);
#endif
  return Scratch<T>(static_cast<T*>(memory));
}

// Runs work(first, last) over [0, count) in at most `threads` contiguous parts, the last one on the
// caller's thread. Where no thread can be started the caller does that part too. Rethrows the first
// exception.
template <typename Work>
void inParts(int threads, int count, const Work& work) {
  const int parts = std::max(1, std::min(threads, count));
  std::vector<std::exception_ptr> errors(static_cast<size_t>(parts));
  const auto run = [&](int part) {
    try {
      work(static_cast<int>(int64_t{count} * part / parts),
           static_cast<int>(int64_t{count} * (part + 1) / parts));
    } catch (...) {
      errors[static_cast<size_t>(part)] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    others.reserve(static_cast<size_t>(parts));
    for (int part = 0; part + 1 < parts; ++part) {
      try {
        others.emplace_back(run, part);
      } catch (const std::system_error&) {
        run(part);
      }
    }
    run(parts - 1);
  }
  for (const auto& error : errors) {
    if (error)
      std::rethrow_exception(error);
  }
}

}  // namespace s2r::stereo
