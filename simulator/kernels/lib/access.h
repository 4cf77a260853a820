// Where an expression reads or a step writes, as a linear function of the iterators.
#pragma once

#include "tilewright/isa/isa.h"

#include <optional>

namespace tilewright::kernels {

struct Access {
  bool isMemory = true;
  int index = 0; // operand or array
  isa::Type type;
  int storageBits() const;         // that an element takes
  bool affine = true;              // false only for arrays: the loader refuses other memory indices
  isa::AffineForm form;            // in elements; of an array: of its row-major elements
  std::vector<isa::ExprPtr> where; // as written
};

Access accessOf(const isa::Expr &read, const isa::Instruction &instruction, const isa::Isa &isa);
Access accessOf(const isa::Target &target, const isa::Instruction &instruction,
                const isa::Isa &isa);

// How an access moves with one step of an iterator.
enum class Stride {
  None,    // not at all: one element for all lanes
  One,     // to the next element
  Bit,     // either, as a 1-bit register says
  Runtime, // by a stride known at run time only
};
Stride strideOf(const Access &access, int iterator);
isa::ExprPtr coefficientOf(const Access &access, int iterator); // null when there is none

// Calls `visit` for every MemoryRead and ArrayRead in `expr`, also those inside of indices.
template <typename Visit> void forEachRead(const isa::Expr &expr, const Visit &visit) {
  if (expr.kind == isa::ExprKind::MemoryRead || expr.kind == isa::ExprKind::ArrayRead)
    visit(expr);
  for (const auto &arg : expr.args)
    forEachRead(*arg, visit);
}

// True when the value of `expr` may differ between values of the iterator.
bool dependsOn(const isa::Expr &expr, int iterator);
// True when `expr` has no iterators, no memory or array reads and no result: one value for the
// whole instruction.
bool isUniform(const isa::Expr &expr);

} // namespace tilewright::kernels
