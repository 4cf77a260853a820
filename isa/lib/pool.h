// Makes expression nodes: gives each its type, folds constants, and shares equal subtrees, so that
// an expression is a graph in which every value is computed once.
#pragma once

#include "tilewright/isa/expression.h"

#include <unordered_map>

namespace tilewright::isa {

// Why a node cannot be made; the caller knows the place.
struct TypeError {
  std::string message;
  std::string fix;
};

class ExprPool {
public:
  ExprPtr literal(__int128 value); // of the smallest type
  ExprPtr leaf(ExprKind kind, Type type, int index, std::vector<ExprPtr> args = {});
  ExprPtr node(ExprKind kind, std::vector<ExprPtr> args); // an operation other than a cast
  ExprPtr convert(ExprKind kind, Type type,
                  ExprPtr arg); // Cast or Saturate; the argument itself when a cast changes nothing
  size_t size() const { return nodes_; }
  // Nodes of the expression written out as a tree, shared subtrees counted each time; stops
  // counting at 2^40.
  int64_t treeSize(const ExprPtr &expr) const;

private:
  ExprPtr intern(Expr expr);

  std::unordered_multimap<size_t, ExprPtr> shared_;
  std::unordered_map<const Expr *, int64_t> treeSizes_;
  size_t nodes_ = 0;
};

} // namespace tilewright::isa
