#include "elf_reader.h"

#include "elf_format.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <llvm/BinaryFormat/ELF.h>

namespace tilewright::elf {

using namespace llvm::ELF;

namespace {

// A part of the file that nothing else may overlap.
struct Extent {
  uint64_t offset = 0;
  uint64_t size = 0;
  std::string what;
};

class Reader {
public:
  Reader(const std::string &path, std::string_view file) : path_(path), file_(file) {}

  Parts read() {
    checkHeader();
    readSections();
    checkOverlaps();
    Parts parts;
    parts.entryAddress = header_.e_entry;
    parts.info = section(infoSection).bytes;
    parts.debug = section(debugSection).bytes;
    parts.code = section(codeSection);
    parts.segments = segments(parts.code);
    return parts;
  }

private:
  struct Section {
    std::string_view name;
    Elf64_Shdr header;
  };

  [[noreturn]] void fail(std::string message, std::string fix = "") const {
    throw UserError({path_, 0, 0, ""}, std::move(message), std::move(fix));
  }

  void checkHeader() {
    if (file_.size() < 4 || std::memcmp(file_.data(), ElfMagic, 4) != 0)
      fail("is not a program: it does not start with the ELF magic number",
           "give a file that `tilewright compile` or `tilewright asm` wrote");
    if (file_.size() < sizeof header_)
      fail(fmt::format("is truncated: {} bytes, an ELF header takes {}", file_.size(),
                       sizeof header_));
    std::memcpy(&header_, file_.data(), sizeof header_);
    if (header_.e_ident[EI_CLASS] != ELFCLASS64)
      fail(fmt::format("is not a 64-bit ELF file: its class is {}", header_.e_ident[EI_CLASS]));
    if (header_.e_ident[EI_DATA] != ELFDATA2LSB)
      fail(fmt::format("is not a little-endian ELF file: its data encoding is {}",
                       header_.e_ident[EI_DATA]));
    if (header_.e_ident[EI_VERSION] != EV_CURRENT || header_.e_version != EV_CURRENT)
      fail("is of an unknown ELF version");
    if (header_.e_machine != machine)
      fail(fmt::format("is an ELF file for another machine: {:#06x}, not {:#06x}",
                       header_.e_machine, machine),
           "give a file that `tilewright compile` or `tilewright asm` wrote");
    if (header_.e_ident[EI_ABIVERSION] != version)
      fail(fmt::format("is a program of format version {}; this tilewright reads version {}",
                       header_.e_ident[EI_ABIVERSION], version),
           "compile the model again with this tilewright");
    if (header_.e_type != ET_EXEC)
      fail("is an ELF file, but not an executable one");
    if (header_.e_shentsize != sizeof(Elf64_Shdr) || header_.e_phentsize != sizeof(Elf64_Phdr))
      fail("has ELF tables of an unknown entry size");
    claim("the ELF header", 0, sizeof header_);
    claim("the program header table", header_.e_phoff, header_.e_phnum * sizeof(Elf64_Phdr));
    claim("the section header table", header_.e_shoff, header_.e_shnum * sizeof(Elf64_Shdr));
  }

  // Notes that `what` occupies part of the file, which must lie inside it.
  void claim(std::string what, uint64_t offset, uint64_t size) {
    if (offset > file_.size() || size > file_.size() - offset)
      fail(fmt::format("is truncated: {} ends at byte {}, the file at byte {}", what,
                       offset + size < offset ? "2^64 or later" : std::to_string(offset + size),
                       file_.size()));
    if (size > 0)
      extents_.push_back({offset, size, std::move(what)});
  }

  template <typename T> T entry(uint64_t table, size_t index) const {
    T value;
    std::memcpy(&value, file_.data() + table + index * sizeof(T), sizeof(T));
    return value;
  }

  void readSections() {
    if (header_.e_shstrndx >= header_.e_shnum)
      fail("names a section that does not exist as the table of section names");
    auto namesHeader = entry<Elf64_Shdr>(header_.e_shoff, header_.e_shstrndx);
    claim("the table of section names", namesHeader.sh_offset, namesHeader.sh_size);
    extents_.pop_back(); // claimed again as a section below
    std::string_view names = file_.substr(namesHeader.sh_offset, namesHeader.sh_size);
    for (size_t i = 0; i < header_.e_shnum; ++i) {
      auto header = entry<Elf64_Shdr>(header_.e_shoff, i);
      if (header.sh_type == SHT_NULL)
        continue;
      std::string_view name = names.substr(std::min<size_t>(header.sh_name, names.size()), 64);
      size_t length = name.find('\0');
      if (length == std::string_view::npos)
        fail(fmt::format("has no name of at most 63 bytes for section {}", i));
      name = name.substr(0, length);
      if (header.sh_type != SHT_NOBITS)
        claim(fmt::format("section '{}'", escape(name)), header.sh_offset, header.sh_size);
      sections_.push_back({name, header});
    }
  }

  void checkOverlaps() {
    std::sort(extents_.begin(), extents_.end(), [](const Extent &a, const Extent &b) {
      return a.offset != b.offset ? a.offset < b.offset : a.size < b.size;
    });
    for (size_t i = 1; i < extents_.size(); ++i) {
      const Extent &before = extents_[i - 1];
      if (before.offset + before.size > extents_[i].offset)
        fail(fmt::format("has overlapping parts: {} and {} share byte {}", before.what,
                         extents_[i].what, extents_[i].offset));
    }
  }

  View section(const char *name) const {
    const Section *found = nullptr;
    for (const Section &section : sections_) {
      if (section.name != name)
        continue;
      if (found)
        fail(fmt::format("has two sections '{}'", name));
      found = &section;
    }
    if (!found)
      fail(fmt::format("has no section '{}'", name));
    if (found->header.sh_type != SHT_PROGBITS)
      fail(fmt::format("has a section '{}' without contents", name));
    return {found->header.sh_addr, file_.substr(found->header.sh_offset, found->header.sh_size)};
  }

  // The DRAM segments: every loadable one but the code's own, each inside the data section.
  std::vector<View> segments(const View &code) const {
    std::string_view data = section(dataSection).bytes;
    std::vector<View> result;
    uint64_t total = 0;
    bool codeSeen = false;
    for (size_t i = 0; i < header_.e_phnum; ++i) {
      auto load = entry<Elf64_Phdr>(header_.e_phoff, i);
      if (load.p_type != PT_LOAD)
        continue;
      if (load.p_memsz != load.p_filesz)
        fail(fmt::format("has a loadable segment ({}) whose sizes in file and memory differ", i));
      if (load.p_vaddr + load.p_filesz < load.p_vaddr)
        fail(fmt::format("has a loadable segment ({}) that wraps around the address space", i));
      if (load.p_flags & PF_X) {
        bool same = load.p_offset == static_cast<uint64_t>(code.bytes.data() - file_.data()) &&
                    load.p_filesz == code.bytes.size() && load.p_vaddr == code.address;
        if (!same || codeSeen)
          fail(fmt::format("has a code segment ({}) that is not section '{}'", i, codeSection));
        codeSeen = true;
        continue;
      }
      uint64_t base = static_cast<uint64_t>(data.data() - file_.data());
      if (load.p_offset < base || load.p_offset - base > data.size() ||
          load.p_filesz > data.size() - (load.p_offset - base))
        fail(fmt::format("has a loadable segment ({}) outside section '{}'", i, dataSection));
      // Segments that share file bytes could ask for far more memory than the file has.
      total += load.p_filesz;
      if (total > data.size())
        fail(fmt::format("has loadable segments that are larger than section '{}'", dataSection));
      result.push_back({load.p_vaddr, data.substr(load.p_offset - base, load.p_filesz)});
    }
    if (!codeSeen)
      fail("has no code segment");
    checkAddresses(result, code);
    return result;
  }

  void checkAddresses(std::vector<View> &segments, const View &code) const {
    auto earlier = [](const View &a, const View &b) {
      return a.address != b.address ? a.address < b.address : a.bytes.size() < b.bytes.size();
    };
    std::sort(segments.begin(), segments.end(), earlier);
    std::vector<View> all = segments;
    all.push_back(code);
    std::sort(all.begin(), all.end(), earlier);
    const View *last = nullptr; // the last that is not empty
    for (const View &view : all) {
      if (view.bytes.empty())
        continue;
      if (last && last->address + last->bytes.size() > view.address)
        fail(fmt::format("has two segments that overlap in DRAM, at address {:#x}", view.address));
      last = &view;
    }
  }

  const std::string &path_;
  std::string_view file_;
  Elf64_Ehdr header_{};
  std::vector<Extent> extents_;
  std::vector<Section> sections_;
};

} // namespace

Parts read(const std::string &path, std::string_view file) { return Reader(path, file).read(); }

} // namespace tilewright::elf
