// ctest -R Role: what an instruction's role asks of it, and who has it.
#include "description.h"
#include "tilewright/isa/documents.h"
#include "tilewright/isa/roles.h"

#include <gmock/gmock.h>

using namespace tilewright;
using namespace tilewright::isa;
using testing::HasSubstr;
using testing::StartsWith;

static const std::string vsum = "description/instructions/vsum.yaml";

// The diagnostic of a description in which `vsum` has another role.
static std::string errorOfRole(const std::string &role) {
  Description description;
  description.replace(vsum, "role: \"sum_acc\"", "role: \"" + role + "\"");
  return description.error();
}

TEST(Role, TheShippedDescriptionHasAll) {
  for (size_t i = 0; i < roles().size(); ++i) {
    const Instruction *instruction = shipped().withRole(static_cast<Role>(i));
    ASSERT_NE(instruction, nullptr) << roles()[i].name;
    EXPECT_EQ(instruction->role, static_cast<Role>(i));
    EXPECT_EQ(shipped().shippedWithRole(static_cast<Role>(i)), instruction->name);
  }
}

TEST(Role, OfTwoInstructions) {
  EXPECT_EQ(errorOfRole("rescale_acc"),
            vsum + ":4:7: error: 'vsum' has role 'rescale_acc', and so has 'vrescale.acc' at "
                   "description/instructions/vrescale.acc.yaml:4:7\n"
                   "  fix: take the role from one of them, or remove it");
}

TEST(Role, OfAnotherUnit) {
  EXPECT_EQ(errorOfRole("load_bytes"),
            vsum + ":4:7: error: 'vsum' runs on a unit of template vector, and role 'load_bytes' "
                   "is for dma_load\n  fix: give the role to an instruction of such a unit");
}

TEST(Role, WithoutAnOperand) {
  Description description;
  description.replace(vsum, "role: \"sum_acc\"", "role: \"load_channels\"");
  description.remove("description/instructions/vchannel.yaml");
  EXPECT_EQ(description.error(),
            vsum + ":4:7: error: role 'load_channels' needs a memory operand 'a' of i32 in spad "
                   "with access \"read\", which 'vsum' does not have\n"
                   "  fix: keep the operand, or take the role away");
}

TEST(Role, WithoutAnImmediate) {
  Description description;
  description.overlay("instructions: { vsum: { operands: { n0: null, m0: { kind: \"imm\", type: "
                      "\"u12\" } }, semantics: { reduce: { iter: [ \"y in n1\", \"x in m0\", \"c "
                      "in nc\" ] } } } }\n");
  EXPECT_THAT(description.error(),
              HasSubstr(":4:7: error: role 'sum_acc' needs an immediate 'n0', which 'vsum' does "
                        "not have"));
}

TEST(Role, UnknownOneNamesTheNearestFirst) {
  EXPECT_THAT(errorOfRole("max_pol"),
              StartsWith(vsum + ":4:7: error: 'role' is 'max_pol', not one of max_pool, "
                                "load_bytes, load_i8, "));
}

TEST(Role, OfARemovedInstructionIsFree) {
  Description description;
  description.overlay("instructions: { vmaxpool: null }\n");
  const Isa isa = description.load();
  EXPECT_EQ(isa.withRole(Role::MaxPool), nullptr);
  EXPECT_EQ(describe(isa, Role::MaxPool),
            "instruction of role 'max_pool' ('vmaxpool' without overlays)");
}

TEST(Role, GoesToAnOverlaysInstruction) {
  Description description;
  description.overlay(R"(instructions:
  vmaxpool: null
  vgreatest:
    name: vgreatest
    summary: "Greatest 8-bit element over the taps."
    unit: vector
    role: max_pool
    encode: { op: "0xe0" }
    operands:
      a: { kind: mem, space: spad, type: i8, access: read }
      d: { kind: mem, space: spad, type: i8, access: write }
      n0: { kind: imm, type: u12 }
      nc: { kind: imm, type: u12 }
    semantics:
      reduce:
        iter: [ "y in n1", "x in n0", "c in nc" ]
        reduce: { iter: [ "v in k1", "u in k0" ], op: max, type: i8, order: any }
        init: "-128"
        out: "d[y * d_s1 + x * d_s0 + c]"
        expr: "a[y * a_s1 + x * a_s0 + v * a_k1 + u * a_k0 + c]"
        post: "result"
)");
  const Isa isa = description.load();
  ASSERT_NE(isa.withRole(Role::MaxPool), nullptr);
  EXPECT_EQ(isa.withRole(Role::MaxPool)->name, "vgreatest");
}

// The compiler would take it for what it is not.
TEST(Role, OfAnotherSemantics) {
  Description description;
  description.overlay(
      "instructions: { vmaxpool: { semantics: { reduce: { post: \"max(result, 0)\" } } } }\n");
  EXPECT_THAT(
      description.roleError(),
      HasSubstr("vmaxpool.yaml:4:7: error: 'vmaxpool' has role 'max_pool', but computes something "
                "else than 'vmaxpool' without overlays: 'step 0: post max(result, 0)', not nothing "
                "more\n  fix: take the role away: what an instruction of no role computes decides "
                "where it is taken"));
}

TEST(Role, OfFewerStepsThanTheShippedOne) {
  Description description;
  description.overlay(
      "instructions: { vchannel: { semantics: { compose: [ { map: { iter: [ \"c in nc\" ], "
      "out: \"bias[c]\", expr: \"a[c]\" } } ] } } }\n");
  EXPECT_THAT(description.roleError(),
              HasSubstr("'vchannel' without overlays: nothing more, not 'step 1: map'"));
}

TEST(Role, IsInTheHash) {
  Description description;
  description.replace(vsum, "role: \"sum_acc\"\n", "");
  EXPECT_NE(description.load().hash(), shipped().hash());
}

TEST(Role, IsInTheManual) {
  EXPECT_THAT(manualPage(shipped(), *shipped().find("vsum")),
              HasSubstr("\nRole: `sum_acc`. Sum of accumulators over the taps.\n"));
  EXPECT_THAT(manualIndex(shipped()),
              HasSubstr("\n| sum_acc | [vsum](vsum.md) | Sum of accumulators over the taps. |\n"));
}
