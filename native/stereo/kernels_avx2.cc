#define S2R_STEREO_KERNELS "avx2"
#if defined(__AVX2__)
#include "native/stereo/kernels_impl.h"

namespace s2r::stereo {

const Kernels* avx2Kernels() {
  return __builtin_cpu_supports("avx2") ? &kKernels : nullptr;
}

}  // namespace s2r::stereo
#else
#include "native/stereo/kernels.h"

namespace s2r::stereo {

const Kernels* avx2Kernels() {
  return nullptr;
}

}  // namespace s2r::stereo
#endif
