#include "tilewright/program/program.h"

#include "check.h"
#include "elf_reader.h"
#include "elf_writer.h"
#include "info.h"
#include "tilewright/support/error.h"

#include <fmt/format.h>
#include <stdexcept>

namespace tilewright {

std::string writeProgram(const Program &program, const isa::Isa &isa) {
  checkDram("program", program, isa);
  try {
    checkProgram("program", program, isa);
  } catch (const UserError &error) {
    // The compiler's mistake, not the user's.
    throw std::logic_error(
        fmt::format("an invalid program was to be written: {}", error.message()));
  }
  std::string info = writeInfo(program);
  std::string debug = writeDebug(program);
  elf::Contents contents;
  contents.code = program.code;
  contents.codeAddress = program.codeAddress;
  contents.entryAddress =
      program.codeAddress + program.entry * static_cast<uint64_t>(isa.instructionBytes());
  contents.segments = &program.data;
  contents.info = info;
  contents.debug = debug;
  return elf::write(contents);
}

ProgramTarget readProgramTarget(const std::string &path, const std::string &bytes) {
  Program program;
  program.file = path;
  readInfo(path, elf::read(path, bytes).info, program);
  return {program.target, program.overlays, program.isaHash};
}

Program readProgram(const std::string &path, const std::string &bytes, const isa::Isa &isa) {
  elf::Parts parts = elf::read(path, bytes);
  Program program;
  program.file = path;
  readInfo(path, parts.info, program);
  readDebug(path, parts.debug, program);
  program.codeAddress = parts.code.address;
  auto size = static_cast<uint64_t>(isa.instructionBytes());
  // An entry before the code wraps to a number that no code reaches.
  uint64_t offset = parts.entryAddress - parts.code.address;
  if (offset % size != 0 || offset >= parts.code.bytes.size())
    throw UserError(
        {path, 0, 0, ""},
        fmt::format("has its entry outside the code, or inside an instruction: address {:#x}",
                    parts.entryAddress));
  program.entry = offset / size;
  program.code = std::string(parts.code.bytes);
  for (const elf::View &segment : parts.segments)
    program.data.push_back({segment.address, std::string(segment.bytes)});
  checkProgram(path, program, isa);
  checkDram(path, program, isa);
  return program;
}

} // namespace tilewright
