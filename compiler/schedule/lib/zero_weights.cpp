#include "zero_weights.h"

#include "lowering.h"

#include <algorithm>

namespace tilewright {

ZeroWeights::ZeroWeights(kernel::Conv2DOp conv) : shape_(shapeOf(conv.getWeight())) {
  auto op = conv.getWeight().getDefiningOp<mlir::tosa::ConstOp>();
  auto elements = op ? llvm::dyn_cast<mlir::DenseIntElementsAttr>(op.getValues()) : nullptr;
  if (elements && elements.getElementType().isInteger(8))
    values_ = elements.getRawData();
  zero_ = static_cast<char>(conv.getWeightZp());
}

bool ZeroWeights::areAll(int64_t firstChannel, int64_t columns, int64_t count,
                         llvm::function_ref<int64_t(int64_t)> place) const {
  if (values_.size() <= 1)
    return !values_.empty() && values_.front() == zero_;
  const int64_t depth = shape_[1] * shape_[2] * shape_[3];
  for (int64_t i = 0; i < count; ++i)
    for (int64_t at = firstChannel * depth + place(i), last = at + columns * depth; at < last;
         at += depth)
      if (values_[static_cast<size_t>(at)] != zero_)
        return false;
  return true;
}

std::string ZeroWeights::squares(int64_t rows, int64_t cols) const {
  std::string squares;
  for (int64_t channel = 0; channel < shape_[0]; channel += cols)
    for (int64_t tap = 0; tap < shape_[1] * shape_[2]; ++tap)
      for (int64_t first = 0; first < shape_[3]; first += rows)
        squares +=
            areAll(channel, std::min(cols, shape_[0] - channel), std::min(rows, shape_[3] - first),
                   [&](int64_t i) { return tap * shape_[3] + first + i; })
                ? '0'
                : '1';
  return squares.find('0') == std::string::npos ? "" : squares;
}

} // namespace tilewright
