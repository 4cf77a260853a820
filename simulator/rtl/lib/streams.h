// Which stream each memory read of a vector step comes from.
#pragma once

#include "tilewright/isa/isa.h"

#include <map>
#include <set>
#include <vector>

namespace tilewright::rtl {

// Accesses were numbered in this order of visits.
class Streams {
public:
  Streams(const isa::Instruction &instruction, int stepNumber);
  const std::vector<const isa::MemoryAccess *> &reads() const { return reads_; }
  const isa::MemoryAccess *write() const { return write_; } // null: the step writes an array
  // The stream of a read in every tap, or in the first one; -1: there is none.
  int of(const isa::Expr &read, bool reductions) const;

private:
  void visit(const isa::Expr &expr, bool reductions);
  std::vector<const isa::MemoryAccess *> reads_;
  const isa::MemoryAccess *write_ = nullptr;
  std::set<std::pair<const isa::Expr *, bool>> seen_;
  std::map<std::pair<const isa::Expr *, bool>, size_t> numbers_;
  size_t next_ = 0;
};

} // namespace tilewright::rtl
