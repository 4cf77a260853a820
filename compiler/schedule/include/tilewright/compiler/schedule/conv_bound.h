// Cycles that no program of a plan can beat: a plan whose bound loses need not be tried out.
//
// 1. The array begins a product when the one before has had its rows, and when its weights have
// come in, a row a cycle, which begins after the product before has begun. Taps in the padding make
// no products.
// 2. DRAM's bus carries what is read: weights and input as often as the loops load them (an input
// that comes by parts of the depth: once), and two instructions a product.
#pragma once

#include "tilewright/compiler/schedule/conv_plan.h"

namespace tilewright {

// Cycles that the products of a convolution keep the array busy for, whatever the plan: all its
// cells at once, without taps in the padding.
int64_t leastProducts(const ConvProblem &problem, const ConvMachine &machine);

int64_t leastCycles(const ConvProblem &problem, const ConvMachine &machine, const ConvPlan &plan);

} // namespace tilewright
