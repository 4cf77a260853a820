// isa-test --gtest_filter='Registers.*': the register map as it is read, refused, and written.
#include "description.h"

#include "tilewright/isa/registers.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace tilewright::isa;
using testing::HasSubstr;

namespace {

// The diagnostic of a map whose registers are these, without its place.
std::string errorOf(const std::string &registers) {
  Description description;
  description.write("description/registers.yaml",
                    "schema: \"tilewright/registers/1\"\nsummary: \"s\"\nregisters:\n" + registers);
  const std::string error = description.error();
  const size_t at = error.find("error: ");
  return at == std::string::npos ? error : error.substr(at);
}

// A register with these fields.
std::string one(const std::string &fields, const std::string &head = "offset: \"0\"") {
  return "  r: { " + head + ", summary: \"s\", fields: { " + fields + " } }\n";
}
const std::string plain = "f: { bits: \"0\", access: \"rw\", summary: \"s\" }";

TEST(Registers, BeginAsApCtrlHsDoes) {
  const RegisterMap &map = shipped().registers();
  const std::pair<const char *, int> offsets[] = {
      {"ctrl", 0x00}, {"gie", 0x04}, {"ier", 0x08}, {"isr", 0x0c}};
  for (const auto &[name, offset] : offsets)
    EXPECT_EQ(map.find(name).offset, offset) << name;
  const std::vector<std::pair<std::string, int>> control = {
      {"ap_start", 0}, {"ap_done", 1}, {"ap_idle", 2}, {"ap_ready", 3}, {"interrupt", 9}};
  std::vector<std::pair<std::string, int>> fields;
  for (const RegisterField &field : map.find("ctrl").fields)
    fields.emplace_back(field.name, field.low);
  EXPECT_EQ(fields, control);
}

TEST(Registers, AreNoPartOfTheIsaHash) {
  Description description;
  description.replace("description/registers.yaml", "offset: \"0x80\"", "offset: \"0x100\"");
  EXPECT_EQ(description.load().registers().find("cycles").offset, 0x100);
  EXPECT_EQ(description.load().hash(), shipped().hash());
}

TEST(Registers, AFieldMayLieInBothWordsOfItsRegister) {
  const std::string block = registersBlock(shipped().registers());
  EXPECT_THAT(block, HasSubstr("write_word == ArgumentBaseLowWord && idle_i) "
                               "argument_base_d[19:0] = (argument_base_q[19:0] & "
                               "~write_mask[31:12]) | (write_data[31:12] & write_mask[31:12]);"));
  EXPECT_THAT(block, HasSubstr("argument_base_d[35:20] = (argument_base_q[35:20] & "
                               "~write_mask[15:0]) | (write_data[15:0] & write_mask[15:0]);"));
}

TEST(Registers, EachAccessHasItsNextState) {
  const std::string block = registersBlock(shipped().registers());
  EXPECT_THAT(block,
              HasSubstr("if (read && read_word == CtrlWord) ctrl_ap_done_d = '0;\n"
                        "    ctrl_ap_done_d = ctrl_ap_done_d | machine_i.ctrl_ap_done_set;"));
  EXPECT_THAT(block, HasSubstr("if (write && write_word == IsrWord) isr_trap_d = isr_trap_q & "
                               "~(write_data[2] & write_mask[2]);\n"
                               "    isr_trap_d = isr_trap_d | machine_i.isr_trap_set;"));
  EXPECT_THAT(block, HasSubstr("host_o.ctrl_ap_start = write && write_word == CtrlWord ? "
                               "write_data[0] & write_mask[0] : '0;"));
}

TEST(Registers, HeaderHasOffsetsMasksShiftsAndValues) {
  const std::string header = registersHeader(shipped().registers());
  for (const char *line : {"#define TILEWRIGHT_ISR_OFFSET UINT32_C(0x00c)\n",
                           "#define TILEWRIGHT_CTRL_INTERRUPT_SHIFT 9\n",
                           "#define TILEWRIGHT_CTRL_INTERRUPT_MASK UINT32_C(0x00000200)\n",
                           "#define TILEWRIGHT_CYCLES_HIGH_OFFSET UINT32_C(0x084)\n",
                           "#define TILEWRIGHT_ID_VALUE UINT32_C(0x54575254)\n",
                           "#define TILEWRIGHT_TRAP_CAUSE_ILLEGAL UINT32_C(2) /* ",
                           "#define TILEWRIGHT_ARGUMENT_BASE_MASK UINT64_C(0x0000fffffffff000)\n"})
    EXPECT_THAT(header, HasSubstr(line));
}

TEST(Registers, PageNamesEachRegisterAndField) {
  const std::string page = registersMarkdown(shipped().registers());
  for (const HostRegister &each : shipped().registers().registers) {
    EXPECT_THAT(page, HasSubstr("\n## " + each.name + "\n"));
    for (const RegisterField &field : each.fields)
      EXPECT_THAT(page, HasSubstr(" | " + field.name + " | " + nameOf(field.access)));
  }
  EXPECT_THAT(page, HasSubstr("| 63:0 | value | ro | "));
  EXPECT_THAT(page, HasSubstr("| 47:12 | value | rw, idle | "));
}

TEST(Registers, JsonHasWhatTheYamlHas) {
  const auto json = nlohmann::json::parse(registersJson(shipped().registers()));
  EXPECT_EQ(json.at("registers").size(), shipped().registers().registers.size());
  const auto &trap = json.at("registers").at(6);
  EXPECT_EQ(trap.at("name"), "trap");
  EXPECT_EQ(trap.at("fields").at(0).at("values").at(2).at("name"), "illegal");
}

TEST(Registers, RefuseAnAddressOutsideTheBlock) {
  EXPECT_THAT(errorOf(one(plain, "offset: \"0x1000\"")),
              HasSubstr("error: the offset of 'r' is 4096, which is no number of 12 bits"));
}

TEST(Registers, RefuseAnAddressThatIsNotAligned) {
  EXPECT_THAT(errorOf(one(plain, "offset: \"4\", width: 64")),
              HasSubstr("error: the offset 0x4 of 'r' is no multiple of 8"));
}

TEST(Registers, RefuseTwoAtOneAddress) {
  EXPECT_THAT(errorOf(one(plain, "offset: \"8\", width: 64") +
                      "  s: { offset: \"0xc\", summary: \"s\", fields: { " + plain + " } }\n"),
              HasSubstr("error: 'r' and 's' have the same address 0xc"));
}

TEST(Registers, RefuseFieldsThatOverlap) {
  EXPECT_THAT(errorOf(one("f: { bits: \"3:0\", access: \"rw\", summary: \"s\" }, g: { bits: \"3\", "
                          "access: \"rw\", summary: \"s\" }")),
              HasSubstr("error: bits of 'g' belong to a field before it"));
}

TEST(Registers, RefuseSeveralFieldsOfTwoWords) {
  EXPECT_THAT(errorOf(one(plain + ", g: { bits: \"3\", access: \"rw\", summary: \"s\" }",
                          "offset: \"0\", width: 64")),
              HasSubstr("error: 'r' of 64 bits has 2 fields\n  fix: give it one; a register of 32 "
                        "bits may have more"));
}

TEST(Registers, RefuseBitsThatTheRegisterHasNot) {
  for (const char *bits : {"32", "0:3", "x"})
    EXPECT_THAT(
        errorOf(one(std::string("f: { bits: \"") + bits + "\", access: \"rw\", summary: \"s\" }")),
        HasSubstr(" are no bits of a register of 32\n  fix: write \"3\", or \"15:0\""));
  EXPECT_THAT(errorOf(one("f: { bits: \"5:9\", access: \"rw\", summary: \"s\" }")),
              HasSubstr("error: '5:9' are no bits of a register of 32"));
}

TEST(Registers, RefuseAConstantThatIsWritten) {
  EXPECT_THAT(errorOf(one("f: { bits: \"0\", access: \"rw\", constant: \"1\", summary: \"s\" }")),
              HasSubstr("error: 'f' is written, but constant\n  fix: make the field \"ro\""));
}

TEST(Registers, RefuseIdleOfWhatIsNotWritten) {
  EXPECT_THAT(errorOf(one("f: { bits: \"0\", access: \"ro\", idle: true, summary: \"s\" }")),
              HasSubstr("error: 'f' is not written, but has `idle`\n  fix: take it away, or make "
                        "the field \"rw\""));
}

TEST(Registers, RefuseValuesThatDoNotFitOrAreTheSame) {
  const std::string head = "f: { bits: \"1:0\", access: \"ro\", summary: \"s\", values: { a: { "
                           "value: \"1\", summary: \"s\" }, b: { value: ";
  EXPECT_THAT(errorOf(one(head + "\"4\", summary: \"s\" } } }")),
              HasSubstr("error: the value 'b' is 4, which is no number of 2 bits"));
  EXPECT_THAT(errorOf(one(head + "\"1\", summary: \"s\" } } }")),
              HasSubstr("error: 'a' and 'b' are the same value"));
}

TEST(Registers, RefuseNamesThatAreNone) {
  EXPECT_THAT(errorOf("  R: { offset: \"0\", summary: \"s\", fields: { " + plain + " } }\n"),
              HasSubstr("error: the register 'R' has no lowercase name"));
}

TEST(Registers, RefuseAnAccessThatIsNone) {
  EXPECT_THAT(errorOf(one("f: { bits: \"0\", access: \"w1c\", summary: \"s\" }")),
              HasSubstr("error: 'access' is 'w1c', not one of rw1c, ro, rw, rc, rw1s"));
}

} // namespace
