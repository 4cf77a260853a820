// What instructions have to do with the layers of a model, in words: which are taken where, and
// what the others lack.
#pragma once

#include "tilewright/compiler/select/selection.h"

#include <string>
#include <vector>

namespace tilewright {

class SelectionReport {
public:
  SelectionReport(const isa::Isa &isa, mlir::ModuleOp module); // of kernel.groups

  // A few lines for each instruction: by which layers it is taken, or the operators that it comes
  // nearest to and what it lacks there.
  std::string summary() const;
  // Every comparison, layer by layer, nearest first.
  std::string all() const;
  // Of an instruction that is taken nowhere: "the nearest operators are ..., because ...".
  std::string whyNot(const std::string &instruction) const;

private:
  struct Layer {
    std::string title; // "conv_1 (Conv)"
    std::vector<Comparison> comparisons;
  };
  struct Near;
  std::vector<Near> nearest(const std::string &instruction) const;
  std::vector<std::string> linesOf(const std::string &instruction) const;

  const isa::Isa &isa_;
  std::vector<Layer> layers_;
  std::map<std::string, std::string> others_; // why an instruction can never be selected
};

} // namespace tilewright
