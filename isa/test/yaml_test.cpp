// ctest -R Yaml: the safe subset of YAML, each rule with its message and place.
#include "description.h"
#include "tilewright/isa/yaml.h"

#include <gmock/gmock.h>

using namespace tilewright;
using namespace tilewright::isa;
using testing::HasSubstr;
using testing::StartsWith;

static std::string errorOf(const std::string &text) {
  return diagnosticOf([&] { yaml::parse(text, "f.yaml"); });
}

TEST(Yaml, KeepsTheOrderOfKeysAndTheirLocations) {
  yaml::Node node = yaml::parse("b: \"1\"\na: [ \"2\", \"3\" ]\n", "f.yaml");
  ASSERT_EQ(node.keys.size(), 2u);
  EXPECT_EQ(node.keys[0].text, "b");
  EXPECT_EQ(node.items[1].items[1].text, "3");
  EXPECT_EQ(node.items[1].items[1].location().str(), "f.yaml:2:11");
}

TEST(Yaml, AcceptsCrLfAndAByteOrderMark) {
  yaml::Node node = yaml::parse("\xef\xbb\xbf"
                                "a: \"1\"\r\nb: \"2\"\r\n",
                                "f.yaml");
  EXPECT_EQ(node.find("b")->text, "2");
}

TEST(Yaml, TakesPlainValuesOnWhichAllVersionsAgree) {
  for (const char *plain : {"0", "16", "-3", "4294967296", "abc", "vadd.i8", "spad_bytes", "edge16",
                            "../isa/what-if/wide-array.yaml", "./m.onnx", "/tmp/m.onnx",
                            "The target's own, twice; no more."}) {
    const yaml::Node node = yaml::parse(std::string("a: ") + plain + " # a comment\n", "f.yaml");
    EXPECT_EQ(node.items[0].kind, yaml::Node::Kind::Text) << plain;
    EXPECT_EQ(node.items[0].text, plain);
    EXPECT_EQ(node.items[0].location(0).column, 4);
    EXPECT_EQ(node.items[0].location(2).column, 6) << "no quote stands before the text";
  }
}

TEST(Yaml, TakesTheSameValuesInListsAndMaps) {
  const yaml::Node node = yaml::parse("a: { b: 16, c: [ 8, x, true ] }\nd:\n  - 4\n", "f.yaml");
  const yaml::Node &a = *node.find("a"), &c = *a.find("c");
  EXPECT_EQ(a.find("b")->text, "16");
  EXPECT_EQ(c.items[0].text, "8");
  EXPECT_EQ(c.items[1].text, "x");
  EXPECT_TRUE(c.items[2].flag());
  EXPECT_EQ(node.find("d")->items[0].text, "4");
}

TEST(Yaml, RejectsPlainScalarsThatYamlMayChange) {
  for (const char *plain :
       {".nan", "0x10", "12:30", "8..32", "45nm", "2 * rows", "a + 1", "max(a)", ".inf", "a:b"})
    EXPECT_EQ(errorOf(std::string("a: ") + plain + "\n"),
              std::string("f.yaml:1:4: error: the value '") + plain +
                  "' is not quoted\n  fix: write \"" + plain + "\"");
}

TEST(Yaml, RejectsNumbersThatYamlMayRead) {
  for (const char *plain : {"010", "1_000", "1e3", "+1", "-0", "1.5", ".5"})
    EXPECT_EQ(errorOf(std::string("a: ") + plain + "\n"),
              std::string("f.yaml:1:4: error: the value '") + plain +
                  "' is not quoted\n  fix: write a whole number as 12 or \"0x1f\", or the text as "
                  "\"" +
                  plain + "\"");
}

TEST(Yaml, RejectsWordsThatMayBeTruthValues) {
  for (const char *plain : {"no", "on", "Yes", "OFF", "y", "N", "True", "FALSE"})
    EXPECT_EQ(errorOf(std::string("a: ") + plain + "\n"),
              std::string("f.yaml:1:4: error: the value '") + plain +
                  "' is not quoted\n  fix: write true or false, or the word as \"" + plain + "\"");
}

TEST(Yaml, RejectsOtherWordsForNull) {
  for (const char *plain : {"~", "Null", "NULL"})
    EXPECT_EQ(errorOf(std::string("a: ") + plain + "\r\nb: \"1\"\r\n"),
              std::string("f.yaml:1:4: error: the value '") + plain +
                  "' is not quoted\n  fix: write null, or the word as \"" + plain + "\"");
  EXPECT_EQ(yaml::parse("a: null\r\nb: { c: null }\r\n", "f.yaml").items[0].kind,
            yaml::Node::Kind::Null);
}

TEST(Yaml, RejectsAKeyWithoutAValue) {
  EXPECT_EQ(
      errorOf("a: { b: \"1\" }\nvabs:\nnull_: \"1\"\n"),
      "f.yaml:2:1: error: 'vabs' has no value\n  fix: write null to remove what stands there");
  EXPECT_EQ(errorOf("a: { b, c: \"1\" }\n"),
            "f.yaml:1:6: error: 'b' has no value\n  fix: write null to remove what stands there");
  EXPECT_EQ(errorOf("a:\n  -\n  - \"1\"\n"), "f.yaml:3:3: error: a value is missing");
}

TEST(Yaml, RejectsATab) {
  EXPECT_THAT(errorOf("a:\n\tb: \"1\"\n"), StartsWith("f.yaml:2:1: error: a tab character"));
}

TEST(Yaml, RejectsNul) {
  EXPECT_THAT(errorOf(std::string("a: \"1\0\"\n", 8)),
              StartsWith("f.yaml:1:6: error: a control character (byte 0x00)"));
}

TEST(Yaml, RejectsInvalidUtf8) {
  EXPECT_THAT(errorOf("a: \"\xff\"\n"), StartsWith("f.yaml:1:5: error: invalid UTF-8 (byte 0xff)"));
  EXPECT_THAT(errorOf("a: \"\xc0\xaf\"\n"), HasSubstr("invalid UTF-8"));
  EXPECT_THAT(errorOf("a: \"\xed\xa0\x80\"\n"), HasSubstr("invalid UTF-8"));
  EXPECT_THAT(errorOf("a: \"\xe2\x82\"\n"), HasSubstr("invalid UTF-8"));
}

TEST(Yaml, RejectsUtf16) {
  EXPECT_THAT(errorOf(std::string("\xff\xfe"
                                  "a\0",
                                  4)),
              StartsWith("f.yaml:1:1: error: invalid UTF-8"));
}

TEST(Yaml, RejectsASecondDocument) {
  EXPECT_THAT(errorOf("a: \"1\"\n---\nb: \"2\"\n"),
              HasSubstr("error: a second document in the file"));
}

TEST(Yaml, RejectsAnEmptyFile) {
  EXPECT_EQ(errorOf(""), "f.yaml: error: the file holds no YAML document");
  EXPECT_EQ(errorOf("# only a comment\n"), "f.yaml: error: the file holds no YAML document");
}

TEST(Yaml, RejectsAnchors) {
  EXPECT_THAT(errorOf("a: &x \"1\"\n"), StartsWith("f.yaml:1:4: error: an anchor"));
  EXPECT_THAT(errorOf("a: &x [ \"1\" ]\n"), HasSubstr("an anchor"));
}

TEST(Yaml, RejectsAliasesAndSoBombs) {
  EXPECT_THAT(errorOf("a: *x\n"), HasSubstr("error:"));
  std::string bomb = "a: &a [\"l\",\"l\"]\n";
  for (char c = 'b'; c < 'z'; ++c)
    bomb += std::string(1, c) + ": &" + c + " [*" + static_cast<char>(c - 1) + ",*" +
            static_cast<char>(c - 1) + "]\n";
  EXPECT_THAT(errorOf(bomb), HasSubstr("an anchor"));
}

TEST(Yaml, RejectsTags) {
  EXPECT_THAT(errorOf("a: !!int \"1\"\n"), HasSubstr("error: a tag"));
  EXPECT_THAT(errorOf("a: !<tag:x> {}\n"), HasSubstr("error: a tag"));
}

TEST(Yaml, RejectsDuplicateKeys) {
  EXPECT_EQ(errorOf("a: \"1\"\nb: \"2\"\na: \"3\"\n"), "f.yaml:3:1: error: duplicate key 'a'");
}

TEST(Yaml, RejectsKeysThatAreNoWords) {
  EXPECT_THAT(errorOf("? [ \"a\" ]\n: \"1\"\n"), HasSubstr("error: a list as a key"));
  EXPECT_THAT(errorOf("~: \"1\"\n"), HasSubstr("error: a key is missing or null"));
}

TEST(Yaml, LimitsTheNestingOfBrackets) {
  for (char c : {'[', '{'}) {
    std::string error = errorOf(std::string(10240, c));
    EXPECT_THAT(error, StartsWith("f.yaml:1:33: error: nested more than 32 deep")) << c;
  }
}

TEST(Yaml, LimitsTheNestingOfBlocks) {
  std::string blocks, sequences;
  for (int i = 0; i < 300; ++i) {
    blocks += std::string(static_cast<size_t>(i), ' ') + "a:\n";
    sequences += "- ";
  }
  EXPECT_THAT(errorOf(blocks), HasSubstr("nested more than 32 deep"));
  EXPECT_THAT(errorOf(sequences + "\"1\"\n"), HasSubstr("nested more than 32 deep"));
  EXPECT_THAT(errorOf(std::string(10240, '?')), HasSubstr("error:"));
  std::string keys;
  for (int i = 0; i < 5000; ++i)
    keys += "? ";
  EXPECT_THAT(errorOf(keys), HasSubstr("error:"));
}

TEST(Yaml, CountsNoBracketsInStringsAndComments) {
  std::string open(40, '[');
  EXPECT_EQ(errorOf("a: \"" + open + "\" # " + open + "\nb: '" + open + "'\n"), "");
}

TEST(Yaml, LimitsTheSize) {
  EXPECT_EQ(errorOf(std::string(yaml::maximumBytes + 1, ' ')),
            "f.yaml: error: the file has 1048577 bytes, more than 1048576");
}

TEST(Yaml, RejectsAStringWithoutEnd) {
  EXPECT_EQ(errorOf("a: \"1\\\"\n"), "f.yaml:1:4: error: the quoted string never ends");
  EXPECT_EQ(errorOf("a: '1''\n"), "f.yaml:1:4: error: the quoted string never ends");
  EXPECT_EQ(errorOf("a: 'it''s '' so'\nb: \"a \\\" [\"\n"), "");
}

TEST(Yaml, RejectsBlockScalars) {
  EXPECT_THAT(errorOf("a: |\n  text\n"), StartsWith("f.yaml:1:4: error: a block scalar ('|')"));
  EXPECT_THAT(errorOf("a:\n  - >-\n    text\n"),
              StartsWith("f.yaml:2:5: error: a block scalar ('>')"));
}

TEST(Yaml, ReportsSyntaxWithItsPlace) {
  EXPECT_THAT(errorOf("a: [ \"1\"\nb: \"2\"\n"), HasSubstr("error: not valid YAML"));
}

TEST(YamlMergePatch, FollowsRfc7386) {
  yaml::Node target = yaml::parse("a: { b: \"1\", c: \"2\" }\nd: [ \"3\" ]\n", "f.yaml");
  yaml::mergePatch(
      target,
      yaml::parse("a: { b: null, e: \"4\" }\nd: [ \"5\", \"6\" ]\nf: { g: null, h: \"7\" }\n",
                  "p.yaml"));
  const yaml::Node &a = *target.find("a");
  EXPECT_EQ(a.find("b"), nullptr);
  EXPECT_EQ(a.find("c")->text, "2");
  EXPECT_EQ(a.find("e")->location().str(), "p.yaml:1:18");
  EXPECT_EQ(target.find("d")->items.size(), 2u);
  EXPECT_EQ(target.find("f")->keys.size(), 1u);
}
