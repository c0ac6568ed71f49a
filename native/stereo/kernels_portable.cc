#define S2R_STEREO_KERNELS "portable"
#include "native/stereo/kernels_impl.h"

namespace s2r::stereo {

const Kernels& portableKernels() {
  return kKernels;
}

}  // namespace s2r::stereo
