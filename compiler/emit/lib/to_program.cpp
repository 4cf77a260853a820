// From the module to the program, with every check on the way.
#include "decoded_instructions.h"
#include "layer_runs.h"
#include "tensor_type.h"
#include "tilewright/compiler/emit/npu.h"
#include "tilewright/compiler/schedule/stream_check.h"
#include "tilewright/isa/assembler.h"
#include "tilewright/support/error.h"

#include <fmt/format.h>

using namespace mlir;

namespace tilewright {

namespace {

template <typename Op> TensorInfo readTensor(Op op) {
  auto type = cast<RankedTensorType>(op.getType());
  TensorInfo tensor;
  tensor.name = op.getName().str();
  tensor.dtype = *npu::dtypeOf(type.getElementType());
  tensor.shape = type.getShape().vec();
  tensor.address = static_cast<uint64_t>(op.getAddress());
  if (std::optional<APFloat> scale = op.getScale())
    tensor.scale = scale->convertToDouble();
  tensor.zeroPoint = op.getZeroPoint();
  if (op.getGiven())
    tensor.given = dtypeNamed(*op.getGiven());
  return tensor;
}

Segment readData(npu::DataOp op) {
  ArrayRef<char> bytes = op.getBytes().getRawHandle().getBlob()->getData();
  return {static_cast<uint64_t>(op.getAddress()), std::string(bytes.data(), bytes.size())};
}

LayerInfo readLayer(npu::LayerOp op) {
  LayerInfo layer{op.getName().str(),     op.getOp().str(),   op.getMacs(),
                  op.getEstimateCycles(), op.getInputBytes(), op.getWeightBytes(),
                  op.getOutputBytes(),    op.getPlan().str(), {}};
  if (op.getRunnerUp())
    layer.runnerUp =
        RunnerUp{op.getRunnerUp()->str(), static_cast<int64_t>(*op.getRunnerUpCycles()),
                 static_cast<int64_t>(*op.getChosenCycles())};
  layer.depthwiseMacs = static_cast<int64_t>(op.getDepthwiseMacs().value_or(0));
  return layer;
}

class Reader {
public:
  Reader(npu::ProgramOp op, const isa::Isa &isa)
      : op_(op), isa_(isa), names_(isa, op.getContext()), stream_(isa) {}

  FailureOr<Program> read(NpuCheck check) {
    check_ = check;
    readHeader();
    if (program_.isaHash != isa_.hash())
      return wrongHash();
    for (Operation &each : op_.getBody().front())
      if (failed(readOperation(each)))
        return failure();
    try {
      checkProgram("", program_, isa_);
    } catch (const UserError &error) {
      return op_.emitOpError() << error.message();
    }
    if (check == NpuCheck::All)
      if (const std::optional<StreamFault> fault = findFault(stream_, isa_))
        return report(*fault);
    return std::move(program_);
  }

private:
  void readHeader() {
    auto number = [](int64_t value) { return static_cast<uint64_t>(value); };
    program_.target = op_.getTarget().str();
    for (StringRef overlay : op_.getOverlays().getAsValueRange<StringAttr>())
      program_.overlays.push_back(overlay.str());
    program_.isaHash = op_.getIsaHash().str();
    program_.timingHash = op_.getTimingHash().str();
    program_.entry = number(op_.getEntry());
    program_.codeAddress = number(op_.getCodeAddress());
    program_.dramBytes = number(op_.getDramBytes());
    program_.scratchpadPeakBytes = op_.getScratchpadPeakBytes();
    program_.accumulatorPeakBytes = op_.getAccumulatorPeakBytes();
  }

  LogicalResult wrongHash() {
    return op_.emitOpError() << fmt::format(
               "was made for another ISA: hash {}, but target '{}' has {}",
               escape(program_.isaHash), escape(isa_.target()), isa_.hash());
  }

  LogicalResult readOperation(Operation &each) {
    if (auto inst = dyn_cast<npu::InstOp>(each))
      return readInstruction(inst);
    if (auto input = dyn_cast<npu::InputOp>(each))
      program_.inputs.push_back(readTensor(input));
    else if (auto output = dyn_cast<npu::OutputOp>(each))
      program_.outputs.push_back(readTensor(output));
    else if (auto data = dyn_cast<npu::DataOp>(each))
      program_.data.push_back(readData(data));
    else
      program_.layers.push_back(readLayer(cast<npu::LayerOp>(each)));
    return success();
  }

  LogicalResult readInstruction(npu::InstOp inst) {
    if (failed(npu::readInst(inst, names_, decoded_)))
      return failure();
    try {
      isa::Bits bits = isa_.encode(decoded_);
      npu::addRun(program_.runs, count_, static_cast<int>(inst.getLayer()));
      program_.code.append(bits.begin(), bits.end());
    } catch (const UserError &error) {
      return inst.emitOpError() << "'" << inst.getMnemonic() << "': " << error.message();
    }
    if (check_ == NpuCheck::All)
      stream_.push_back({decoded_, static_cast<int>(inst.getLayer())});
    ++count_;
    return success();
  }

  LogicalResult report(const StreamFault &fault) {
    if (!fault.instruction)
      return op_.emitOpError() << "is not synchronized: " << fault.text;
    auto instructions = op_.getBody().getOps<npu::InstOp>();
    npu::InstOp inst =
        *std::next(instructions.begin(), static_cast<std::ptrdiff_t>(*fault.instruction));
    return inst.emitOpError() << fault.text;
  }

  npu::ProgramOp op_;
  const isa::Isa &isa_;
  npu::InstructionNames names_;
  Stream stream_; // to be checked
  NpuCheck check_ = NpuCheck::All;
  Program program_;
  uint64_t count_ = 0;              // instructions read
  isa::DecodedInstruction decoded_; // of the last of them
};

} // namespace

npu::ProgramOp programOf(ModuleOp module) {
  npu::ProgramOp program;
  for (Operation &op : *module.getBody()) {
    auto each = dyn_cast<npu::ProgramOp>(op);
    if (!each || program) {
      op.emitOpError(each ? "is the module's second program" : "has no place beside npu.program");
      return nullptr;
    }
    program = each;
  }
  if (!program)
    module.emitError("the module has no npu.program");
  return program;
}

std::optional<isa::Isa> isaOf(npu::ProgramOp op) {
  isa::LoadOptions load;
  load.target = op.getTarget().str();
  for (StringRef overlay : op.getOverlays().getAsValueRange<StringAttr>())
    load.overlays.push_back(overlay.str());
  try {
    return isa::load(load);
  } catch (const UserError &error) {
    std::string place = error.location().str();
    op.emitOpError() << "is for a target that cannot be loaded: " << place
                     << (place.empty() ? "" : ": ") << error.message();
    return std::nullopt;
  }
}

FailureOr<Program> toProgram(npu::ProgramOp op, const isa::Isa &isa, NpuCheck check) {
  return Reader(op, isa).read(check);
}

std::string assemblyText(npu::ProgramOp op, const isa::Isa &isa) {
  std::string text;
  int64_t layer = -1;
  std::vector<npu::LayerOp> layers(op.getBody().op_begin<npu::LayerOp>(),
                                   op.getBody().op_end<npu::LayerOp>());
  npu::InstructionNames names(isa, op.getContext());
  for (npu::InstOp inst : op.getBody().getOps<npu::InstOp>()) {
    if (inst.getLayer() != layer) {
      layer = inst.getLayer();
      if (layer >= 0)
        text += fmt::format("; {}\n",
                            escape(std::string_view(layers[static_cast<size_t>(layer)].getName())));
    }
    isa::DecodedInstruction decoded;
    if (failed(npu::readInst(inst, names, decoded)))
      throw std::logic_error("an instruction is not the ISA's");
    text += isa::disassemble(isa, decoded) + "\n";
  }
  return text;
}

} // namespace tilewright
