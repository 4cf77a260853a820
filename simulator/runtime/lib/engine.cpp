#include "tilewright/simulator/engine.h"

#include "tilewright/support/error.h"

#include <cstring>
#include <fmt/format.h>
#include <new>

namespace tilewright {

const char *name(Stall cause) {
  switch (cause) {
  case Stall::None:
    return "none";
  case Stall::Fetch:
    return "fetch";
  case Stall::QueueFull:
    return "queue_full";
  case Stall::Semaphore:
    return "semaphore";
  case Stall::SpadPort:
    return "spad_port";
  case Stall::AccPort:
    return "acc_port";
  case Stall::Dram:
    return "dram";
  case Stall::Dependence:
    return "dependence";
  case Stall::Count:
    break;
  }
  return "";
}

DramImage::DramImage(const Program &program) {
  try {
    bytes_.resize(program.dramBytes);
  } catch (const std::exception &) { // bad_alloc or length_error
    throw UserError({program.file, 0, 0, ""},
                    fmt::format("not enough memory for the program's {} bytes of DRAM",
                                program.dramBytes));
  }
  auto put = [&](uint64_t address, const std::string &content) {
    if (address > bytes_.size() || content.size() > bytes_.size() - address)
      throw UserError({program.file, 0, 0, ""},
                      fmt::format("{} bytes at 0x{:x} lie outside the program's {} bytes of DRAM",
                                  content.size(), address, bytes_.size()));
    if (!content.empty())
      std::memcpy(bytes_.data() + address, content.data(), content.size());
  };
  for (const auto &segment : program.data)
    put(segment.address, segment.bytes);
  put(program.codeAddress, program.code);
}

} // namespace tilewright
