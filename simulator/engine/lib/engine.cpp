#include "tilewright/simulator/engine/engine.h"

#include "tilewright/support/error.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

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

DramImage::DramImage(const Program &program) : size_(program.dramBytes) {
  bytes_.reset(static_cast<uint8_t *>(std::calloc(std::max<uint64_t>(size_, 1), 1)));
  if (!bytes_)
    throw UserError(
        {program.file, 0, 0, ""},
        fmt::format("not enough memory for the program's {} bytes of DRAM", program.dramBytes));
  auto put = [&](uint64_t address, const std::string &content) {
    if (address > size_ || content.size() > size_ - address)
      throw std::logic_error("a part of the program lies outside its DRAM"); // readProgram checks
    if (!content.empty())
      std::memcpy(bytes_.get() + address, content.data(), content.size());
  };
  for (const auto &segment : program.data)
    put(segment.address, segment.bytes);
  put(program.codeAddress, program.code);
}

} // namespace tilewright
