#include "tilewright/simulator/kernels/kernels.h"
#include "tilewright/simulator/kernels/object_cache.h"
#include "tilewright/support/digest.h"
#include "tilewright/support/parallel.h"

#include "compile.h"
#include "generator_version.h"
#include "structure.h"

#include "tilewright/isa/extent.h"

#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace tilewright {

namespace {

using RunFunction = void (*)(uint8_t **, const int64_t *, const int64_t *, const int64_t *,
                             uint8_t **);
using CheckFunction = int64_t (*)(const int64_t *, const int64_t *, const int64_t *,
                                  const int64_t *, uint8_t **);

struct Kernel {
  RunFunction run = nullptr;
  CheckFunction check = nullptr;
};

void require(llvm::Error error) {
  if (error)
    throw std::runtime_error("kernel JIT: " + llvm::toString(std::move(error)));
}

int64_t wrapTo(const isa::Type &type, int64_t value) {
  if (type.bits >= 64)
    return value;
  auto shifted = static_cast<uint64_t>(value) << (64 - type.bits);
  return type.isSigned ? static_cast<int64_t>(shifted) >> (64 - type.bits)
                       : static_cast<int64_t>(shifted >> (64 - type.bits));
}

} // namespace

struct Kernels::Impl {
  explicit Impl(const isa::Isa &isa)
      : isa(isa), machine(kernels::kernelMachine()), kernels(isa.instructions().size()) {
    // Whatever the code depends on besides the semantics.
    environment = fmt::format("{};{};{};{};{}", generatorVersion, LLVM_VERSION_STRING,
                              machine.getTargetTriple().str(), machine.getCPU(),
                              machine.getFeatures().getString());
    auto created = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(machine).create();
    require(created.takeError());
    jit = std::move(*created);
  }

  std::string keyOf(const isa::Instruction &instruction) const {
    return sha256(environment + kernels::structure(instruction, isa));
  }

  const Kernel &kernel(int index) {
    auto &known = kernels[static_cast<size_t>(index)];
    if (!known.run)
      known = load(isa.instructions()[static_cast<size_t>(index)]);
    return known;
  }

  Kernel load(const isa::Instruction &instruction) {
    std::string key = keyOf(instruction);
    // Two instructions that differ in encoding alone share their code.
    if (auto found = loaded.find(key); found != loaded.end())
      return found->second;
    auto object = cache.load(key);
    return add(key, object ? *object : compile(instruction, key));
  }

  // Runs in any thread.
  std::string compile(const isa::Instruction &instruction, const std::string &key) const {
    std::string object = kernels::Compiler(machine).compile(isa, instruction, key);
    cache.store(key, object);
    return object;
  }

  Kernel add(const std::string &key, const std::string &object) {
    require(jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, key)));
    Kernel kernel;
    kernel.run = lookUp<RunFunction>(kernels::runSymbol(key));
    kernel.check = lookUp<CheckFunction>(kernels::checkSymbol(key));
    return loaded[key] = kernel;
  }

  void prepare(const std::vector<int> &instructions);

  template <typename Function> Function lookUp(const std::string &symbol) {
    auto address = jit->lookup(symbol);
    require(address.takeError());
    return address->toPtr<Function>();
  }

  const isa::Isa &isa;
  llvm::orc::JITTargetMachineBuilder machine;
  std::string environment;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  kernels::ObjectCache cache = kernels::ObjectCache::inCacheHome("kernels");
  std::vector<Kernel> kernels;
  std::map<std::string, Kernel> loaded;
};

Kernels::Kernels(const isa::Isa &isa) : impl_(std::make_unique<Impl>(isa)) {}
Kernels::~Kernels() = default;

void Kernels::prepare(const std::vector<int> &instructions) { impl_->prepare(instructions); }

// What is on disk is loaded; what is not is compiled by as many threads as there are processors,
// each kernel once.
void Kernels::Impl::prepare(const std::vector<int> &instructions) {
  struct Missing {
    std::string key;
    const isa::Instruction *instruction;
    std::string object;
  };
  std::vector<Missing> missing;
  for (int index : instructions) {
    const auto &instruction = isa.instructions()[static_cast<size_t>(index)];
    if (instruction.steps.empty() || kernels[static_cast<size_t>(index)].run)
      continue;
    std::string key = keyOf(instruction);
    if (loaded.count(key) ||
        std::any_of(missing.begin(), missing.end(), [&](auto &m) { return m.key == key; }))
      continue;
    if (auto object = cache.load(key))
      add(key, *object);
    else
      missing.push_back({key, &instruction, ""});
  }
  parallelFor(processorCount(), missing.size(), [&](unsigned, size_t i) {
    missing[i].object = compile(*missing[i].instruction, missing[i].key);
  });
  for (const auto &kernel : missing)
    add(kernel.key, kernel.object);
}

std::string Kernels::trapReason(const isa::DecodedInstruction &decoded, const int64_t *addresses,
                                const MachineState &state) {
  const auto &instruction = impl_->isa.instructions()[static_cast<size_t>(decoded.instruction)];
  if (instruction.steps.empty())
    return "";
  const auto unit = static_cast<size_t>(instruction.unit);
  const int64_t bytes[] = {static_cast<int64_t>(state.dramBytes),
                           static_cast<int64_t>(state.spad.size()),
                           static_cast<int64_t>(state.acc.size() * sizeof(int32_t))};
  const int64_t *registers = state.registers[unit].data();
  const auto &kernel = impl_->kernel(decoded.instruction);
  if (kernel.check(bytes, decoded.values.data(), addresses, registers, nullptr) == 0)
    return "";
  std::string reason = isa::trapReason(instruction, impl_->isa, decoded, registers, addresses);
  if (!reason.empty())
    return reason;
  // The DRAM of a run ends where its program says, before the address space does.
  auto ranges = isa::operandRanges(instruction, impl_->isa, decoded, registers, addresses);
  for (const auto &operand : instruction.operands) {
    const auto &range = ranges[static_cast<size_t>(operand.index)];
    if (operand.kind == isa::Operand::Kind::Memory && operand.space == isa::Space::Dram &&
        !range.empty() && range.end > bytes[0])
      return fmt::format("operand '{}' reaches byte 0x{:x} of DRAM, of which the program uses "
                         "0x{:x} bytes",
                         operand.name, range.end - 1, bytes[0]);
  }
  return "";
}

void Kernels::execute(const isa::DecodedInstruction &decoded, const int64_t *addresses,
                      MachineState &state) {
  const auto &instruction = impl_->isa.instructions()[static_cast<size_t>(decoded.instruction)];
  const auto unit = static_cast<size_t>(instruction.unit);
  auto &registers = state.registers[unit];
  for (const auto &[number, value] : instruction.sets) {
    auto index =
        static_cast<size_t>(decoded.values[static_cast<size_t>(number)]); // decode checked it
    registers[index] = wrapTo(impl_->isa.units()[unit].registers[index].type,
                              decoded.values[static_cast<size_t>(value)]);
  }
  if (instruction.steps.empty())
    return;
  uint8_t *memories[] = {state.dram, state.spad.data(),
                         reinterpret_cast<uint8_t *>(state.acc.data())};
  uint8_t *arrays[isa::limits::arrays.count()];
  auto &stored = state.arrays[unit];
  for (size_t i = 0; i < stored.size(); ++i)
    arrays[i] = stored[i].data();
  impl_->kernel(decoded.instruction)
      .run(memories, decoded.values.data(), addresses, registers.data(), arrays);
}

} // namespace tilewright
