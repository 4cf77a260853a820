#include "tilewright/isa/schema.h"

#include "resolver.h"
#include "tilewright/isa/roles.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::isa {

namespace {

using Kind = Schema::Kind;
constexpr bool required = true, optional = false;

const Schema text{Kind::Text};
const Schema identifier{Kind::Identifier};
const Schema expression{Kind::Expression};
const Schema flag{Kind::Flag};
const Schema tree{Kind::Tree};
const Schema patch{Kind::Patch};
const Schema expressions{Kind::ListOf, {}, &expression};
const Schema namedExpressions{Kind::MapOf, {}, &expression};
const Schema namedTypes{Kind::MapOf, {}, &text};

const Schema isaSection{
    Kind::Object,
    {{"name", &text, required, "Name of the ISA."}, {"version", &text, required, "Its version."}}};

const Schema param{Kind::Object,
                   {{"default", &expression, required,
                     "Value unless the target sets it: an expression of other params."},
                    {"range", &text, optional,
                     "Legal values, both ends included: \"1..256\". Beside it the limits hold that "
                     "`tilewright isa limits` lists."},
                    {"pow2", &flag, optional, "Whether the value must be a power of two."},
                    {"summary", &text, required, "What it is, in a sentence."}}};
const Schema params{Kind::MapOf, {}, &param};

const Schema addressUnit{Kind::Choice, {}, nullptr, {"byte", "i32"}};
const Schema memory{
    Kind::Object,
    {{"summary", &text, required, "What it is, in a sentence."},
     {"address", &addressUnit, required, "What one address step moves."},
     {"bytes", &expression, required, "Size in bytes."},
     {"banks", &expression, optional, "Contiguous banks of equal size; 1 unless given."},
     {"port", &expression, optional, "Address units that a port moves a cycle."}}};
const Schema memories{Kind::Object,
                      {{"dram", &memory, required, "External memory."},
                       {"spad", &memory, required, "Scratchpad."},
                       {"acc", &memory, required, "Accumulators."}}};

const Schema unitTemplate{
    Kind::Choice, {}, nullptr, {std::begin(templateNames), std::end(templateNames)}};
const Schema unit{
    Kind::Object,
    {{"template", &unitTemplate, required, "The microarchitecture that times and implements it."},
     {"queue", &expression, optional, "Depth of its queue."},
     {"summary", &text, required, "What it does, in a sentence."}}};
const Schema units{Kind::MapOf, {}, &unit};

const Schema stateRegister{Kind::Object,
                           {{"type", &text, required, "Type of the value, or of an element."},
                            {"size", &expressions, optional, "Extents of an array register."},
                            {"reset", &expression, required, "Value after reset."},
                            {"summary", &text, required, "What it holds, in a sentence."}}};
const Schema unitState{Kind::MapOf, {}, &stateRegister};
const Schema state{Kind::MapOf, {}, &unitState};

const Schema headerFields{
    Kind::Object,
    {{"op", &expression, required, "Bits of the opcode."},
     {"wait", &expression, required, "Bits of the mask of semaphores to wait for."},
     {"signal", &expression, required, "Bits of the mask of semaphores to signal."}}};
const Schema format{
    Kind::Object,
    {{"fields", &headerFields, required, "Fields that an instruction starts with, from bit 0 up."},
     {"summary", &text, required, "Which instructions have it."}}};
const Schema formats{
    Kind::Object,
    {{"unit", &format, required, "Instructions of the units."},
     {"control", &format, required, "Instructions that the sequencer runs itself."}}};

const Schema function{
    Kind::Object,
    {{"summary", &text, required, "What it computes, in a sentence."},
     {"args", &namedTypes, required, "Names and types of its arguments, in order."},
     {"expr", &expression, required, "Its value."}}};
const Schema functions{Kind::MapOf, {}, &function};

const Schema numerics{Kind::Object,
                      {{"integers", &text, required, "How exact integers are."},
                       {"source", &text, required, "The standard they follow."}}};

const Schema machineFile{
    Kind::Object,
    {{"schema", &text, required, "\"tilewright/machine/1\"."},
     {"isa", &isaSection, required, "Name and version."},
     {"params", &params, required, "Sizes of the machine."},
     {"memories", &memories, required, "Address spaces."},
     {"units", &units, required, "In-order units; the sequencer is the first."},
     {"state", &state, required, "Registers of each unit, in the order of their numbers."},
     {"formats", &formats, required, "Fields that instructions start with."},
     {"functions", &functions, required, "Pure scalar functions that semantics call."},
     {"numerics", &numerics, required, "What the integers follow."}}};

const Schema encoding{Kind::Object, {{"op", &expression, required, "Opcode."}}};
const Schema operandKind{Kind::Choice, {}, nullptr, {"mem", "imm"}};
const Schema access{Kind::Choice, {}, nullptr, {std::begin(accessNames), std::end(accessNames)}};
const Schema operand{
    Kind::Object,
    {{"kind", &operandKind, required, "A memory operand or an immediate."},
     {"space", &identifier, optional, "Memory of a memory operand: dram, spad or acc."},
     {"type", &text, required,
      "Type of an element or of the value: i8, u12, index<param>, count<param>, register."},
     {"access", &access, optional, "How a memory operand is used."}}};
const Schema operands{Kind::MapOf, {}, &operand};

constexpr const char *namedValues =
    "Intermediate values by name, each of those before it: for `expr` and `post`.";
const Schema stepMap{Kind::Object,
                     {{"iter", &expressions, required, "Iterators: \"x in n0\"."},
                      {"let", &namedExpressions, optional, namedValues},
                      {"out", &expression, required, "Element that is written."},
                      {"expr", &expression, required, "Its value."},
                      {"when", &expression, optional,
                       "Where it is 0, `otherwise` is written and no memory is read."},
                      {"otherwise", &expression, optional, "The value where `when` is 0."}}};
const Schema combiner{Kind::Choice, {}, nullptr, {"add", "max", "min", "and", "or"}};
const Schema order{Kind::Choice, {}, nullptr, {"any"}};
const Schema reduction{
    Kind::Object,
    {{"iter", &expressions, required, "Iterators of the reduction, the last the fastest."},
     {"op", &combiner, required, "How values are combined."},
     {"type", &text, required, "Type of the accumulator; the combiner wraps in it."},
     {"order", &order, required, "\"any\": every combiner is associative and commutative."}}};
const Schema stepReduce{Kind::Object,
                        {{"iter", &expressions, required, "Spatial iterators."},
                         {"let", &namedExpressions, optional, namedValues},
                         {"reduce", &reduction, required, "What is reduced, and how."},
                         {"init", &expression, required, "Value before the first."},
                         {"out", &expression, required, "Element that is written."},
                         {"expr", &expression, required, "Value that is combined."},
                         {"post", &expression, optional,
                          "What is written, of \"result\"; the result itself unless given."}}};
const Schema step{Kind::Object,
                  {{"map", &stepMap, optional, "Element by element."},
                   {"move", &stepMap, optional, "A map that copies."},
                   {"reduce", &stepReduce, optional, "Reduces over iterators."},
                   {"contract", &stepReduce, optional, "A reduction over products."}}};
const Schema steps{Kind::ListOf, {}, &step};
const Schema setRegister{
    Kind::Object,
    {{"register", &identifier, required, "Operand that holds the register's number."},
     {"to", &identifier, required, "Operand that holds the value."}}};
const Schema setRegisters{Kind::ListOf, {}, &setRegister};
const Schema control{Kind::Choice, {}, nullptr, {"halt", "fence", "set", "loop", "branch"}};
const Schema semantics{
    Kind::Object,
    {{"map", &stepMap, optional, "Element by element."},
     {"move", &stepMap, optional, "A map that copies."},
     {"reduce", &stepReduce, optional, "Reduces over iterators."},
     {"contract", &stepReduce, optional, "A reduction over products."},
     {"compose", &steps, optional, "Steps, one after the other."},
     {"set", &setRegisters, optional, "Sets registers of the unit, in order."},
     {"control", &control, optional, "Control flow."},
     {"to", &expression, optional, "control \"set\": the base register's value."},
     {"when", &expression, optional, "control \"branch\": the condition."}}};
const Schema formatName{Kind::Choice, {}, nullptr, {"unit", "control"}};
std::vector<const char *> roleNames() {
  std::vector<const char *> names;
  for (const RoleInfo &role : roles())
    names.push_back(role.name);
  return names;
}
const Schema roleName{Kind::Choice, {}, nullptr, roleNames()};
const Schema instructionFile{
    Kind::Object,
    {{"name", &text, required, "Mnemonic; the file is named after it."},
     {"summary", &text, required, "What it does, in a sentence."},
     {"unit", &identifier, required, "Unit that executes it."},
     {"format", &formatName, optional, "\"unit\" unless given."},
     {"role", &roleName, optional,
      "What the compiler uses it for; at most one instruction has a role."},
     {"encode", &encoding, required, "Opcode."},
     {"operands", &operands, optional, "Operands in the order of their fields."},
     {"require", &namedExpressions, optional, "Labeled constraints on immediates."},
     {"semantics", &semantics, required, "What it does, exactly."}}};

// What each number means in full: docs/microarchitecture.md.
const Schema sequencerTimes{
    Kind::Object,
    {{"fetch_bytes", &expression, required, "Bytes of a fetch burst (a line)."},
     {"buffer", &expression, required, "Instructions the fetch buffer holds."},
     {"ahead", &expression, required, "Instructions the prefetch runs ahead."},
     {"outstanding", &expression, required, "Fetch bursts on the way."}}};
const Schema loadTimes{Kind::Object,
                       {{"buffers", &expression, required, "Landing buffers of a burst each."},
                        {"inflight", &expression, required, "Loads begun and not ended."}}};
const Schema storeTimes{
    Kind::Object,
    {{"buffers", &expression, required, "Gather buffers of a burst each."},
     {"inflight", &expression, required, "Stores begun and not ended."},
     {"outstanding", &expression, required, "Write bursts sent and not answered."}}};
const Schema matrixTimes{
    Kind::Object,
    {{"pipeline", &expression, required, "From reading a row to writing its accumulators."},
     {"inflight", &expression, required, "Products begun and not ended."}}};
const Schema vectorTimes{
    Kind::Object,
    {{"start", &expression, required, "From an instruction's start to its first read."}}};
const Schema instructionTimes{
    Kind::Object,
    {{"latency", &expression, required,
      "From a strip's last read to its write: at least what its pipeline takes."}}};
const Schema latencies{Kind::MapOf, {}, &instructionTimes};
const Schema timingFile{Kind::Object,
                        {{"schema", &text, required, "\"tilewright/timing/1\"."},
                         {"sequencer", &sequencerTimes, required, "The sequencer and its fetch."},
                         {"load", &loadTimes, required, "The load DMA."},
                         {"store", &storeTimes, required, "The store DMA."},
                         {"matrix", &matrixTimes, required, "The matrix unit."},
                         {"vector", &vectorTimes, required, "The vector unit."},
                         {"instructions", &latencies, optional,
                          "Vector instructions that are to take longer than their pipelines."}}};
const Schema dramFile{Kind::Object,
                      {{"schema", &text, required, "\"tilewright/dram/1\"."},
                       {"name", &text, required, "Name; the file is named after it."},
                       {"summary", &text, required, "What it is like, in a sentence."},
                       {"parameters", &namedExpressions, required, "The model's numbers."}}};

const Schema logicOperator{
    Kind::Object,
    {{"mfo4", &expressions, required,
      "Delays in thousandths of an FO4, at 8, 16, 32, 48, 64 bits."},
     {"nand2", &expressions, required, "Areas in NAND2 equivalents, at the same widths."}}};
std::vector<SchemaField> logicOperatorFields() {
  std::vector<SchemaField> fields;
  for (const char *name : operatorNames)
    fields.push_back({name, &logicOperator, required, "Delay and area by width."});
  return fields;
}
const Schema logicOperators{Kind::Object, logicOperatorFields()};
const Schema technologyFile{
    Kind::Object,
    {{"schema", &text, required, "\"tilewright/technology/1\"."},
     {"name", &text, required, "Name; the file is named after it."},
     {"summary", &text, required, "What it is, in a sentence."},
     {"fo4_fs", &expression, required, "Delay of an inverter with four loads, in femtoseconds."},
     {"register_mfo4", &expression, required, "A register's clock to output, and setup."},
     {"margin_mfo4", &expression, required, "Kept free in each cycle: skew and jitter."},
     {"operators", &logicOperators, optional, "Operators of a lane by width."},
     {"operators_of", &text, optional,
      "Instead: the technology whose operators, in FO4, it takes."}}};

const Schema targetFile{
    Kind::Object,
    {{"schema", &text, required, "\"tilewright/target/1\"."},
     {"name", &text, required, "Name; a shipped file is named after it."},
     {"summary", &text, required, "What it is like, in a sentence."},
     {"clock_hz", &expression, required, "Clock in Hz."},
     {"dram", &text, required, "DRAM preset: isa/dram/NAME.yaml."},
     {"technology", &text, optional,
      "Logic technology: isa/technologies/NAME.yaml; logic16ps unless given."},
     {"params", &namedExpressions, required, "Params that differ from their defaults."}}};

const Schema overlayFile{Kind::Object,
                         {{"schema", &text, required, "\"tilewright/overlay/1\"."},
                          {"name", &text, required, "Name of the experiment."},
                          {"summary", &text, required, "What it asks, in a sentence."},
                          {"machine", &patch, optional, "Merge patch on machine.yaml."},
                          {"instructions", &patch, optional,
                           "Merge patches by mnemonic; null removes, a new name adds."},
                          {"timing", &patch, optional, "Merge patch on timing.yaml."},
                          {"dram", &patch, optional, "Merge patch on the DRAM preset."},
                          {"technology", &patch, optional, "Merge patch on the technology."},
                          {"target", &patch, optional, "Merge patch on the target."}}};

[[noreturn]] void wrongType(const yaml::Node &node, const std::string &what,
                            const std::string &expected) {
  if (node.kind == yaml::Node::Kind::Null)
    throw UserError(node.location(), fmt::format("{} has no value", what),
                    fmt::format("it is {}", expected));
  throw UserError(node.location(),
                  fmt::format("{} is {}, not {}", what, yaml::describe(node.kind), expected));
}

void check(const yaml::Node &node, const Schema &schema, const std::string &what);

// The fields that hold maps with this key, among them the parts of an overlay, which patch files.
std::vector<std::string> ownersOf(const std::string &key, const Schema &schema) {
  std::vector<std::string> owners;
  for (const SchemaField &field : schema.fields) {
    const Schema *inner = field.schema;
    if (inner->kind == Schema::Kind::Patch)
      for (const FileSchema &file : fileSchemas())
        if (std::string_view(file.name) == field.name)
          inner = file.schema;
    if (std::any_of(inner->fields.begin(), inner->fields.end(),
                    [&](const SchemaField &f) { return key == f.name; }))
      owners.push_back(fmt::format("'{}'", field.name));
  }
  return owners;
}

void checkObject(const yaml::Node &node, const Schema &schema, const std::string &what) {
  for (size_t i = 0; i < node.keys.size(); ++i) {
    const std::string &key = node.keys[i].text;
    auto field = std::find_if(schema.fields.begin(), schema.fields.end(),
                              [&](const SchemaField &f) { return key == f.name; });
    if (field == schema.fields.end()) {
      std::vector<std::string> names;
      for (const SchemaField &candidate : schema.fields)
        names.push_back(candidate.name);
      std::string near = nearest(key, names);
      const std::vector<std::string> owners = ownersOf(key, schema);
      throw UserError(
          node.keys[i].location(), fmt::format("unknown key '{}' in {}", escape(key), what),
          !owners.empty() ? fmt::format("it belongs under {}", fmt::join(owners, " or "))
          : near.empty()  ? fmt::format("known keys: {}", fmt::join(names, ", "))
                          : fmt::format("did you mean '{}'?", near));
    }
    check(node.items[i], *field->schema, fmt::format("'{}'", key));
  }
  for (const SchemaField &field : schema.fields)
    if (field.required && !node.find(field.name))
      throw UserError(node.location(), fmt::format("key '{}' is missing in {}", field.name, what));
}

void checkTree(const yaml::Node &node, const std::string &what) {
  if (node.kind == yaml::Node::Kind::Map) {
    for (size_t i = 0; i < node.keys.size(); ++i)
      checkTree(node.items[i], fmt::format("'{}'", escape(node.keys[i].text)));
    return;
  }
  if (node.kind != yaml::Node::Kind::Text)
    wrongType(node, what, "a number, an expression or a map");
}

void check(const yaml::Node &node, const Schema &schema, const std::string &what) {
  using Is = yaml::Node::Kind;
  switch (schema.kind) {
  case Kind::Text:
    if (node.kind != Is::Text)
      wrongType(node, what, "a string");
    return;
  case Kind::Expression:
    if (node.kind != Is::Text)
      wrongType(node, what, "a number or an expression");
    return;
  case Kind::Identifier:
    if (node.kind != Is::Text)
      wrongType(node, what, "a string");
    if (!isIdentifier(node.text, false))
      throw UserError(node.location(), fmt::format("{} is '{}', which is not a lowercase name",
                                                   what, escape(node.text)));
    return;
  case Kind::Choice: {
    if (node.kind != Is::Text)
      wrongType(node, what, "a string");
    std::vector<std::string> words(schema.choices.begin(), schema.choices.end());
    if (std::find(words.begin(), words.end(), node.text) != words.end())
      return;
    const auto near = std::find(words.begin(), words.end(), nearest(node.text, words));
    if (near != words.end())
      std::rotate(words.begin(), near, near + 1);
    throw UserError(node.location(), fmt::format("{} is '{}', not one of {}", what,
                                                 escape(node.text), fmt::join(words, ", ")));
  }
  case Kind::Flag:
    if (node.kind != Is::Flag)
      wrongType(node, what, "true or false, without quotes");
    return;
  case Kind::Object:
    if (node.kind != Is::Map)
      wrongType(node, what, "a map");
    return checkObject(node, schema, what);
  case Kind::MapOf:
    if (node.kind != Is::Map)
      wrongType(node, what, "a map");
    for (size_t i = 0; i < node.keys.size(); ++i)
      check(node.items[i], *schema.element, fmt::format("'{}'", escape(node.keys[i].text)));
    return;
  case Kind::ListOf:
    if (node.kind != Is::List)
      wrongType(node, what, "a list");
    for (const yaml::Node &item : node.items)
      check(item, *schema.element, fmt::format("an element of {}", what));
    return;
  case Kind::Tree:
    return checkTree(node, what);
  case Kind::Patch:
    return;
  }
}

} // namespace

extern const Schema registersFile; // registers.cpp

bool isIdentifier(std::string_view word, bool dotted) {
  bool start = true;
  for (char c : word) {
    bool letter = c >= 'a' && c <= 'z', digit = (c >= '0' && c <= '9') || c == '_';
    if (c == '.' && dotted && !start)
      start = true;
    else if (letter || (digit && (!start || dotted)))
      start = false;
    else
      return false;
  }
  return !start && word.size() <= 64;
}

const std::vector<FileSchema> &fileSchemas() {
  static const std::vector<FileSchema> schemas = {
      {"machine", "The machine: params, memories, units, registers, functions.", &machineFile},
      {"instruction", "One instruction: encoding, operands, exact semantics.", &instructionFile},
      {"timing", "Times of the units, in cycles: expressions over params.", &timingFile},
      {"dram", "A DRAM preset: names to expressions.", &dramFile},
      {"technology", "A logic technology: delay and area of operators.", &technologyFile},
      {"target", "A named machine: params, clock, DRAM.", &targetFile},
      {"overlay", "A what-if: merge patches (RFC 7386) on the description.", &overlayFile},
      {"registers", "The registers by which a host drives the machine.", &registersFile,
       "`tilewright isa doc` from isa/lib/registers.cpp"}};
  return schemas;
}

const FileSchema &schemaOf(FileKind kind) { return fileSchemas()[static_cast<size_t>(kind)]; }

void conform(const yaml::Node &file, FileKind kind) { conform(file, schemaOf(kind)); }

void conform(const yaml::Node &file, const FileSchema &schema) {
  if (file.kind != yaml::Node::Kind::Map)
    wrongType(file, "the file", "a map");
  check(file, *schema.schema, fmt::format("the {} file", schema.name));
  const yaml::Node *named = file.find("schema");
  std::string expected = fmt::format("tilewright/{}/1", schema.name);
  if (named && named->text != expected)
    throw UserError(named->location(),
                    fmt::format("the schema is '{}', not '{}'", escape(named->text), expected));
}

} // namespace tilewright::isa
