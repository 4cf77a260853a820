#include "products.h"

#include "tilewright/support/parallel.h"

#include <algorithm>

namespace tilewright::host {

namespace {

// Block by block: `depth` rows of b, of them `columns` columns at a time as one piece of memory,
// and `rows` rows of a, so that the sums stay in registers.
constexpr int64_t depth = 256, rows = 4, columns = 16;

// Loops of known length, which become vectors; each target of the function below gets its own.
template <typename T, int64_t height>
[[gnu::always_inline]] inline void multiplyBlock(int64_t k, const T *a, int64_t strideA, const T *b,
                                                 T *c, int64_t strideC, int64_t width) {
  T sums[height][columns] = {};
  for (int64_t i = 0; i < height; ++i)
    for (int64_t j = 0; j < width; ++j)
      sums[i][j] = c[i * strideC + j];
  for (int64_t p = 0; p < k; ++p)
    for (int64_t i = 0; i < height; ++i) {
      const T factor = a[i * strideA + p];
      for (int64_t j = 0; j < columns; ++j)
        sums[i][j] += factor * b[p * columns + j];
    }
  for (int64_t i = 0; i < height; ++i)
    for (int64_t j = 0; j < width; ++j)
      c[i * strideC + j] = sums[i][j];
}

template <typename T>
[[gnu::always_inline]] inline void multiplyPanel(int64_t m, int64_t k, const T *a, int64_t strideA,
                                                 const T *b, T *c, int64_t strideC, int64_t width) {
  int64_t i = 0;
  for (; i + rows <= m; i += rows)
    multiplyBlock<T, rows>(k, a + i * strideA, strideA, b, c + i * strideC, strideC, width);
  for (; i < m; ++i)
    multiplyBlock<T, 1>(k, a + i * strideA, strideA, b, c + i * strideC, strideC, width);
}

template <typename T>
void panel(int64_t m, int64_t k, const T *a, int64_t strideA, const T *b, T *c, int64_t strideC,
           int64_t width) {
  multiplyPanel(m, k, a, strideA, b, c, strideC, width);
}

// The same sums with wider vectors, where the processor has them.
#if defined(__x86_64__)
[[gnu::target_clones("avx512f", "avx2", "default")]] void panel(int64_t m, int64_t k,
                                                                const float *a, int64_t strideA,
                                                                const float *b, float *c,
                                                                int64_t strideC, int64_t width) {
  multiplyPanel(m, k, a, strideA, b, c, strideC, width);
}
#endif

} // namespace

template <typename T>
void multiplyAdd(int64_t m, int64_t n, int64_t k, const T *a, int64_t strideA, const T *b,
                 int64_t strideB, T *c, int64_t strideC) {
  T packed[depth * columns];
  for (int64_t p = 0; p < k; p += depth)
    for (int64_t j = 0; j < n; j += columns) {
      const int64_t width = std::min(columns, n - j), height = std::min(depth, k - p);
      for (int64_t i = 0; i < height; ++i) {
        std::copy_n(b + (p + i) * strideB + j, width, packed + i * columns);
        std::fill_n(packed + i * columns + width, columns - width, T());
      }
      panel(m, height, a + p, strideA, packed, c + j, strideC, width);
    }
}

template <typename T>
void multiplyAddShared(int64_t m, int64_t n, int64_t k, const T *a, int64_t strideA, const T *b,
                       int64_t strideB, T *c, int64_t strideC) {
  if (m == 0 || n == 0 || k == 0) // there may be no memory to step through
    return;
  // Pieces of the wider side.
  constexpr int64_t piece = 8 * columns;
  const bool across = n >= m;
  const int64_t count = ((across ? n : m) + piece - 1) / piece;
  const bool small = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) < 1e6;
  parallelFor(small ? 1 : processorCount(), count, [&](unsigned, size_t i) {
    const int64_t start = static_cast<int64_t>(i) * piece;
    if (across)
      multiplyAdd(m, std::min(piece, n - start), k, a, strideA, b + start, strideB, c + start,
                  strideC);
    else
      multiplyAdd(std::min(piece, m - start), n, k, a + start * strideA, strideA, b, strideB,
                  c + start * strideC, strideC);
  });
}

#define INSTANTIATE(T)                                                                             \
  template void multiplyAdd<T>(int64_t, int64_t, int64_t, const T *, int64_t, const T *, int64_t,  \
                               T *, int64_t);                                                      \
  template void multiplyAddShared<T>(int64_t, int64_t, int64_t, const T *, int64_t, const T *,     \
                                     int64_t, T *, int64_t);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(uint32_t)
INSTANTIATE(uint64_t)
#undef INSTANTIATE

} // namespace tilewright::host
