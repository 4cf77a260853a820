// What one asks of the quantizer, and what it tells: without IR types.
#pragma once

#include <string>
#include <vector>

namespace tilewright {

enum class Calibration { MinMax, Percentile, Mse, Entropy };

// Standard: 8 bits between operators, but for what tables read and what leaves the network.
// Extended: 16 bits, of which convolutions take all and depthwise ones 8; weights in two parts.
enum class Precision { Standard, Extended };

struct QuantizeOptions {
  Calibration method = Calibration::MinMax;
  double percentile = 99.99; // for Calibration::Percentile
  Precision precision = Precision::Standard;
  unsigned threads = 0; // that share the work, at most 8; 0: one a processor. Results are alike.
};

// Signal-to-quantization-noise ratio of one layer's output against the float run, over the
// calibration samples.
struct LayerSqnr {
  std::string layer; // the user's operator name
  std::string op;
  double decibels = 0;
};

struct QuantizationReport {
  std::vector<LayerSqnr> layers; // in program order
};

} // namespace tilewright
