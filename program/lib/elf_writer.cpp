// Layout: ELF header, program headers (code, then one a DRAM segment), section contents, section
// headers.
#include "elf_writer.h"

#include "elf_format.h"

#include <cstring>
#include <llvm/BinaryFormat/ELF.h>
#include <stdexcept>

namespace tilewright::elf {

using namespace llvm::ELF;

template <typename T> static void append(std::string &out, const T &value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof value);
}

static void align(std::string &out) {
  out.resize((out.size() + alignment - 1) / alignment * alignment, '\0');
}

static Elf64_Phdr loadHeader(uint64_t offset, uint64_t address, uint64_t size, uint32_t flags) {
  Elf64_Phdr header{};
  header.p_type = PT_LOAD;
  header.p_flags = flags;
  header.p_offset = offset;
  header.p_vaddr = header.p_paddr = address;
  header.p_filesz = header.p_memsz = size;
  header.p_align = 1; // addresses are the compiler's choice
  return header;
}

namespace {
// Appends section contents and collects their headers.
class Sections {
public:
  explicit Sections(std::string &out) : out_(out), headers_(1) {}

  uint64_t add(const char *name, uint32_t type, uint64_t flags, uint64_t address,
               std::string_view bytes) {
    align(out_);
    Elf64_Shdr header{};
    header.sh_name = static_cast<uint32_t>(names_.size());
    names_.append(name, std::strlen(name) + 1);
    header.sh_type = type;
    header.sh_flags = flags;
    header.sh_addr = address;
    header.sh_offset = out_.size();
    header.sh_size = bytes.size();
    header.sh_addralign = 1;
    headers_.push_back(header);
    out_.append(bytes);
    return header.sh_offset;
  }

  // Appends the section names and the headers; gives the offset of the headers.
  uint64_t finish() {
    Elf64_Shdr header{};
    header.sh_name = static_cast<uint32_t>(names_.size());
    names_.append(namesSection, sizeof namesSection);
    align(out_);
    header.sh_type = SHT_STRTAB;
    header.sh_offset = out_.size();
    header.sh_size = names_.size();
    header.sh_addralign = 1;
    headers_.push_back(header);
    out_.append(names_);
    align(out_);
    uint64_t offset = out_.size();
    for (const Elf64_Shdr &each : headers_)
      append(out_, each);
    return offset;
  }

  uint16_t count() const { return static_cast<uint16_t>(headers_.size()); }

private:
  std::string &out_;
  std::string names_ = std::string(1, '\0');
  std::vector<Elf64_Shdr> headers_; // the first is the null section
};
} // namespace

std::string write(const Contents &contents) {
  const std::vector<Segment> &segments = *contents.segments;
  if (segments.size() + 1 >= PN_XNUM)
    throw std::length_error("a program has more DRAM segments than ELF can count");

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ElfMagic, 4);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_ident[EI_OSABI] = ELFOSABI_STANDALONE;
  header.e_ident[EI_ABIVERSION] = version;
  header.e_type = ET_EXEC;
  header.e_machine = machine;
  header.e_version = EV_CURRENT;
  header.e_entry = contents.entryAddress;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = static_cast<uint16_t>(segments.size() + 1);
  header.e_shentsize = sizeof(Elf64_Shdr);

  std::string data;
  for (const Segment &segment : segments)
    data += segment.bytes;

  std::string out(sizeof(Elf64_Ehdr) + header.e_phnum * sizeof(Elf64_Phdr), '\0');
  Sections sections(out);
  std::vector<Elf64_Phdr> loads;
  uint64_t codeOffset = sections.add(codeSection, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
                                     contents.codeAddress, contents.code);
  loads.push_back(loadHeader(codeOffset, contents.codeAddress, contents.code.size(), PF_R | PF_X));
  uint64_t dataOffset = sections.add(dataSection, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE,
                                     segments.empty() ? 0 : segments.front().address, data);
  for (const Segment &segment : segments) {
    loads.push_back(loadHeader(dataOffset, segment.address, segment.bytes.size(), PF_R | PF_W));
    dataOffset += segment.bytes.size();
  }
  sections.add(infoSection, SHT_PROGBITS, 0, 0, contents.info);
  sections.add(debugSection, SHT_PROGBITS, 0, 0, contents.debug);
  header.e_shoff = sections.finish();
  header.e_shnum = sections.count();
  header.e_shstrndx = static_cast<uint16_t>(header.e_shnum - 1);

  std::memcpy(out.data(), &header, sizeof header);
  std::memcpy(out.data() + sizeof header, loads.data(), loads.size() * sizeof(Elf64_Phdr));
  return out;
}

} // namespace tilewright::elf
