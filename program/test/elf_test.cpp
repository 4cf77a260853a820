// Every way in which the ELF frame of a program can be wrong: message and place.
#include "sample.h"

#include <cstddef>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/BinaryFormat/ELF.h>

using namespace tilewright::test;
using namespace llvm::ELF;
using ::testing::HasSubstr;

namespace {

// Offsets of fields of the ELF header.
constexpr size_t entryField = offsetof(Elf64_Ehdr, e_entry);
constexpr size_t machineField = offsetof(Elf64_Ehdr, e_machine);

Elf64_Ehdr headerOf(const std::string &bytes) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

size_t sectionAt(const std::string &bytes, size_t index) {
  return headerOf(bytes).e_shoff + index * sizeof(Elf64_Shdr);
}

size_t segmentAt(const std::string &bytes, size_t index) {
  return headerOf(bytes).e_phoff + index * sizeof(Elf64_Phdr);
}

// Sections of a written program, in order.
enum Section { Null, Code, Data, Info, Debug, Names };

uint64_t offsetOf(const std::string &bytes, Section section) {
  Elf64_Shdr header;
  std::memcpy(&header, bytes.data() + sectionAt(bytes, section), sizeof header);
  return header.sh_offset;
}

TEST(Elf, refusesWrongMagic) {
  EXPECT_EQ(readDiagnostic("\x89PNG\r\n\x1a\n"),
            "p.elf: error: is not a program: it does not start with the ELF magic number\n"
            "  fix: give a file that `tilewright compile` or `tilewright asm` wrote");
}

TEST(Elf, refusesEmptyFile) {
  EXPECT_THAT(readDiagnostic(""), HasSubstr("p.elf: error: is not a program"));
}

TEST(Elf, refusesTruncatedHeader) {
  EXPECT_EQ(readDiagnostic(changed([](std::string &bytes) { bytes.resize(63); })),
            "p.elf: error: is truncated: 63 bytes, an ELF header takes 64");
}

TEST(Elf, refusesOtherClass) {
  EXPECT_EQ(readDiagnostic(changed([](std::string &bytes) { bytes[EI_CLASS] = ELFCLASS32; })),
            "p.elf: error: is not a 64-bit ELF file: its class is 1");
}

TEST(Elf, refusesBigEndian) {
  EXPECT_EQ(readDiagnostic(changed([](std::string &bytes) { bytes[EI_DATA] = ELFDATA2MSB; })),
            "p.elf: error: is not a little-endian ELF file: its data encoding is 2");
}

TEST(Elf, refusesOtherElfVersion) {
  EXPECT_EQ(readDiagnostic(changed([](std::string &bytes) { bytes[EI_VERSION] = 2; })),
            "p.elf: error: is of an unknown ELF version");
}

TEST(Elf, refusesOtherMachine) {
  EXPECT_EQ(readDiagnostic(changed(
                [](std::string &bytes) { poke<uint16_t>(bytes, machineField, EM_X86_64); })),
            "p.elf: error: is an ELF file for another machine: 0x003e, not 0x5457\n"
            "  fix: give a file that `tilewright compile` or `tilewright asm` wrote");
}

TEST(Elf, refusesOtherFormatVersion) {
  EXPECT_EQ(readDiagnostic(changed([](std::string &bytes) { bytes[EI_ABIVERSION] = 9; })),
            "p.elf: error: is a program of format version 9; this tilewright reads version 1\n"
            "  fix: compile the model again with this tilewright");
}

TEST(Elf, refusesOtherFileType) {
  EXPECT_EQ(readDiagnostic(changed([](std::string &bytes) {
              poke<uint16_t>(bytes, offsetof(Elf64_Ehdr, e_type), ET_REL);
            })),
            "p.elf: error: is an ELF file, but not an executable one");
}

TEST(Elf, refusesOtherTableEntrySize) {
  EXPECT_EQ(readDiagnostic(changed([](std::string &bytes) {
              poke<uint16_t>(bytes, offsetof(Elf64_Ehdr, e_shentsize), 40);
            })),
            "p.elf: error: has ELF tables of an unknown entry size");
}

TEST(Elf, refusesSectionTablePastTheEnd) {
  std::string bytes = changed([](std::string &b) { b.resize(b.size() - 1); });
  EXPECT_EQ(readDiagnostic(bytes),
            "p.elf: error: is truncated: the section header table ends at byte " +
                std::to_string(bytes.size() + 1) + ", the file at byte " +
                std::to_string(bytes.size()));
}

TEST(Elf, refusesSectionPastTheEnd) {
  EXPECT_THAT(readDiagnostic(changed([](std::string &bytes) {
                poke<uint64_t>(bytes, sectionAt(bytes, Data) + offsetof(Elf64_Shdr, sh_size),
                               1u << 30);
              })),
              HasSubstr("p.elf: error: is truncated: section '.tilewright.data' ends at byte "));
}

TEST(Elf, refusesSectionSizeThatWraps) {
  EXPECT_THAT(readDiagnostic(changed([](std::string &bytes) {
                poke<uint64_t>(bytes, sectionAt(bytes, Data) + offsetof(Elf64_Shdr, sh_size),
                               UINT64_MAX);
              })),
              HasSubstr("section '.tilewright.data' ends at byte 2^64 or later"));
}

TEST(Elf, refusesOverlappingSections) {
  std::string bytes = changed([](std::string &b) {
    poke<uint64_t>(b, sectionAt(b, Debug) + offsetof(Elf64_Shdr, sh_offset), offsetOf(b, Info));
  });
  EXPECT_THAT(readDiagnostic(bytes),
              testing::StartsWith("p.elf: error: has overlapping parts: section '.tilewright."));
}

TEST(Elf, refusesSectionOverTheHeader) {
  EXPECT_EQ(readDiagnostic(changed([](std::string &bytes) {
              poke<uint64_t>(bytes, sectionAt(bytes, Code) + offsetof(Elf64_Shdr, sh_offset), 8);
            })),
            "p.elf: error: has overlapping parts: the ELF header and section '.tilewright.code' "
            "share byte 8");
}

TEST(Elf, refusesUnnamedNamesSection) {
  EXPECT_EQ(readDiagnostic(changed([](std::string &bytes) {
              poke<uint16_t>(bytes, offsetof(Elf64_Ehdr, e_shstrndx), 99);
            })),
            "p.elf: error: names a section that does not exist as the table of section names");
}

TEST(Elf, refusesSectionWithoutName) {
  EXPECT_EQ(readDiagnostic(changed([](std::string &bytes) {
              poke<uint32_t>(bytes, sectionAt(bytes, Code), 1u << 20);
            })),
            "p.elf: error: has no name of at most 63 bytes for section 1");
}

TEST(Elf, refusesMissingSection) {
  EXPECT_EQ(readDiagnostic(changed([](std::string &bytes) {
              bytes[offsetOf(bytes, Names) +
                    bytes.substr(offsetOf(bytes, Names)).find(".tilewright.info")] = '_';
            })),
            "p.elf: error: has no section '.tilewright.info'");
}

TEST(Elf, refusesSectionTwice) {
  EXPECT_EQ(readDiagnostic(changed([](std::string &bytes) {
              size_t names = offsetOf(bytes, Names);
              bytes.replace(names + bytes.substr(names).find(".tilewright.data"), 16,
                            ".tilewright.code");
            })),
            "p.elf: error: has two sections '.tilewright.code'");
}

TEST(Elf, refusesSectionWithoutContents) {
  EXPECT_EQ(readDiagnostic(changed([](std::string &bytes) {
              poke<uint32_t>(bytes, sectionAt(bytes, Debug) + offsetof(Elf64_Shdr, sh_type),
                             SHT_NOBITS);
            })),
            "p.elf: error: has a section '.tilewright.debug' without contents");
}

TEST(Elf, refusesSegmentWhoseSizesDiffer) {
  EXPECT_EQ(readDiagnostic(changed([](std::string &bytes) {
              poke<uint64_t>(bytes, segmentAt(bytes, 1) + offsetof(Elf64_Phdr, p_memsz), 1u << 30);
            })),
            "p.elf: error: has a loadable segment (1) whose sizes in file and memory differ");
}

TEST(Elf, refusesSegmentThatWraps) {
  EXPECT_EQ(readDiagnostic(changed([](std::string &bytes) {
              poke<uint64_t>(bytes, segmentAt(bytes, 1) + offsetof(Elf64_Phdr, p_vaddr),
                             UINT64_MAX);
            })),
            "p.elf: error: has a loadable segment (1) that wraps around the address space");
}

TEST(Elf, refusesSegmentOutsideTheDataSection) {
  EXPECT_EQ(readDiagnostic(changed([](std::string &bytes) {
              poke<uint64_t>(bytes, segmentAt(bytes, 1) + offsetof(Elf64_Phdr, p_offset), 0);
            })),
            "p.elf: error: has a loadable segment (1) outside section '.tilewright.data'");
}

TEST(Elf, refusesSegmentsThatShareFileBytes) {
  std::string bytes = changed([](std::string &b) {
    uint64_t whole = 73; // all of the data section, twice
    for (size_t index : {1, 2}) {
      poke<uint64_t>(b, segmentAt(b, index) + offsetof(Elf64_Phdr, p_offset), offsetOf(b, Data));
      poke<uint64_t>(b, segmentAt(b, index) + offsetof(Elf64_Phdr, p_filesz), whole);
      poke<uint64_t>(b, segmentAt(b, index) + offsetof(Elf64_Phdr, p_memsz), whole);
    }
  });
  EXPECT_EQ(readDiagnostic(bytes),
            "p.elf: error: has loadable segments that are larger than section '.tilewright.data'");
}

TEST(Elf, refusesSegmentsThatOverlapInDram) {
  EXPECT_EQ(readDiagnostic(changed([](std::string &bytes) {
              poke<uint64_t>(bytes, segmentAt(bytes, 1) + offsetof(Elf64_Phdr, p_vaddr), 0x201);
            })),
            "p.elf: error: has two segments that overlap in DRAM, at address 0x201");
}

TEST(Elf, refusesDataOverCode) {
  EXPECT_EQ(readDiagnostic(changed([](std::string &bytes) {
              poke<uint64_t>(bytes, segmentAt(bytes, 1) + offsetof(Elf64_Phdr, p_vaddr), 0x1001);
            })),
            "p.elf: error: has two segments that overlap in DRAM, at address 0x1001");
}

TEST(Elf, refusesMissingCodeSegment) {
  EXPECT_EQ(readDiagnostic(changed(
                [](std::string &bytes) { poke<uint32_t>(bytes, segmentAt(bytes, 0), PT_NOTE); })),
            "p.elf: error: has no code segment");
}

TEST(Elf, refusesOtherCodeSegment) {
  EXPECT_EQ(readDiagnostic(changed([](std::string &bytes) {
              poke<uint64_t>(bytes, segmentAt(bytes, 0) + offsetof(Elf64_Phdr, p_vaddr), 0x1040);
            })),
            "p.elf: error: has a code segment (0) that is not section '.tilewright.code'");
}

TEST(Elf, refusesEntryBeforeTheCode) {
  EXPECT_EQ(
      readDiagnostic(changed([](std::string &bytes) { poke<uint64_t>(bytes, entryField, 0xff0); })),
      "p.elf: error: has its entry outside the code, or inside an instruction: address 0xff0");
}

TEST(Elf, refusesEntryBehindTheCode) {
  EXPECT_EQ(
      readDiagnostic(
          changed([](std::string &bytes) { poke<uint64_t>(bytes, entryField, 0x1020); })),
      "p.elf: error: has its entry outside the code, or inside an instruction: address 0x1020");
}

TEST(Elf, refusesEntryInsideAnInstruction) {
  EXPECT_EQ(
      readDiagnostic(
          changed([](std::string &bytes) { poke<uint64_t>(bytes, entryField, 0x1001); })),
      "p.elf: error: has its entry outside the code, or inside an instruction: address 0x1001");
}

TEST(Elf, refusesEveryTruncation) {
  std::string bytes = changed([](std::string &) {});
  for (size_t size = 0; size < bytes.size(); ++size)
    ASSERT_THAT(readDiagnostic(bytes.substr(0, size)), testing::StartsWith("p.elf: error: "))
        << size;
}

TEST(Elf, survivesEveryChangedByte) {
  const std::string bytes = changed([](std::string &) {});
  int refused = 0;
  for (size_t at = 0; at < bytes.size(); ++at)
    for (unsigned char value : {0x00, 0xff, 0x80}) {
      std::string bad = bytes;
      bad[at] = static_cast<char>(value);
      refused += readDiagnostic(bad).empty() ? 0 : 1; // any other exception ends the test
    }
  EXPECT_GT(refused, 100);
}

} // namespace
