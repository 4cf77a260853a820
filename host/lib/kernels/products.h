// Products of matrices of numbers, for every operator that has one inside.
#pragma once

#include <cstdint>

namespace tilewright::host {

// c += a * b, with an m x k matrix a and a k x n matrix b; rows lie strideA, strideB and strideC
// elements apart. Each sum is formed in the order of k, on any machine. Of float, double, uint32_t
// and uint64_t; integers wrap, so that signed ones may be given as unsigned.
template <typename T>
void multiplyAdd(int64_t m, int64_t n, int64_t k, const T *a, int64_t strideA, const T *b,
                 int64_t strideB, T *c, int64_t strideC);

// The same, on several threads.
template <typename T>
void multiplyAddShared(int64_t m, int64_t n, int64_t k, const T *a, int64_t strideA, const T *b,
                       int64_t strideB, T *c, int64_t strideC);

} // namespace tilewright::host
