// Memories, units, formats and functions of machine.yaml.
#include "resolver.h"
#include "tilewright/isa/schema.h"
#include "type.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::isa {

static int64_t evaluateIn(const yaml::Node &scalar, const Params &params, const Limit &limit,
                          const std::string &what) {
  int64_t value = evaluateParams(scalar, lookupIn(params));
  requireWithin(limit, value, scalar.location(), what);
  return value;
}

uint64_t Memory::bankBytes() const {
  uint64_t port = portBytes > 0 ? static_cast<uint64_t>(portBytes) : 1;
  uint64_t count = static_cast<uint64_t>(banks);
  return ((bytes + count - 1) / count + port - 1) / port * port;
}

int64_t StateArray::elements() const {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

std::array<Memory, 3> resolveMemories(const yaml::Node &machine, const Params &params) {
  const char *names[] = {"dram", "spad", "acc"};
  const Limit *bytesOf[] = {&limits::dramBytes, &limits::spadBytes, &limits::accBytes};
  const Limit *banksOf[] = {nullptr, &limits::spadBanks, &limits::accBanks};
  const Limit *portOf[] = {nullptr, &limits::spadPort, &limits::accPort};
  std::array<Memory, 3> memories;
  for (size_t i = 0; i < memories.size(); ++i) {
    const yaml::Node &node = *machine.find("memories")->find(names[i]);
    Memory &memory = memories[i];
    memory.space = static_cast<Space>(i);
    memory.name = names[i];
    memory.summary = node.find("summary")->text;
    memory.addressBytes = node.find("address")->text == "byte" ? 1 : 4;
    const yaml::Node &bytes = *node.find("bytes");
    memory.bytes = static_cast<uint64_t>(
        evaluateIn(bytes, params, *bytesOf[i], fmt::format("the size of {}", names[i])));
    if (memory.bytes % static_cast<uint64_t>(memory.addressBytes) != 0)
      throw UserError(bytes.location(),
                      fmt::format("the {} bytes of {} are not whole elements of {} bytes",
                                  memory.bytes, names[i], memory.addressBytes));
    for (const char *key : {"port", "banks"})
      if (memory.space == Space::Dram && node.find(key))
        throw UserError(node.find(key)->location(), fmt::format("dram has no '{}'", key),
                        "the bus is bus_bytes wide; the banks are those of the DRAM preset");
    if (const yaml::Node *port = node.find("port"))
      memory.portBytes = memory.addressBytes *
                         static_cast<int>(evaluateIn(*port, params, *portOf[i],
                                                     fmt::format("the port of {}", names[i])));
    if (const yaml::Node *banks = node.find("banks")) {
      memory.banks = static_cast<int>(evaluateIn(
          *banks, params, *banksOf[i], fmt::format("the number of banks of {}", names[i])));
      if (memory.bankBytes() * static_cast<uint64_t>(memory.banks - 1) >= memory.bytes)
        throw UserError(banks->location(),
                        fmt::format("{} banks of {} bytes (whole port widths) leave the last bank "
                                    "of {} empty: it has {} bytes",
                                    memory.banks, memory.bankBytes(), names[i], memory.bytes));
    }
  }
  return memories;
}

static Type storedType(const yaml::Node &node) {
  Type type;
  if (!parseType(node.text, type))
    throw UserError(node.location(), fmt::format("'{}' is not a type", escape(node.text)),
                    "types are i1 to i32 and u1 to u31");
  // An unsigned one takes a sign bit.
  requireWithin(limits::registerBits, type.bits + (type.isSigned ? 0 : 1), node.location(),
                fmt::format("the signed width of a register of type {}", type.str()));
  return type;
}

static void resolveState(const yaml::Node &node, const std::string &name, Unit &unit,
                         const Params &params) {
  Type type = storedType(*node.find("type"));
  int64_t reset = evaluateParams(*node.find("reset"), lookupIn(params));
  if (reset < type.least() || reset > type.greatest())
    throw UserError(node.find("reset")->location(),
                    fmt::format("the reset value {} does not fit in {}", reset, type.str()));
  const yaml::Node *size = node.find("size");
  if (!size) {
    unit.registers.push_back(
        {name, node.find("summary")->text, type, reset, static_cast<int>(unit.registers.size())});
    return;
  }
  StateArray array{name,  node.find("summary")->text,          type, {},
                   reset, static_cast<int>(unit.arrays.size())};
  int64_t elements = 1;
  requireWithin(limits::dimensions, static_cast<int64_t>(size->items.size()), size->location(),
                fmt::format("the number of extents of '{}'", name));
  for (const yaml::Node &extent : size->items) {
    array.sizes.push_back(
        evaluateIn(extent, params, limits::elements, fmt::format("an extent of '{}'", name)));
    elements *= array.sizes.back();
    requireWithin(limits::elements, elements, extent.location(),
                  fmt::format("the number of elements of '{}'", name));
  }
  unit.arrays.push_back(std::move(array));
}

std::vector<Unit> resolveUnits(const yaml::Node &machine, const Params &params) {
  const yaml::Node &nodes = *machine.find("units");
  std::vector<Unit> units;
  int loads = 1; // when another one comes
  for (size_t i = 0; i < nodes.keys.size(); ++i) {
    const yaml::Node &node = nodes.items[i];
    Unit unit;
    unit.name = nodes.keys[i].text;
    unit.summary = node.find("summary")->text;
    unit.kind = enumeratorOf<UnitTemplate>(templateNames, node.find("template")->text);
    unit.index = static_cast<int>(i);
    const bool isLoad = unit.kind == UnitTemplate::DmaLoad;
    const auto same = std::find_if(units.rbegin(), units.rend(),
                                   [&](const Unit &other) { return other.kind == unit.kind; });
    if (same != units.rend() && isLoad)
      requireWithin(limits::loadUnits, ++loads, node.location(),
                    fmt::format("the number of load DMAs with '{}'", unit.name));
    else if (same != units.rend())
      throw UserError(
          node.location(),
          fmt::format("units '{}' and '{}' have the same template: there is one unit of each",
                      same->name, unit.name));
    bool first = i == 0, sequencer = unit.kind == UnitTemplate::Sequencer;
    if (first != sequencer)
      throw UserError(nodes.keys[i].location(), "the first unit, and no other, is the sequencer");
    const yaml::Node *queue = node.find("queue");
    if (sequencer == (queue != nullptr))
      throw UserError(node.location(),
                      sequencer ? "the sequencer has no queue"
                                : fmt::format("key 'queue' is missing in '{}'", unit.name));
    if (queue)
      unit.queueDepth = static_cast<int>(
          evaluateIn(*queue, params, limits::queue, fmt::format("the queue of '{}'", unit.name)));
    units.push_back(std::move(unit));
  }
  if (units.empty())
    throw UserError(nodes.location(), "there is no unit");

  const yaml::Node &state = *machine.find("state");
  for (size_t i = 0; i < state.keys.size(); ++i) {
    auto unit = std::find_if(units.begin(), units.end(),
                             [&](const Unit &u) { return u.name == state.keys[i].text; });
    if (unit == units.end())
      throw UserError(state.keys[i].location(),
                      fmt::format("there is no unit '{}'", escape(state.keys[i].text)));
    if (unit->kind == UnitTemplate::Sequencer)
      throw UserError(state.keys[i].location(),
                      "the sequencer has base registers (param base_registers) and no other state");
    for (size_t j = 0; j < state.items[i].keys.size(); ++j) {
      const yaml::Node &name = state.items[i].keys[j];
      if (params.count(name.text))
        throw UserError(name.location(),
                        fmt::format("the register '{}' has the name of a param", name.text));
      resolveState(state.items[i].items[j], name.text, *unit, params);
    }
    const SourceLocation &location = state.items[i].location();
    requireWithin(limits::registers, static_cast<int64_t>(unit->registers.size()), location,
                  fmt::format("the number of scalar registers of '{}'", unit->name));
    requireWithin(limits::arrays, static_cast<int64_t>(unit->arrays.size()), location,
                  fmt::format("the number of array registers of '{}'", unit->name));
  }
  return units;
}

std::map<std::string, Format> resolveFormats(const yaml::Node &machine, const Params &params) {
  const yaml::Node &nodes = *machine.find("formats");
  std::map<std::string, Format> formats;
  int64_t semaphores = lookupIn(params)("semaphores", nodes.location());
  for (size_t i = 0; i < nodes.keys.size(); ++i) {
    const yaml::Node &fields = *nodes.items[i].find("fields");
    Format format;
    for (size_t j = 0; j < fields.keys.size(); ++j) {
      const std::string &name = fields.keys[j].text;
      HeaderField &field = name == "op" ? format.op : name == "wait" ? format.wait : format.signal;
      field.low = format.bits;
      field.width = static_cast<int>(evaluateIn(
          fields.items[j], params, name == "op" ? limits::opcodeBits : limits::semaphores,
          fmt::format("the width of '{}'", name)));
      if (name != "op" && field.width != semaphores)
        throw UserError(
            fields.items[j].location(),
            fmt::format("'{}' has {} bits for {} semaphores", name, field.width, semaphores));
      format.bits += field.width;
    }
    if (format.op.low != 0)
      throw UserError(fields.location(),
                      "'op' is not the first field: it must stand at bit 0 in every format");
    formats[nodes.keys[i].text] = format;
  }
  if (formats.at("unit").op.width != formats.at("control").op.width)
    throw UserError(nodes.location(), "the opcode has not the same width in every format");
  return formats;
}

Functions resolveFunctions(const yaml::Node &machine, const Params &params) {
  const yaml::Node &nodes = *machine.find("functions");
  Functions functions;
  for (size_t i = 0; i < nodes.keys.size(); ++i) {
    Function function;
    function.name = nodes.keys[i].text;
    const yaml::Node &args = *nodes.items[i].find("args");
    for (size_t j = 0; j < args.keys.size(); ++j) {
      Type type;
      if (!parseType(args.items[j].text, type))
        throw UserError(args.items[j].location(),
                        fmt::format("'{}' is not a type", escape(args.items[j].text)),
                        "types are i1 to i128 and u1 to u127");
      function.arguments.emplace_back(args.keys[j].text, type);
    }
    function.scalar = nodes.items[i].find("expr");
    function.body = parseExpression(*function.scalar);
    functions.emplace(function.name, std::move(function));
  }
  Scope scope;
  scope.params = &params;
  scope.functions = &functions;
  for (const auto &[name, function] : functions) {
    ExprPool pool;
    ExprBuilder(pool, scope).check(function);
  }
  return functions;
}

} // namespace tilewright::isa
