#include "tilewright/compiler/select/kernel_regions.h"

#include "mlir/IR/Builders.h"
#include "tilewright/compiler/select/kernel_dialect.h"

using namespace mlir;

namespace tilewright::kernel {

int64_t elementsOf(const Region &region) {
  int64_t elements = 1;
  for (int64_t size : region.sizes)
    elements *= size;
  return elements;
}

SmallVector<int64_t> denseStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

Region coalesce(const Region &region) {
  Region out = region;
  out.sizes.clear();
  out.sourceStrides.clear();
  out.resultStrides.clear();
  for (size_t i = 0; i < region.sizes.size(); ++i) {
    int64_t size = region.sizes[i], source = region.sourceStrides[i],
            result = region.resultStrides[i];
    if (size == 1)
      continue;
    if (!out.sizes.empty() && out.sourceStrides.back() == source * size &&
        out.resultStrides.back() == result * size) {
      out.sizes.back() *= size;
      out.sourceStrides.back() = source;
      out.resultStrides.back() = result;
    } else {
      out.sizes.push_back(size);
      out.sourceStrides.push_back(source);
      out.resultStrides.push_back(result);
    }
  }
  if (out.sizes.empty()) {
    out.sizes.push_back(1);
    out.sourceStrides.push_back(1);
    out.resultStrides.push_back(1);
  }
  return out;
}

SmallVector<Digit> digitsOf(ArrayRef<int64_t> shape) {
  SmallVector<Digit> digits;
  for (auto [size, stride] : llvm::zip_equal(shape, denseStrides(shape)))
    digits.push_back({size, stride});
  return digits;
}

FailureOr<RegionInDigits> inDigits(const Region &region, ArrayRef<Digit> digits) {
  RegionInDigits out;
  out.region.source = region.source;
  out.region.sourceOffset = region.sourceOffset;
  out.region.resultOffset = region.resultOffset;
  SmallVector<int64_t> greatest;
  for (const Digit &digit : digits) {
    out.starts.push_back(region.sourceOffset / digit.stride % digit.size);
    greatest.push_back(out.starts.back());
  }
  for (size_t i = 0; i < region.sizes.size(); ++i) {
    int64_t left = region.sizes[i], source = region.sourceStrides[i],
            result = region.resultStrides[i];
    if (left == 1)
      continue;
    if (source < 0)
      return failure();
    // From the digit that the step changes on, those above it: the inner ones last.
    size_t at = out.digits.size();
    while (left > 1) {
      int64_t size = left;
      // The first digit whose stride is no larger: one that is alike behind it has one value.
      const auto *found =
          llvm::find_if(digits, [&](const Digit &each) { return each.stride <= source; });
      const bool changes = found != digits.end();
      if (changes) {
        const int64_t end = found->stride * found->size;
        if (source % found->stride != 0)
          return failure();
        if (source * left > end && source < end) {
          size = end / source;
          if (end % source != 0 || left % size != 0)
            return failure();
        }
        greatest[static_cast<size_t>(found - digits.begin())] +=
            (size - 1) * (source / found->stride);
      }
      auto insert = [at](auto &list, auto value) {
        list.insert(list.begin() + static_cast<long>(at), value);
      };
      insert(out.region.sizes, size);
      insert(out.region.sourceStrides, source);
      insert(out.region.resultStrides, result);
      insert(out.digits, changes ? static_cast<int>(found - digits.begin()) : -1);
      insert(out.steps, changes ? source / found->stride : int64_t(0));
      left /= size;
      source *= size;
      result *= size;
    }
  }
  for (auto [most, digit] : llvm::zip_equal(greatest, digits))
    if (most >= digit.size)
      return failure();
  return out;
}

FailureOr<Region> compose(const Region &first, const Region &second) {
  // The digits of the tensor between are the first region's dimensions.
  SmallVector<size_t> order;
  for (size_t i = 0; i < first.sizes.size(); ++i)
    if (first.sizes[i] != 1)
      order.push_back(i);
  llvm::sort(order,
             [&](size_t a, size_t b) { return first.resultStrides[a] > first.resultStrides[b]; });
  SmallVector<Digit> digits;
  int64_t stride = 1;
  for (size_t i : llvm::reverse(order)) {
    if (first.resultStrides[i] != stride)
      return failure();
    digits.insert(digits.begin(), {first.sizes[i], stride});
    stride *= first.sizes[i];
  }
  if (first.resultOffset != 0)
    return failure();
  FailureOr<RegionInDigits> taken = inDigits(second, digits);
  if (failed(taken))
    return failure();
  Region region = taken->region;
  region.source = first.source;
  region.sourceOffset = first.sourceOffset;
  for (size_t digit = 0; digit < digits.size(); ++digit)
    region.sourceOffset += taken->starts[digit] * first.sourceStrides[order[digit]];
  for (size_t i = 0; i < region.sizes.size(); ++i)
    region.sourceStrides[i] =
        taken->digits[i] < 0
            ? 0
            : taken->steps[i] * first.sourceStrides[order[static_cast<size_t>(taken->digits[i])]];
  return coalesce(region);
}

DictionaryAttr encode(MLIRContext *context, const Region &region) {
  Builder builder(context);
  return builder.getDictionaryAttr({
      builder.getNamedAttr("source", builder.getI64IntegerAttr(region.source)),
      builder.getNamedAttr("source_offset", builder.getI64IntegerAttr(region.sourceOffset)),
      builder.getNamedAttr("result_offset", builder.getI64IntegerAttr(region.resultOffset)),
      builder.getNamedAttr("sizes", builder.getDenseI64ArrayAttr(region.sizes)),
      builder.getNamedAttr("source_strides", builder.getDenseI64ArrayAttr(region.sourceStrides)),
      builder.getNamedAttr("result_strides", builder.getDenseI64ArrayAttr(region.resultStrides)),
  });
}

FailureOr<Region> decode(Attribute attribute) {
  auto fields = dyn_cast<DictionaryAttr>(attribute);
  if (!fields || fields.size() != 6)
    return failure();
  auto source = fields.getAs<IntegerAttr>("source"),
       sourceOffset = fields.getAs<IntegerAttr>("source_offset"),
       resultOffset = fields.getAs<IntegerAttr>("result_offset");
  auto sizes = fields.getAs<DenseI64ArrayAttr>("sizes"),
       sourceStrides = fields.getAs<DenseI64ArrayAttr>("source_strides"),
       resultStrides = fields.getAs<DenseI64ArrayAttr>("result_strides");
  for (IntegerAttr integer : {source, sourceOffset, resultOffset})
    if (!integer || !integer.getType().isInteger(64))
      return failure();
  if (!sizes || !sourceStrides || !resultStrides || sizes.empty() ||
      sizes.size() != sourceStrides.size() || sizes.size() != resultStrides.size())
    return failure();
  Region region;
  region.source = source.getInt();
  region.sourceOffset = sourceOffset.getInt();
  region.resultOffset = resultOffset.getInt();
  region.sizes = llvm::to_vector(sizes.asArrayRef());
  region.sourceStrides = llvm::to_vector(sourceStrides.asArrayRef());
  region.resultStrides = llvm::to_vector(resultStrides.asArrayRef());
  return region;
}

// Whether every element offset + sum(i*strides) lies in [0, elements).
static bool inside(int64_t offset, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides,
                   int64_t elements) {
  __int128 least = offset, greatest = offset;
  for (auto [size, stride] : llvm::zip_equal(sizes, strides))
    (stride < 0 ? least : greatest) += static_cast<__int128>(size - 1) * stride;
  return least >= 0 && greatest < elements;
}

LogicalResult verifyRegions(AssembleOp op) {
  auto elements = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getNumElements();
  };
  int64_t covered = 0;
  for (auto [i, attribute] : llvm::enumerate(op.getRegions())) {
    FailureOr<Region> region = decode(attribute);
    if (failed(region))
      return op.emitOpError() << "region " << i
                              << " must have source, source_offset, result_offset (i64) and sizes, "
                                 "source_strides, result_strides "
                                 "(arrays of one length)";
    if (region->source < 0 || region->source >= static_cast<int64_t>(op.getSources().size()))
      return op.emitOpError() << "region " << i << " names source " << region->source << " of "
                              << op.getSources().size();
    if (llvm::any_of(region->sizes, [](int64_t size) { return size < 1; }))
      return op.emitOpError() << "region " << i << " must have sizes of at least 1";
    if (!inside(region->sourceOffset, region->sizes, region->sourceStrides,
                elements(op.getSources()[region->source])))
      return op.emitOpError() << "region " << i << " leaves its source";
    if (!inside(region->resultOffset, region->sizes, region->resultStrides,
                elements(op.getResult())))
      return op.emitOpError() << "region " << i << " leaves the result";
    int64_t count = 1, capacity = elements(op.getResult()) - covered;
    for (int64_t size : region->sizes)
      count = size > capacity / count ? capacity + 1 : count * size;
    if (count > capacity)
      return op.emitOpError() << "region " << i << " moves more elements than the result has left";
    covered += count;
  }
  if (!op.getFill() && covered != elements(op.getResult()))
    return op.emitOpError("regions do not cover the result, and there is no fill value");
  return success();
}

} // namespace tilewright::kernel
