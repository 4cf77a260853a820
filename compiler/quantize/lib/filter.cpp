#include "filter.h"

namespace tilewright::quantization {

void Filter::scaledWeights(size_t output, std::vector<double> &row) const {
  row.resize(perOutput());
  llvm::ArrayRef<float> elements = weights.elements();
  for (size_t k = 0; k < row.size(); ++k)
    row[k] = double(elements[place(output, k)]);
  if (!inputFactors.empty())
    for (size_t k = 0; k < row.size(); ++k)
      row[k] /= inputFactors[inputOf(output, k)];
  if (!outputFactors.empty())
    for (double &weight : row)
      weight *= outputFactors[output];
}

void Filter::scaledMeans(size_t output, std::vector<double> &row) const {
  row.assign(perOutput(), 0);
  if (inputMeans.empty())
    return;
  for (size_t k = 0; k < row.size(); ++k) {
    size_t input = inputOf(output, k);
    row[k] = inputMeans[input] * covered[tapOf(k) % covered.size()];
    if (!inputFactors.empty())
      row[k] *= inputFactors[input];
  }
}

} // namespace tilewright::quantization
