// What one asks of the quantizer, and what it tells: without IR types.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

enum class Calibration { MinMax, Percentile, Mse, Entropy };

// Standard: 8 bits between operators, but for what tables read and what leaves the network.
// Mixed: 16 bits, of which products take 8.
// Extended: 16 bits, of which convolutions take all and depthwise ones 8; weights in two parts.
// Automatic: what makes much more exact what 8 bits leave inexact (fake_quantization.h).
enum class Precision { Automatic, Standard, Mixed, Extended };

struct QuantizeOptions {
  Calibration method = Calibration::MinMax;
  double percentile = 99.99; // for Calibration::Percentile
  Precision precision = Precision::Automatic;
  // Of Precision::Automatic: the fewest cycles that lose at most so many dB of what the best
  // precision reaches, and the most exact within so many cycles. Measured on samples held back.
  std::optional<double> maxLoss;
  std::optional<int64_t> maxCycles;
  bool equalizes = true;      // channels of what convolutions read
  bool correctsBiases = true; // for the errors of rounded weights
  bool roundsTogether = true; // weights of an output; else each to the nearest integer
  std::function<void(const std::string &)> progress; // of a budget; may be empty
  bool layerReport = false; // compare all layers, which costs as much again as quantization does
  unsigned threads = 0; // that share the work, at most 8; 0: one a processor. Results are alike.
};

// Signal-to-quantization-noise ratio of one layer's output against the float run, over the
// calibration samples.
struct LayerSqnr {
  std::string layer; // the user's operator name
  std::string op;
  double decibels = 0;
};

// What Precision::Automatic went by: signal-to-quantization-noise ratios of the outputs, or of what
// softmax reads where it makes them.
struct PrecisionChoice {
  Precision precision = Precision::Standard;
  double standard = 0; // dB
  // dB; of standard precision with 16 bits for the operands of some products, and of how many.
  std::optional<double> withExactOperands;
  size_t exactOperands = 0;
  std::optional<double> mixed;    // dB; of none where standard precision suffices
  std::optional<double> extended; // dB; of none where one of the others does
};

// What 16 bits for a tensor, and for the products that read it, are worth.
struct Sensitivity {
  std::string layer; // the user's operator that yields it
  std::string op;
  double gain = 0;      // dB of the outputs', if it alone has them
  int64_t cycles = 0;   // more, by the compiler's estimates
  bool isExact = false; // has them
};

// A network that was tried for a budget.
struct TriedPrecision {
  Precision precision = Precision::Standard;
  size_t exactTensors = 0; // of standard precision: those with 16 bits, the first ones by worth
  double decibels = 0;     // of the outputs, on the samples held back
  int64_t cycles = 0;      // on the cycle engine
};

// What a budget was spent on.
struct BudgetReport {
  size_t samples = 0, heldBack = 0; // that ranges come from, and that decibels are of
  std::vector<TriedPrecision> tried;
  size_t chosen = 0;                // of those
  std::vector<Sensitivity> tensors; // those worth the most for a cycle first
};

// What a network takes on the target.
struct NetworkCycles {
  int64_t total = 0;                     // on the cycle engine
  std::map<std::string, int64_t> layers; // estimates, by the user's operator
};

struct QuantizationReport {
  std::optional<BudgetReport> budget;
  std::optional<PrecisionChoice> choice; // of Precision::Automatic, if there was something to go by
  std::vector<LayerSqnr> layers;         // in program order; empty unless asked for
  bool isGiven = false;                  // the model says how tensors of it are stored
  std::string open; // the first operator whose range samples tell; empty: the model tells them all
};

} // namespace tilewright
