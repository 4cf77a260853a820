// Tensors as NumPy files: `.npy` (format versions 1.0 to 3.0, C order) and `.npz` (zip, stored or
// deflated).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

// NumPy's types, and behind them ONNX's that NumPy lacks, whose elements stand in the low bits of
// one byte (of two: bfloat16) each.
enum class DType {
  Bool,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32,
  I64,
  U64,
  F16,
  F32,
  F64,
  BF16,
  F8E4M3FN,
  F8E4M3FNUZ,
  F8E5M2,
  F8E5M2FNUZ,
  F8E8M0,
  F4E2M1,
  I4,
  U4,
  I2,
  U2
};

int64_t byteSize(DType type);
const char *name(DType type); // "int8", as NumPy and ONNX spell it
std::optional<DType> dtypeNamed(std::string_view name);

// A dense tensor in C order, little-endian.
struct Tensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<char> bytes; // elementCount(shape) * byteSize(dtype)

  int64_t elements() const;
  template <typename T> T *data() { return reinterpret_cast<T *>(bytes.data()); }
  template <typename T> const T *data() const { return reinterpret_cast<const T *>(bytes.data()); }
};

Tensor makeTensor(DType dtype, std::vector<int64_t> shape);

// Throw UserError naming the file for what is not such a file, for pickled objects, Fortran order,
// big-endian data, a size that disagrees with the header, or more than `limit` bytes of data.
// Files hold types that NumPy lacks as unsigned integers of their width; what is read is of
// NumPy's types.
Tensor readNpy(const std::string &path, uint64_t limit = uint64_t(1) << 30);
std::map<std::string, Tensor> readNpz(const std::string &path, uint64_t limit = uint64_t(1) << 30);
void writeNpy(const std::string &path, const Tensor &tensor);

} // namespace tilewright
