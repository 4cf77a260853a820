// What is fixed about our ELF files. Structures and constants of ELF itself come from LLVM.
#pragma once

#include <cstdint>

namespace tilewright::elf {

// Of the range that no vendor has registered; "TW".
constexpr uint16_t machine = 0x5457;
// e_ident[EI_ABIVERSION]: raised when a reader of the old version could misread a new file.
constexpr uint8_t version = 1;

constexpr char codeSection[] = ".tilewright.code";
constexpr char dataSection[] = ".tilewright.data";
constexpr char infoSection[] = ".tilewright.info";
constexpr char debugSection[] = ".tilewright.debug";
constexpr char namesSection[] = ".shstrtab";

// Section contents start at multiples of it, so that code and data can be mapped in place.
constexpr uint64_t alignment = 64;

} // namespace tilewright::elf
