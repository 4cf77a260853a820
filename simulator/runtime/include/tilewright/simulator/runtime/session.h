// Running a program on tensors: what the user gives becomes DRAM contents, and DRAM contents become
// what the user gets.
#pragma once

#include "tilewright/simulator/engine/engine.h"
#include "tilewright/support/npy.h"

#include <map>
#include <random>
#include <string>
#include <vector>

namespace tilewright {

// `real / scale + zeroPoint`, rounded half to even and clamped to the tensor's type, as ONNX
// QuantizeLinear computes it (the division in 32 bits for 32-bit data). Throws UserError for NaN.
Tensor quantizeTensor(const Tensor &real, const TensorInfo &info);
// `(integer - zeroPoint) * scale` as float32.
Tensor dequantizeTensor(const Tensor &integer, const TensorInfo &info);

// What the data of an input that nobody gave is drawn from: of the seed and the name alone.
std::mt19937_64 randomOf(const std::string &input, uint64_t seed);

class Session {
public:
  // The program must outlive the session.
  explicit Session(const Program &program);

  // Binds an input: integers of the tensor's own type as they are, floats through its scale. A
  // tensor of shape [N, shape...], or [N, rest...] for a tensor of shape [1, rest...], is a batch:
  // the program runs N times. `file` is where the tensor came from. Throws UserError for an unknown
  // name (names the nearest), a wrong type or shape, or an N that differs from another input's.
  void setInput(const std::string &name, const Tensor &tensor, const std::string &file = "");

  // Gives every input without a tensor random integers that depend on the seed and its name only:
  // any value of a type of up to 16 bits, -128 to 127 in wider ones. Returns their names.
  std::vector<std::string> fillInputs(uint64_t seed);

  int64_t batch() const { return batch_; }

  // The DRAM before run `index` of the batch: the program and the inputs. Inputs that were never
  // set are zero.
  DramImage image(int64_t index) const;

  struct Result {
    std::map<std::string, Tensor>
        outputs; // by name; of a batch, one run after the other along the first axis
    std::vector<RunRecord> records; // one a run; only the first has a trace
    int64_t cycles() const;         // of all runs, one after the other
  };
  // Runs the whole batch, or up to the first run that a limit stops: then there are no outputs
  // worth reading. Without `raw`, outputs that have a scale come as float32.
  Result run(Engine &engine, const RunOptions &options, bool raw = false) const;

  // The tensors of one run as integers.
  std::map<std::string, Tensor> readOutputs(DramImage &dram) const;

private:
  const TensorInfo &input(const std::string &name, const std::string &file) const;
  std::vector<int64_t> outputShape(const TensorInfo &info) const;

  const Program &program_;
  std::map<std::string, Tensor> bound_; // by input: batch_ times its elements, in its type
  int64_t batch_ = 1;
  bool hasBatch_ = false;                                  // an input was given
  enum class Axis { None, New, First } axis_ = Axis::None; // where the batch stands in the shapes
};

} // namespace tilewright
