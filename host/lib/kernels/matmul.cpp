// Products of matrices, and what is made of such products.
#include "../with_elements.h"
#include "products.h"
#include "tilewright/host/kernels.h"
#include "typed.h"

#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace tilewright::host {

namespace {

// Calls use(T()) with the type in which products of elements of `type` are formed.
template <typename Use> void withProducts(DType type, Use use) {
  if (type == DType::F64)
    use(double());
  else if (isFloat(type))
    use(float());
  else
    use(uint64_t());
}

void gemm(Call &call) {
  checkRank(call, 0, 2, 2);
  checkRank(call, 1, 2, 2);
  auto turned = [&](size_t input, const char *flag) {
    const Tensor &tensor = call.input(input);
    if (!call.flag(flag, false))
      return tensor;
    return stridedCopy(tensor, {tensor.shape[1], tensor.shape[0]}, 0, {1, tensor.shape[1]});
  };
  const Tensor a = turned(0, "transA"), b = turned(1, "transB");
  const int64_t m = a.shape[0], k = a.shape[1], n = b.shape[1];
  const Shape shape{m, n};
  if (b.shape[0] != k)
    call.fail(fmt::format("the shapes {} and {} do not fit each other", formatShape(a.shape),
                          formatShape(b.shape)));
  if (call.has(2) && broadcastShapes(call.shape(2), shape) != shape)
    call.fail(fmt::format("the shape {} does not broadcast to {}", formatShape(call.shape(2)),
                          formatShape(shape)));
  const float alpha = call.number("alpha", 1), beta = call.number("beta", 1);
  withProducts(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    auto scaled = [](T value, float factor) {
      if constexpr (std::is_integral_v<T>) // of integers the factor acts on the number, not its
                                           // bits
        return factor == 1 ? value
                           : static_cast<T>(converted<int64_t>(
                                 static_cast<double>(static_cast<int64_t>(value)) * factor));
      else
        return factor == 1 ? value : value * static_cast<T>(factor);
    };
    Results<T> y(call, a.dtype, shape);
    T *target = y.data();
    multiplyAddShared(m, n, k, Numbers<T>(a).data(), k, Numbers<T>(b).data(), n, target, n);
    const int64_t count = m * n;
    for (int64_t i = 0; i < count && alpha != 1; ++i)
      target[i] = scaled(target[i], alpha);
    if (call.has(2)) {
      const Shape strides = broadcastStrides(call.shape(2), shape);
      const Numbers<T> c(call.input(2));
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
          target[i * n + j] += scaled(c[i * strides[0] + j * strides[1]], beta);
    }
    call.set(y.take());
  });
}

void matMul(Call &call) {
  checkRank(call, 0, 1);
  checkRank(call, 1, 1);
  // A vector is a matrix of one row on the left, of one column on the right.
  Shape a = call.shape(0), b = call.shape(1);
  if (call.rank(0) == 1)
    a.insert(a.begin(), 1);
  if (call.rank(1) == 1)
    b.push_back(1);
  const int64_t m = a[a.size() - 2], k = a.back(), n = b.back();
  const Shape outerA(a.begin(), a.end() - 2), outerB(b.begin(), b.end() - 2);
  const std::optional<Shape> outer = broadcastShapes(outerA, outerB);
  if (b[b.size() - 2] != k || !outer)
    call.fail(fmt::format("the shapes {} and {} do not fit each other", formatShape(call.shape(0)),
                          formatShape(call.shape(1))));
  Shape shape = *outer;
  if (call.rank(0) > 1)
    shape.push_back(m);
  if (call.rank(1) > 1)
    shape.push_back(n);
  const Shape stridesA = broadcastStrides(outerA, *outer),
              stridesB = broadcastStrides(outerB, *outer);
  // Of one matrix on the right all rows on the left are one matrix.
  const bool flat = elementCount(outerB) == 1 && elementCount(outerA) == elementCount(*outer);
  withProducts(call.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> left(call.input(0)), right(call.input(1));
    Results<T> y(call, call.input(0).dtype, shape);
    T *target = y.data();
    if (flat)
      multiplyAddShared(elementCount(outerA) * m, n, k, left.data(), k, right.data(), n, target, n);
    forEachIndex(flat || elementCount(y.shape()) == 0 ? Shape{0} : *outer, [&](const Shape &index) {
      int64_t atA = 0, atB = 0;
      for (size_t d = 0; d < index.size(); ++d) {
        atA += index[d] * stridesA[d];
        atB += index[d] * stridesB[d];
      }
      multiplyAddShared(m, n, k, left.data() + atA * m * k, k, right.data() + atB * k * n, n,
                        target, n);
      target += m * n;
    });
    call.set(y.take());
  });
}

// The determinant, by elimination with the largest pivots.
double determinant(std::vector<double> matrix, int64_t n) {
  double product = 1;
  for (int64_t i = 0; i < n; ++i) {
    int64_t pivot = i;
    for (int64_t row = i + 1; row < n; ++row)
      if (std::fabs(matrix[row * n + i]) > std::fabs(matrix[pivot * n + i]))
        pivot = row;
    if (matrix[pivot * n + i] == 0)
      return 0;
    if (pivot != i) {
      std::swap_ranges(matrix.begin() + pivot * n, matrix.begin() + (pivot + 1) * n,
                       matrix.begin() + i * n);
      product = -product;
    }
    product *= matrix[i * n + i];
    for (int64_t row = i + 1; row < n; ++row) {
      const double factor = matrix[row * n + i] / matrix[i * n + i];
      for (int64_t column = i; column < n; ++column)
        matrix[row * n + column] -= factor * matrix[i * n + column];
    }
  }
  return product;
}

void det(Call &call) {
  checkRank(call, 0, 2);
  const Shape &from = call.shape(0);
  const int64_t n = from.back();
  if (from[from.size() - 2] != n)
    call.fail(fmt::format("the matrices of {} are not square", formatShape(from)));
  Tensor result = call.make(call.input(0).dtype, Shape(from.begin(), from.end() - 2));
  for (int64_t i = 0; i < result.elements(); ++i) {
    std::vector<double> matrix(n * n);
    for (int64_t j = 0; j < n * n; ++j)
      matrix[j] = floatAt(call.input(0), i * n * n + j);
    setFloat(result, i, determinant(std::move(matrix), n));
  }
  call.set(std::move(result));
}

// The terms of an equation of Einsum: a list of dimensions for each input, and for the result.
// Letters are their codes; the dimensions of an ellipsis are -1 for the last, -2 before it, ...
struct Equation {
  std::vector<std::vector<int64_t>> inputs;
  std::vector<int64_t> output;
};

Equation parseEquation(const Call &call) {
  std::string text = call.text("equation", "");
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = text.find("->");
  std::vector<std::string> terms(1);
  for (char c : text.substr(0, arrow))
    if (c == ',')
      terms.emplace_back();
    else
      terms.back().push_back(c);
  if (terms.size() != call.inputCount())
    call.fail(fmt::format("the equation '{}' has {} terms for {} inputs", escape(text),
                          terms.size(), call.inputCount()));
  int64_t wildest = 0; // dimensions of the longest ellipsis
  auto parse = [&](const std::string &term, std::optional<int64_t> rank) {
    std::vector<int64_t> dims;
    for (size_t i = 0; i < term.size(); ++i) {
      if (term.compare(i, 3, "...") == 0) {
        const int64_t wild = rank ? *rank - static_cast<int64_t>(term.size()) + 3 : wildest;
        wildest = std::max(wildest, wild);
        for (int64_t each = wild; each > 0; --each)
          dims.push_back(-each);
        i += 2;
      } else if (std::isalpha(static_cast<unsigned char>(term[i]))) {
        dims.push_back(term[i]);
      } else {
        call.fail(fmt::format("the equation '{}' is none", escape(text)));
      }
    }
    if (rank && static_cast<int64_t>(dims.size()) != *rank)
      call.fail(fmt::format("the term '{}' is of {} dimensions in place of {}", escape(term),
                            dims.size(), *rank));
    return dims;
  };
  Equation equation;
  std::map<int64_t, int> uses;
  for (size_t i = 0; i < terms.size(); ++i) {
    equation.inputs.push_back(parse(terms[i], call.rank(i)));
    for (int64_t dim : equation.inputs.back())
      ++uses[dim];
  }
  if (arrow != std::string::npos) {
    equation.output = parse(text.substr(arrow + 2), std::nullopt);
  } else {
    for (const auto &[dim, count] : uses) // sorted, the ellipsis first
      if (dim < 0 || count == 1)
        equation.output.push_back(dim);
  }
  return equation;
}

void einsum(Call &call) {
  const Equation equation = parseEquation(call);
  // All dimensions: those of the result, then those that are summed.
  std::vector<int64_t> dims = equation.output;
  std::map<int64_t, int64_t> sizes;
  for (size_t i = 0; i < equation.inputs.size(); ++i)
    for (size_t d = 0; d < equation.inputs[i].size(); ++d) {
      const int64_t dim = equation.inputs[i][d], size = call.shape(i)[d];
      const auto [known, isNew] = sizes.emplace(dim, size);
      if (isNew && std::find(dims.begin(), dims.end(), dim) == dims.end())
        dims.push_back(dim);
      if (known->second != size && known->second != 1 && size != 1)
        call.fail(
            fmt::format("a dimension of {} and one of {} have one name", known->second, size));
      if (known->second == 1)
        known->second = size;
    }
  Shape shape, summed;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!sizes.count(dims[i]) || std::count(dims.begin(), dims.end(), dims[i]) > 1)
      call.fail("the equation's result has a dimension twice, or one that no input has");
    (i < equation.output.size() ? shape : summed).push_back(sizes[dims[i]]);
  }
  double products = 1;
  for (const auto &[dim, size] : sizes)
    products *= static_cast<double>(std::max<int64_t>(size, 1));
  if (products > 1e13)
    call.fail(fmt::format("{} products would have to be summed", products));
  withProducts(call.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    const size_t count = equation.inputs.size();
    std::vector<std::unique_ptr<Numbers<T>>> inputs;
    std::vector<Shape> strides(count, Shape(dims.size(), 0)); // of each input, of all dimensions
    for (size_t i = 0; i < count; ++i) {
      inputs.push_back(std::make_unique<Numbers<T>>(call.input(i)));
      const Shape own = rowMajorStrides(call.shape(i));
      for (size_t d = 0; d < own.size(); ++d)
        if (call.shape(i)[d] != 1)
          strides[i][std::find(dims.begin(), dims.end(), equation.inputs[i][d]) - dims.begin()] +=
              own[d];
    }
    Results<T> y(call, call.input(0).dtype, shape);
    T *target = y.data();
    // The last dimension is a loop of its own, over products of runs of elements.
    const int64_t run = summed.empty() ? 1 : summed.back();
    const Shape upper(summed.begin(), summed.empty() ? summed.end() : summed.end() - 1);
    std::vector<const T *> starts(count), from(count);
    auto moved = [&](const T *start, const Shape &index, const Shape &steps, size_t first) {
      for (size_t d = 0; d < index.size(); ++d)
        start += index[d] * steps[first + d];
      return start;
    };
    forEachIndex(shape, [&](const Shape &outer) {
      for (size_t i = 0; i < count; ++i)
        starts[i] = moved(inputs[i]->data(), outer, strides[i], 0);
      T sum = T();
      forEachIndex(upper, [&](const Shape &inner) {
        for (size_t i = 0; i < count; ++i)
          from[i] = moved(starts[i], inner, strides[i], shape.size());
        for (int64_t j = 0; j < run; ++j) {
          T product = 1;
          for (size_t i = 0; i < count; ++i)
            product *= from[i][summed.empty() ? 0 : j * strides[i].back()];
          sum += product;
        }
      });
      *target++ = sum;
    });
    call.set(y.take());
  });
}

} // namespace

KernelTable matmulKernels() {
  return {{"Det", det}, {"Einsum", einsum}, {"Gemm", gemm}, {"MatMul", matMul}};
}

} // namespace tilewright::host
