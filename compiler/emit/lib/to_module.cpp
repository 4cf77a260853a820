// Programs as modules: from the scheduler's stream and from the program file.
#include "decoded_instructions.h"
#include "tensor_type.h"
#include "tilewright/compiler/emit/npu.h"
#include "tilewright/compiler/schedule/estimate.h"
#include "tilewright/compiler/tosa/layer_location.h"
#include "tilewright/compiler/tosa/model_operators.h"
#include "tilewright/simulator/engine/attribution.h"
#include "tilewright/support/error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <fmt/format.h>
#include <future>

using namespace mlir;

namespace tilewright {

static constexpr uint64_t codeAlignment = 64;

// The bytes as a resource that owns them.
static DenseResourceElementsAttr resourceOf(std::string bytes, MLIRContext *context) {
  auto type =
      RankedTensorType::get({static_cast<int64_t>(bytes.size())}, IntegerType::get(context, 8));
  auto owned = std::make_unique<std::string>(std::move(bytes));
  ArrayRef<char> data(owned->data(), owned->size());
  auto release = [kept = std::move(owned)](void *, size_t, size_t) mutable { kept.reset(); };
  AsmResourceBlob blob(data, 1, std::move(release), false);
  return DenseResourceElementsAttr::get(type, "data", std::move(blob));
}

template <typename Op>
static void createTensors(OpBuilder &builder, Location location,
                          const std::vector<TensorInfo> &tensors) {
  for (const TensorInfo &tensor : tensors) {
    Type type =
        RankedTensorType::get(tensor.shape, npu::typeOf(tensor.dtype, builder.getContext()));
    FloatAttr scale = tensor.scale ? builder.getF64FloatAttr(*tensor.scale) : FloatAttr();
    StringAttr given = tensor.given ? builder.getStringAttr(name(*tensor.given)) : StringAttr();
    Op::create(builder, location, builder.getStringAttr(tensor.name), TypeAttr::get(type),
               builder.getI64IntegerAttr(static_cast<int64_t>(tensor.address)), scale,
               builder.getI64IntegerAttr(tensor.zeroPoint), given);
  }
}

// Everything of a program but its instructions. The builder then stands where those go.
static npu::ProgramOp createProgram(OpBuilder &builder, Location location, Program program) {
  auto number = [](uint64_t value) { return static_cast<int64_t>(value); };
  SmallVector<StringRef> overlays(program.overlays.begin(), program.overlays.end());
  auto op = npu::ProgramOp::create(
      builder, location, program.target, builder.getStrArrayAttr(overlays), program.isaHash,
      program.timingHash, number(program.entry), number(program.codeAddress),
      number(program.dramBytes), program.scratchpadPeakBytes, program.accumulatorPeakBytes);
  builder.createBlock(&op.getBody());
  createTensors<npu::InputOp>(builder, location, program.inputs);
  createTensors<npu::OutputOp>(builder, location, program.outputs);
  for (Segment &segment : program.data)
    npu::DataOp::create(builder, location,
                        resourceOf(std::move(segment.bytes), builder.getContext()),
                        number(segment.address));
  auto count = [&](int64_t value) { return builder.getI64IntegerAttr(value); };
  for (auto [i, layer] : llvm::enumerate(program.layers)) {
    auto op = npu::LayerOp::create(
        builder, layerLocation(*builder.getContext(), layer.name, layer.op), number(i), layer.name,
        layer.op, layer.macs, layer.estimateCycles, layer.inputBytes, layer.weightBytes,
        layer.outputBytes, layer.plan, StringAttr(), IntegerAttr(), IntegerAttr(),
        layer.depthwiseMacs > 0 ? count(layer.depthwiseMacs) : IntegerAttr());
    if (layer.runnerUp) {
      op.setRunnerUp(layer.runnerUp->plan);
      op.setRunnerUpCyclesAttr(count(layer.runnerUp->cycles));
      op.setChosenCyclesAttr(count(layer.runnerUp->chosenCycles));
    }
  }
  return op;
}

// Of a program without instructions: later one would have to look through all of these.
static SmallVector<npu::LayerOp> layersOf(npu::ProgramOp op) {
  auto layers = op.getBody().getOps<npu::LayerOp>();
  return SmallVector<npu::LayerOp>(layers.begin(), layers.end());
}

// Where the instructions of a layer stand: at its npu.layer; those of none, at the program.
static Location locationOf(ArrayRef<npu::LayerOp> layers, int layer, Location program) {
  if (layer < 0)
    return program;
  npu::LayerOp op = layers[static_cast<size_t>(layer)];
  return op.getLoc();
}

// Cycles belong to layers by the same rule as in the report of a simulation.
static void estimateLayers(ArrayRef<npu::LayerOp> layers, Program &program,
                           const ExecutedSpans &estimated, const isa::Isa &isa) {
  std::vector<int64_t> cycles = cyclesOfLayers(program, estimated, isa);
  for (auto [i, each] : llvm::enumerate(layers)) {
    npu::LayerOp layer = each;
    program.layers[i].estimateCycles = cycles[i];
    layer.setEstimateCycles(cycles[i]);
  }
}

// Templates know what instructions compute, not how wide an overlay made their immediates, nor what
// it requires of them. Throws UserError that names the layer.
static void requireEncodable(const StreamInstruction &each, ArrayRef<npu::LayerOp> layers,
                             const isa::Isa &isa) {
  const isa::Instruction &instruction =
      isa.instructions()[static_cast<size_t>(each.decoded.instruction)];
  const bool isWithin = llvm::all_of(instruction.operands, [&](const isa::Operand &operand) {
    const int64_t value = each.decoded.values[static_cast<size_t>(operand.index)];
    return operand.least <= value && value <= operand.greatest;
  });
  if (isWithin && instruction.requires_.empty())
    return;
  try {
    isa.encode(each.decoded);
  } catch (const UserError &error) {
    std::string layer = "the program";
    if (each.layer >= 0) {
      npu::LayerOp op = layers[static_cast<size_t>(each.layer)];
      layer = fmt::format("layer '{}'", escape(op.getName().str()));
    }
    throw UserError(
        {"", 0, 0, layer},
        fmt::format("'{}' cannot do what its plan needs: {}", instruction.name, error.message()),
        "widen the operand in the description, or require less of it");
  }
}

NpuProgram kernelToNpu(ModuleOp module, const isa::Isa &isa, const isa::LoadOptions &target,
                       const ScheduleOptions &options, PhaseTimes *times) {
  Schedule plan = schedule(module, isa, options);
  if (times)
    times->ended("schedule");
  Program header;
  header.target = target.target;
  header.overlays = target.overlays;
  header.isaHash = isa.hash();
  header.timingHash = isa.timingHash();
  header.codeAddress = (plan.dramBytes + codeAlignment - 1) / codeAlignment * codeAlignment;
  header.dramBytes =
      header.codeAddress + plan.stream.size() * static_cast<uint64_t>(isa.instructionBytes());
  header.data = std::move(plan.data);
  header.inputs = std::move(plan.inputs);
  header.outputs = std::move(plan.outputs);
  header.layers = std::move(plan.layers);
  header.scratchpadPeakBytes = plan.scratchpad.peakBytes;
  header.accumulatorPeakBytes = plan.accumulators.peakBytes;

  // Beside the checks of the module.
  std::future<ExecutedSpans> estimated = std::async(
      [&, address = header.codeAddress] { return estimateSpans(plan.stream, isa, address); });
  Location location = module.getLoc();
  module.getBody()->clear();
  dropModelOperators(module);
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  npu::ProgramOp op = createProgram(builder, location, std::move(header));
  const SmallVector<npu::LayerOp> layers = layersOf(op);
  npu::InstructionNames names(isa, module.getContext());
  for (const StreamInstruction &each : plan.stream) {
    requireEncodable(each, layers, isa);
    npu::appendInst(op.getBody().front(), locationOf(layers, each.layer, location), names,
                    each.decoded, each.layer);
  }
  FailureOr<Program> program = toProgram(op, isa);
  if (failed(program))
    throw std::logic_error("the schedule is not sound");
  estimateLayers(layers, *program, estimated.get(), isa);
  return {op,           std::move(*program),    plan.scratchpad, plan.accumulators,
          plan.tensors, std::move(plan.traffic)};
}

OwningOpRef<ModuleOp> toModule(const Program &program, const isa::Isa &isa, MLIRContext &context) {
  Location location = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  npu::ProgramOp op = createProgram(builder, location, program);
  const SmallVector<npu::LayerOp> layers = layersOf(op);
  npu::InstructionNames names(isa, &context);
  auto size = static_cast<size_t>(isa.instructionBytes());
  size_t run = 0;
  int layer = -1;
  for (size_t i = 0; i < program.code.size() / size; ++i) {
    if (run < program.runs.size() && program.runs[run].firstInstruction == i)
      layer = program.runs[run++].layer;
    isa::DecodedInstruction decoded;
    std::string reason;
    if (!isa.decode(reinterpret_cast<const uint8_t *>(program.code.data()) + i * size, decoded,
                    reason))
      throw UserError({program.file, 0, 0, fmt::format("instruction {}", i)}, reason);
    npu::appendInst(op.getBody().front(), locationOf(layers, layer, location), names, decoded,
                    layer);
  }
  return module;
}

} // namespace tilewright
