// Included by one translation unit per instruction set, which compiles it with its own target
// flags. Everything here has internal linkage and calls nothing that is shared, so that the linker
// can never take a wider build's copy of a function for the portable one.
#include "native/stereo/kernels.h"
#include "native/stereo/vectors.h"

namespace s2r::stereo {
namespace {

struct Offset {
  int x;
  int y;
};

// Every second pixel of a 7 x 7 window: as telling as all of it at half the bits.
constexpr Offset kPattern[kCensusBits] = {{-2, -3}, {0, -3},  {2, -3}, {-3, -2}, {-1, -2}, {1, -2},
                                          {3, -2},  {-2, -1}, {0, -1}, {2, -1},  {-3, 0},  {-1, 0},
                                          {1, 0},   {3, 0},   {-2, 1}, {0, 1},   {2, 1},   {-3, 2},
                                          {-1, 2},  {1, 2},   {3, 2},  {-2, 3},  {0, 3},   {2, 3}};

void censusRow(PaddedImage image, int y, int width, uint8_t* const planes[kCensusPlanes]) {
  const int16_t* row = image.data + y * image.stride;
  for (int x = 0; x < width; x += kWords) {
    const Words centre = load<Words>(row + x);
    for (int plane = 0, i = 0; plane < kCensusPlanes; ++plane) {
      Words bits = {};
      for (const int end = (kCensusBits * (plane + 1)) / kCensusPlanes; i < end; ++i) {
        const Words other = load<Words>(row + x + kPattern[i].y * image.stride + kPattern[i].x);
        // A true comparison is -1.
        bits = (bits + bits) - (Words)(other < centre);
      }
      store(planes[plane] + x, __builtin_convertvector(bits, HalfBytes));
    }
  }
}

void costRow(const uint8_t* const left[kCensusPlanes],
             const uint8_t* const right[kCensusPlanes],
             int width,
             int disparities,
             int min_disparity,
             uint8_t out_of_image,
             uint8_t* cost) {
  for (int x = 0; x < width; ++x, cost += disparities) {
    Bytes own[kCensusPlanes];
    for (int p = 0; p < kCensusPlanes; ++p)
      own[p] = splatBytes(left[p][x]);
    for (int k = 0; k < disparities; k += kBytes) {
      Bytes count = {};
      for (int p = 0; p < kCensusPlanes; ++p) {
        count += bitCounts(load<Bytes>(right[p] - x + k) ^ own[p]);
      }
      store(cost + k, count);
    }
    // Columns x - (min_disparity + k) outside the right image say nothing for or against.
    const int last = x - min_disparity;    // k <= last keeps the column >= 0
    const int first = last - (width - 1);  // k >= first keeps it < width
    for (int k = last + 1 > 0 ? last + 1 : 0; k < disparities; ++k)
      cost[k] = out_of_image;
    for (int k = 0; k < first && k < disparities; ++k)
      cost[k] = out_of_image;
  }
}

struct Path {
  const uint8_t* before;
  uint8_t* now;
  Bytes floor;  // least cost before
  Bytes jump;   // least cost before + penalty of a jump
  Bytes least;
};

inline uint8_t penaltyOf(const uint8_t* penalty2, int a, int b) {
  const int step = (a > b ? a - b : b - a) >> 7;
  return penalty2[step];
}

inline Path openPath(const uint8_t* before, uint8_t* now, uint8_t floor, uint8_t penalty2) {
  return Path{before, now, splatBytes(floor), splatBytes(static_cast<uint8_t>(floor + penalty2)),
              splatBytes(255)};
}

inline Bytes advancePath(Path& path, int k, Bytes cost, Bytes penalty1) {
  const Bytes same = load<Bytes>(path.before + k);
  const Bytes step =
      least(load<Bytes>(path.before + k - 1), load<Bytes>(path.before + k + 1)) + penalty1;
  const Bytes now = least(least(same, step), path.jump) - path.floor + cost;
  store(path.now + k, now);
  path.least = least(path.least, now);
  return now;
}

void aggregateRow(const AggregateArgs& args) {
  const int slot = args.disparities + kPathPad;
  const Bytes penalty1 = splatBytes(args.penalty1);
  int x = args.step > 0 ? 0 : args.width - 1;
  uint8_t least_along = 0;
  for (int n = 0; n < args.width; ++n, x += args.step) {
    const ptrdiff_t here = x + 1;
    const ptrdiff_t behind = here - args.step;
    const ptrdiff_t ahead = here + args.step;
    const int grey = args.grey[x];
    const uint8_t* cost = args.cost + static_cast<ptrdiff_t>(x) * args.disparities;
    uint8_t* sum = args.sum + static_cast<ptrdiff_t>(x) * args.disparities;
    Path along = openPath(args.along[n & 1], args.along[1 - (n & 1)], least_along,
                          penaltyOf(args.penalty2, grey, args.grey[x - args.step]));
    Path p0 = openPath(args.before->costs[0] + behind * slot, args.now->costs[0] + here * slot,
                       args.before->least[0][behind],
                       penaltyOf(args.penalty2, grey, args.grey_before[x - args.step]));
    Path p1 =
        openPath(args.before->costs[1] + here * slot, args.now->costs[1] + here * slot,
                 args.before->least[1][here], penaltyOf(args.penalty2, grey, args.grey_before[x]));
    Path p2 = openPath(args.before->costs[2] + ahead * slot, args.now->costs[2] + here * slot,
                       args.before->least[2][ahead],
                       penaltyOf(args.penalty2, grey, args.grey_before[x + args.step]));
    for (int k = 0; k < args.disparities; k += kBytes) {
      const Bytes own = load<Bytes>(cost + k);
      const Bytes a = advancePath(along, k, own, penalty1);
      const Bytes b = advancePath(p0, k, own, penalty1);
      const Bytes c = advancePath(p1, k, own, penalty1);
      const Bytes d = advancePath(p2, k, own, penalty1);
      store(sum + k, (a + b) + (c + d));
    }
    least_along = leastByte(along.least);
    args.now->least[0][here] = leastByte(p0.least);
    args.now->least[1][here] = leastByte(p1.least);
    args.now->least[2][here] = leastByte(p2.least);
  }
}

// Bit i tells whether total[i] <= limit, for 32 entries.
inline uint32_t atMost(const int16_t* total, int16_t limit) {
#if defined(__AVX2__)
  const __m256i bound = _mm256_set1_epi16(limit);
  const __m256i low = _mm256_cmpgt_epi16(load<__m256i>(total), bound);
  const __m256i high = _mm256_cmpgt_epi16(load<__m256i>(total + 16), bound);
  const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xd8);
  return ~static_cast<uint32_t>(_mm256_movemask_epi8(bytes));
#else
  uint32_t bits = 0;
  for (int i = 0; i < 32; ++i)
    bits |= static_cast<uint32_t>(total[i] <= limit) << i;
  return bits;
#endif
}

void selectRow(const SelectArgs& args) {
  const int count = args.disparities;
  const int columns = args.width + count;
  for (int i = 0; i < columns; ++i)
    args.right_cost[i] = INT16_MAX;
  int16_t* total = args.scratch;
  for (int x = 0; x < args.width; ++x) {
    const uint8_t* down = args.sum_down + static_cast<ptrdiff_t>(x) * count;
    const uint8_t* up = args.sum_up + static_cast<ptrdiff_t>(x) * count;
    int16_t* right_cost = args.right_cost + (args.width - 1 - x);
    Words low = splatWords(INT16_MAX);
    for (int k = 0; k < count; k += kBytes) {
      const Bytes a = load<Bytes>(down + k);
      const Bytes b = load<Bytes>(up + k);
      const Words first = widenLow(a) + widenLow(b);
      const Words second = widenHigh(a) + widenHigh(b);
      store(total + k, first);
      store(total + k + kWords, second);
      low = least(low, least(first, second));
      store(right_cost + k, least(load<Words>(right_cost + k), first));
      store(right_cost + k + kWords, least(load<Words>(right_cost + k + kWords), second));
    }
    const int best = leastWord(low);
    const auto limit = static_cast<int16_t>(best * args.uniqueness_permille / 1000);
    int at = -1;
    bool unique = true;
    for (int k = 0; k < count; k += 32) {
      for (uint32_t bits = atMost(total + k, limit); bits != 0; bits &= bits - 1) {
        const int i = k + __builtin_ctz(bits);
        if (total[i] == best && at < 0)
          at = i;
      }
    }
    for (int k = 0; k < count && unique; k += 32) {
      uint32_t bits = atMost(total + k, limit);
      for (int i = at - 1; i <= at + 1; ++i) {
        if (i >= k && i < k + 32)
          bits &= ~(uint32_t{1} << (i - k));
      }
      unique = bits == 0;
    }
    const bool inside = at > 0 && at + 1 < count;
    args.fraction[x] = 0.0f;
    if (inside) {
      // Two straight flanks of equal slope (equiangular fit).
      const int fall = total[at - 1] - best;
      const int rise = total[at + 1] - best;
      const int steep = fall > rise ? fall : rise;
      if (steep > 0) {
        args.fraction[x] = 0.5f * static_cast<float>(fall - rise) / static_cast<float>(steep);
      }
    }
    args.left_index[x] = static_cast<int16_t>(unique && inside ? at : -1);
  }
}

inline void order(Floats& a, Floats& b) {
  const Floats low = least(a, b);
  b = most(a, b);
  a = low;
}

// Median of 3 x 3 where the centre is known; unknown neighbours count as the centre.
void medianRow(const float* above, const float* row, const float* below, int width, float* out) {
  for (int x = 0; x < width; x += kFloats) {
    const Floats centre = load<Floats>(row + x);
    Floats v[9];
    for (int i = 0; i < 3; ++i) {
      v[i] = load<Floats>(above + x + i - 1);
      v[3 + i] = load<Floats>(row + x + i - 1);
      v[6 + i] = load<Floats>(below + x + i - 1);
    }
    for (auto& value : v)
      value = value == value ? value : centre;
    // Exchanges of Smith's nineteen-step network for the median of nine.
    order(v[1], v[2]);
    order(v[4], v[5]);
    order(v[7], v[8]);
    order(v[0], v[1]);
    order(v[3], v[4]);
    order(v[6], v[7]);
    order(v[1], v[2]);
    order(v[4], v[5]);
    order(v[7], v[8]);
    order(v[0], v[3]);
    order(v[5], v[8]);
    order(v[4], v[7]);
    order(v[3], v[6]);
    order(v[1], v[4]);
    order(v[2], v[5]);
    order(v[4], v[7]);
    order(v[4], v[2]);
    order(v[6], v[4]);
    order(v[4], v[2]);
    const Floats median = centre == centre ? v[4] : centre;
    if (x + kFloats <= width) {
      store(out + x, median);
    } else {
      for (int i = 0; x + i < width; ++i)
        out[x + i] = median[i];
    }
  }
}

void refineRow(const RefineArgs& args) {
  const Floats tolerance = splatFloats(args.surface_step_px);
  const Floats limit = splatFloats(args.max_step_px);
  const Floats prior = splatFloats(args.prior_weight);
  const Floats one = splatFloats(1.0f);
  for (int x = 0; x < args.width; x += kFloats) {
    const Floats centre = load<Floats>(args.disparity + x);
    // Sums over the window of weight w, moments of w and of the right-hand side r, and of slope g.
    Floats w0 = {}, wx = {}, wy = {}, wxx = {}, wxy = {}, wyy = {};
    Floats r0 = {}, rx = {}, ry = {}, g0 = {}, gx = {}, gy = {}, e0 = {}, n0 = {};
    for (int dy = -kRefineRadius; dy <= kRefineRadius; ++dy) {
      Floats w = {}, w1 = {}, w2 = {}, r = {}, r1 = {}, s = {}, s1 = {};
      for (int dx = -kRefineRadius; dx <= kRefineRadius; ++dx) {
        const ptrdiff_t at = dy * args.stride + x + dx;
        const Floats across = splatFloats(static_cast<float>(dx));
        Floats d = load<Floats>(args.disparity + at) - centre;
        const Ints near = (d < tolerance) & (-d < tolerance);
        d = (Floats)((Ints)d & near);
        const Floats g = (Floats)((Ints)load<Floats>(args.slope + at) & near);
        const Floats e = (Floats)((Ints)load<Floats>(args.error + at) & near);
        const Floats weight = (Floats)((Ints)prior & near) + g * g;
        const Floats right = weight * d - g * e;
        const Floats moment = weight * across;
        w += weight;
        w1 += moment;
        w2 += moment * across;
        r += right;
        r1 += right * across;
        s += g;
        s1 += g * across;
        e0 += e;
        n0 += (Floats)((Ints)one & near);
      }
      const Floats down = splatFloats(static_cast<float>(dy));
      w0 += w;
      wx += w1;
      wxx += w2;
      wy += w * down;
      wxy += w1 * down;
      wyy += w * down * down;
      r0 += r;
      rx += r1;
      ry += r * down;
      g0 += s;
      gx += s1;
      gy += s * down;
    }
    // An offset of brightness between the images is one more unknown, eliminated here.
    const Floats inverse = one / most(n0, one);
    const Floats mean = e0 * inverse;
    r0 += g0 * mean;
    rx += gx * mean;
    ry += gy * mean;
    w0 -= g0 * g0 * inverse;
    wx -= g0 * gx * inverse;
    wy -= g0 * gy * inverse;
    wxx -= gx * gx * inverse;
    wxy -= gx * gy * inverse;
    wyy -= gy * gy * inverse;
    const Floats ridge = splatFloats(0.05f) * w0;
    wxx += ridge;
    wyy += ridge;
    const Floats a = wxx * wyy - wxy * wxy;
    const Floats b = wx * wyy - wxy * wy;
    const Floats c = wx * wxy - wxx * wy;
    const Floats det = w0 * a - wx * b + wy * c;
    const Floats step = (r0 * a - rx * b + ry * c) / most(det, splatFloats(1e-20f));
    const Floats out = centre + least(most(step, -limit), limit);
    if (x + kFloats <= args.width) {
      store(args.out + x, out);
    } else {
      for (int i = 0; x + i < args.width; ++i)
        args.out[x + i] = out[i];
    }
  }
}

constexpr Kernels kKernels = {S2R_STEREO_KERNELS, censusRow, costRow,  aggregateRow,
                              selectRow,          medianRow, refineRow};

}  // namespace
}  // namespace s2r::stereo
