// What one asks of the quantizer, and what it tells: without IR types.
#pragma once

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

struct QuantizationReport {
  std::optional<PrecisionChoice> choice; // of Precision::Automatic, if there was something to go by
  std::vector<LayerSqnr> layers;         // in program order; empty unless asked for
  bool isGiven = false;                  // the model says how tensors of it are stored
  std::string open; // the first operator whose range samples tell; empty: the model tells them all
};

} // namespace tilewright
