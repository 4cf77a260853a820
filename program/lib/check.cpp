#include "check.h"

#include "tilewright/support/error.h"

#include <cstdlib>
#include <fmt/format.h>
#include <set>

namespace tilewright {

static constexpr uint64_t defaultDramLimit = uint64_t(4) << 30;

static uint64_t dramLimit() {
  const char *text = std::getenv("TILEWRIGHT_DRAM_LIMIT");
  if (!text)
    return defaultDramLimit;
  char *end = nullptr;
  unsigned long long limit = std::strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0')
    throw UserError({"TILEWRIGHT_DRAM_LIMIT", 0, 0, ""},
                    fmt::format("is not a number of bytes: '{}'", escape(text)));
  return limit;
}

void checkDram(const std::string &path, const Program &program, const isa::Isa &isa) {
  uint64_t most = isa.memory(isa::Space::Dram).bytes;
  if (program.dramBytes > most)
    throw UserError({path, 0, 0, ""}, fmt::format("needs {} bytes of DRAM, but the target has {}",
                                                  program.dramBytes, most));
  if (uint64_t limit = dramLimit(); program.dramBytes > limit)
    throw UserError(
        {path, 0, 0, ""},
        fmt::format("needs {} bytes of DRAM, more than the limit of {}", program.dramBytes, limit),
        fmt::format("set TILEWRIGHT_DRAM_LIMIT={} to allow it", program.dramBytes));
}

namespace {
class Checker {
public:
  Checker(const std::string &path, const Program &program, const isa::Isa &isa)
      : path_(path), program_(program), isa_(isa) {}

  void check() const {
    checkHash();
    checkCode();
    for (const Segment &segment : program_.data)
      checkInside("a data segment", segment.address, segment.bytes.size());
    checkTensors("input", program_.inputs);
    checkTensors("output", program_.outputs);
    checkRuns();
  }

private:
  [[noreturn]] void fail(std::string message, std::string fix = "") const {
    throw UserError({path_, 0, 0, ""}, std::move(message), std::move(fix));
  }

  void checkHash() const {
    if (program_.isaHash != isa_.hash())
      fail(fmt::format("was made for another ISA: hash {}, but target '{}' has {}",
                       escape(program_.isaHash), escape(isa_.target()), isa_.hash()),
           "compile the model again, or run it with the description that it was made for");
  }

  void checkCode() const {
    auto size = static_cast<uint64_t>(isa_.instructionBytes());
    if (program_.code.empty())
      fail("has no instructions");
    if (program_.code.size() % size != 0)
      fail(fmt::format("has {} bytes of code, no whole number of {}-byte instructions",
                       program_.code.size(), size));
    if (program_.codeAddress % size != 0)
      fail(fmt::format("has its code at {:#x}, no multiple of the {} bytes of an instruction",
                       program_.codeAddress, size));
    checkInside("the code", program_.codeAddress, program_.code.size());
    if (program_.entry >= program_.code.size() / size)
      fail(fmt::format("has its entry outside the code: instruction {} of {}", program_.entry,
                       program_.code.size() / size));
  }

  void checkInside(const std::string &what, uint64_t address, uint64_t size) const {
    if (address > program_.dramBytes || size > program_.dramBytes - address)
      fail(fmt::format("has {} outside its DRAM: {} bytes at {:#x}, of {}", what, size, address,
                       program_.dramBytes));
  }

  void checkTensors(const char *kind, const std::vector<TensorInfo> &tensors) const {
    std::set<std::string> names;
    for (const TensorInfo &tensor : tensors) {
      std::string what = fmt::format("{} tensor '{}'", kind, escape(tensor.name));
      if (tensor.name.empty())
        fail(fmt::format("has an {} tensor without a name", kind));
      if (!names.insert(tensor.name).second)
        fail(fmt::format("has {} twice", what));
      auto size = static_cast<uint64_t>(byteSize(tensor.dtype));
      for (int64_t dimension : tensor.shape)
        if (__builtin_mul_overflow(size, static_cast<uint64_t>(dimension), &size))
          fail(fmt::format("has {} of more than 2^64 bytes", what));
      checkInside(what, tensor.address, size);
    }
  }

  void checkRuns() const {
    uint64_t count = program_.code.size() / static_cast<uint64_t>(isa_.instructionBytes());
    uint64_t least = 0;
    for (const LayerRun &run : program_.runs) {
      if (run.firstInstruction < least || run.firstInstruction >= count)
        fail(fmt::format("has a layer that starts at instruction {}, outside [{}, {})",
                         run.firstInstruction, least, count));
      least = run.firstInstruction + 1;
    }
  }

  const std::string &path_;
  const Program &program_;
  const isa::Isa &isa_;
};
} // namespace

void checkProgram(const std::string &path, const Program &program, const isa::Isa &isa) {
  Checker(path, program, isa).check();
}

} // namespace tilewright
