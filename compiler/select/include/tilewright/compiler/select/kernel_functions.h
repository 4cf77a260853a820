// What kernel.binary, kernel.unary and kernel.reduce compute: enumerators and what passes ask of
// them, both from the rows of kernel_functions.def.
#pragma once

#include "tilewright/isa/isa.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace tilewright::kernel {

enum class BinaryFunction {
#define KERNEL_BINARY(enumerator, row) enumerator,
#include "tilewright/compiler/select/kernel_functions.def"
};
enum class UnaryFunction {
#define KERNEL_UNARY(enumerator, row) enumerator,
#include "tilewright/compiler/select/kernel_functions.def"
};
enum class ReduceFunction {
#define KERNEL_REDUCE(enumerator, row) enumerator,
#include "tilewright/compiler/select/kernel_functions.def"
};

// A row of the table. Members of the second half set those of the first, for rows to read as text.
struct FunctionInfo {
  llvm::StringRef name;         // in the dialect's text
  llvm::StringRef tosaOperator; // "tosa.add": that it is selected for,
  llvm::StringRef flag;         // where this attribute
  bool flagValue = false;       // has this value; empty: always
  // Element-wise functions: the value in the language of the ISA's semantics, {0} and {1} being the
  // operands. `shiftedText` is the same for any shift, {2}, and `text` for a shift of 0; empty: the
  // function takes no shift.
  llvm::StringRef text, shiftedText;
  bool isWidening = false; // of TOSA operands of 8 and 16 bits too
  // The same value by other functions: calls, integers, the operands `a` and `b`, and `pow2(b)`,
  // which is 2 to the power of a constant within 0 to 31. Empty: there is none.
  llvm::StringRef equivalent;
  // Reductions: elements are combined from `neutral` on.
  isa::Combiner combiner = isa::Combiner::Add;
  int64_t neutral = 0;
  bool isNarrow = false; // of elements of 8 bits too

  bool takesShift() const { return !shiftedText.empty(); }

  FunctionInfo &named(llvm::StringRef is) { return name = is, *this; }
  FunctionInfo &from(llvm::StringRef is) { return tosaOperator = is, *this; }
  FunctionInfo &from(llvm::StringRef is, llvm::StringRef attribute, bool value) {
    return tosaOperator = is, flag = attribute, flagValue = value, *this;
  }
  FunctionInfo &computes(llvm::StringRef is) { return text = is, *this; }
  FunctionInfo &shifted(llvm::StringRef is) { return shiftedText = is, *this; }
  FunctionInfo &widening() { return isWidening = true, *this; }
  FunctionInfo &equals(llvm::StringRef is) { return equivalent = is, *this; }
  FunctionInfo &combines(isa::Combiner by, int64_t from) {
    return combiner = by, neutral = from, *this;
  }
  FunctionInfo &narrow() { return isNarrow = true, *this; }
};

// The rows of an enumeration, by enumerator.
template <typename Function> llvm::ArrayRef<FunctionInfo> functionTable();
template <> llvm::ArrayRef<FunctionInfo> functionTable<BinaryFunction>();
template <> llvm::ArrayRef<FunctionInfo> functionTable<UnaryFunction>();
template <> llvm::ArrayRef<FunctionInfo> functionTable<ReduceFunction>();

template <typename Function> const FunctionInfo &infoOf(Function function) {
  return functionTable<Function>()[static_cast<size_t>(function)];
}

// The first function whose row satisfies `holds`.
template <typename Function, typename Predicate>
std::optional<Function> findFunction(Predicate holds) {
  const llvm::ArrayRef<FunctionInfo> rows = functionTable<Function>();
  const auto *row = llvm::find_if(rows, holds);
  return row == rows.end() ? std::nullopt
                           : std::optional(static_cast<Function>(row - rows.begin()));
}

template <typename Function> std::optional<Function> functionNamed(llvm::StringRef name) {
  return findFunction<Function>([&](const FunctionInfo &row) { return row.name == name; });
}

// "add, sub, mul": names of the rows that satisfy `holds`, for messages.
template <typename Function, typename Predicate> std::string namesOf(Predicate holds) {
  std::string names;
  for (const FunctionInfo &row : functionTable<Function>())
    if (holds(row))
      names += (names.empty() ? "" : ", ") + row.name.str();
  return names;
}

} // namespace tilewright::kernel
