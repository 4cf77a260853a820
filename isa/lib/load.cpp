// From files to an Isa.
#include "resolver.h"
#include "tilewright/isa/roles.h"
#include "tilewright/isa/schema.h"
#include "tilewright/support/digest.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::isa {

// Friend of Isa: fills it in, in the order in which the parts depend on each other.
class IsaBuilder {
public:
  Isa build(const LoadOptions &options) {
    requiresRoleSemantics_ = options.requiresRoleSemantics;
    const Sources sources = readSources(options);
    const yaml::Node &identity = *sources.machine.find("isa");
    isa_.name_ = identity.find("name")->text;
    isa_.version_ = identity.find("version")->text;
    isa_.target_ = options.target;
    isa_.params_ = resolveParams(sources.machine, sources.target);
    isa_.memories_ = resolveMemories(sources.machine, isa_.params_);
    isa_.units_ = resolveUnits(sources.machine, isa_.params_);
    describe(sources.machine);
    auto formats = resolveFormats(sources.machine, isa_.params_);
    Functions functions = resolveFunctions(sources.machine, isa_.params_);
    isa_.opcodeBits_ = formats.at("unit").op.width;
    isa_.instructionBytes_ = static_cast<int>(
        lookupIn(isa_.params_)("instruction_bytes", sources.machine.find("params")->location()));
    checkParams(sources.machine);
    checkBursts(sources);
    checkTiles(sources.machine);
    instructions(sources, Machine{isa_.params_, isa_.memories_, isa_.units_, formats, functions});
    checkTemplates(sources.machine);
    timing(sources);
    isa_.registers_ = resolveRegisters(sources.registers);
    isa_.canonical_ = canonicalText(isa_);
    isa_.hash_ = sha256(isa_.canonical_);
    return std::move(isa_);
  }

private:
  void instructions(const Sources &sources, const Machine &machine) {
    for (const auto &[name, file] : sources.instructions) {
      requireWithin(limits::instructions, static_cast<int64_t>(isa_.instructions_.size()) + 1,
                    file.location(), fmt::format("the number of instructions with '{}'", name));
      isa_.instructions_.push_back(resolveInstruction(file, machine));
      isa_.instructions_.back().index = static_cast<int>(isa_.instructions_.size()) - 1;
      isa_.byName_[name] = isa_.instructions_.back().index;
    }
    roles(sources, machine);
    opcodes(sources);
    if (isa_.instructions_.empty())
      throw UserError(sources.machine.location(), "there are no instructions");
    // A program must be able to end, and a unit's registers to be set.
    if (std::none_of(isa_.instructions_.begin(), isa_.instructions_.end(),
                     [](const Instruction &i) { return i.control == Control::Halt; }))
      throw UserError(sources.machine.location(),
                      "no instruction has control \"halt\": no program could end");
    for (const Unit &unit : isa_.units_) {
      bool settable = std::any_of(
          isa_.instructions_.begin(), isa_.instructions_.end(),
          [&](const Instruction &i) { return i.unit == unit.index && !i.sets.empty(); });
      if (!unit.registers.empty() && !settable)
        throw UserError(
            sources.machine.find("state")->find(unit.name)->location(),
            fmt::format("unit '{}' has scalar registers, but no instruction sets them", unit.name));
    }
  }

  // What the manual says of params and functions.
  void describe(const yaml::Node &machine) {
    const yaml::Node &params = *machine.find("params"), &functions = *machine.find("functions");
    for (size_t i = 0; i < params.keys.size(); ++i)
      isa_.paramSummaries_[params.keys[i].text] = params.items[i].find("summary")->text;
    for (size_t i = 0; i < functions.keys.size(); ++i) {
      const yaml::Node &function = functions.items[i], &args = *function.find("args");
      std::string signature;
      for (size_t j = 0; j < args.keys.size(); ++j)
        signature +=
            fmt::format("{}{}: {}", j == 0 ? "" : ", ", args.keys[j].text, args.items[j].text);
      isa_.functions_.push_back({functions.keys[i].text, function.find("summary")->text, signature,
                                 function.find("expr")->text});
    }
  }

  void roles(const Sources &sources, const Machine &machine) {
    auto placeOf = [&](const Instruction &instruction) {
      return sources.instructions.at(instruction.name).find("role")->location();
    };
    for (const Instruction &instruction : isa_.instructions_) {
      if (!instruction.role)
        continue;
      const auto [known, isNew] = isa_.byRole_.emplace(*instruction.role, instruction.index);
      if (isNew) {
        roleSemantics(instruction, sources, machine, placeOf(instruction));
        continue;
      }
      const Instruction &first = isa_.instructions_[static_cast<size_t>(known->second)];
      throw UserError(placeOf(instruction),
                      fmt::format("'{}' has role '{}', and so has '{}' at {}", instruction.name,
                                  infoOf(*instruction.role).name, first.name, placeOf(first).str()),
                      "take the role from one of them, or remove it");
    }
    for (size_t i = 0; i < isa::roles().size(); ++i)
      if (auto shipped = sources.shippedRoles.find(isa::roles()[i].name);
          shipped != sources.shippedRoles.end())
        isa_.shippedRoles_[static_cast<Role>(i)] = shipped->second.first;
  }

  // The compiler takes an instruction with a role for what the description's own one computes.
  void roleSemantics(const Instruction &instruction, const Sources &sources, const Machine &machine,
                     const SourceLocation &location) const {
    const auto shipped = sources.shippedRoles.find(infoOf(*instruction.role).name);
    if (!requiresRoleSemantics_ || shipped == sources.shippedRoles.end() || !shipped->second.second)
      return;
    const auto &[name, file] = shipped->second;
    const std::string own = semanticsText(instruction, isa_, ""),
                      wanted = semanticsText(resolveInstruction(*file, machine), isa_, "");
    if (own == wanted)
      return;
    const auto differs = std::mismatch(own.begin(), own.end(), wanted.begin(), wanted.end());
    auto lineAt = [](const std::string &text, std::string::const_iterator at) {
      const auto offset = static_cast<size_t>(at - text.begin());
      if (offset >= text.size())
        return std::string("nothing more");
      const size_t begin = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
      return "'" + text.substr(begin, text.find('\n', offset) - begin) + "'";
    };
    throw UserError(location,
                    fmt::format("'{}' has role '{}', but computes something else than '{}' without "
                                "overlays: {}, not {}",
                                instruction.name, infoOf(*instruction.role).name, name,
                                lineAt(own, differs.first), lineAt(wanted, differs.second)),
                    "take the role away: what an instruction of no role computes decides where it "
                    "is taken");
  }

  void opcodes(const Sources &sources) {
    isa_.byOpcode_.assign(size_t(1) << isa_.opcodeBits_, -1);
    std::vector<bool> taken(isa_.byOpcode_.size(), false);
    for (const Instruction &instruction : isa_.instructions_)
      taken[static_cast<size_t>(instruction.opcode)] = true;
    auto free = std::find(taken.begin() + 1, taken.end(), false) - taken.begin();
    for (const Instruction &instruction : isa_.instructions_) {
      int &slot = isa_.byOpcode_[static_cast<size_t>(instruction.opcode)];
      if (slot >= 0)
        throw UserError(
            sources.instructions.at(instruction.name).find("encode")->find("op")->location(),
            fmt::format("'{}' and '{}' have the same opcode {:#04x}",
                        isa_.instructions_[static_cast<size_t>(slot)].name, instruction.name,
                        instruction.opcode),
            static_cast<size_t>(free) < taken.size() ? fmt::format("{:#04x} is free", free) : "");
      slot = instruction.index;
    }
  }

  // What the compiler and the simulators read; an overlay can take a param away.
  void checkParams(const yaml::Node &machine) const {
    for (const char *name : {"rows", "cols", "lanes", "channels", "bus_bytes", "burst_bytes",
                             "semaphores", "semaphore_max", "base_registers", "loop_depth"})
      if (!isa_.params_.count(name))
        throw UserError(machine.find("params")->location(),
                        fmt::format("there is no param '{}'", name), "every machine has it");
  }

  // Whole beats, as many as a burst of the bus may have.
  void checkBursts(const Sources &sources) const {
    const yaml::Node *given = sources.target.find("params")->find("burst_bytes");
    const yaml::Node &burst =
        given ? *given : *sources.machine.find("params")->find("burst_bytes")->find("default");
    requireWithin(limits::burstBeats, param("burst_bytes") / param("bus_bytes"), burst.location(),
                  "the number of beats of a burst");
  }

  // A memory that cannot hold what one step of the array works on is no machine.
  void checkTiles(const yaml::Node &machine) const {
    int64_t rows = param("rows"), cols = param("cols");
    const Memory &spad = isa_.memory(Space::Spad);
    auto need = static_cast<uint64_t>(rows * cols + rows);
    if (spad.bytes < need)
      throw UserError(machine.find("memories")->find("spad")->find("bytes")->location(),
                      fmt::format("the scratchpad has {} bytes and cannot hold one weight tile and "
                                  "one row of activations, {} bytes",
                                  spad.bytes, need),
                      "make the scratchpad larger or the array smaller");
    static_assert(limits::accBytes.least >= limits::cols.greatest * 4); // they hold one row
  }

  // The microarchitecture that is timed and implemented: one unit of each template, ports that keep
  // the array busy.
  void checkTemplates(const yaml::Node &machine) const {
    const yaml::Node &units = *machine.find("units");
    for (const UnitTemplate kind : {UnitTemplate::DmaLoad, UnitTemplate::DmaStore,
                                    UnitTemplate::Matrix, UnitTemplate::Vector}) {
      auto count = std::count_if(isa_.units_.begin(), isa_.units_.end(),
                                 [&](const Unit &unit) { return unit.kind == kind; });
      if (count == 0 || (count > 1 && kind != UnitTemplate::DmaLoad))
        throw UserError(units.location(),
                        fmt::format("the machine has {} units of template {}", count, nameOf(kind)),
                        "give it exactly one");
    }
    auto port = [&](const char *space) {
      return machine.find("memories")->find(space)->location();
    };
    const int64_t wide = std::max<int64_t>({param("rows"), param("cols"), 4});
    if (isa_.memory(Space::Spad).portBytes < wide)
      throw UserError(port("spad"),
                      fmt::format("a scratchpad port of {} bytes is below the {} bytes that the "
                                  "matrix unit reads a cycle",
                                  isa_.memory(Space::Spad).portBytes, wide),
                      "make spad_port at least max(rows, cols)");
    const Memory &acc = isa_.memory(Space::Acc);
    if (acc.portBytes < param("cols") * acc.addressBytes)
      throw UserError(port("acc"),
                      fmt::format("an accumulator port of {} elements is below the {} that the "
                                  "matrix unit writes a cycle",
                                  acc.portBytes / acc.addressBytes, param("cols")),
                      "make acc_port at least cols");
  }
  int64_t param(const char *name) const { return isa_.params_.at(name); }

  void timing(const Sources &sources) {
    const yaml::Node &clock = *sources.target.find("clock_hz");
    isa_.clockHz_ = evaluateParams(clock, lookupIn(isa_.params_));
    requireWithin(limits::clockHz, isa_.clockHz_, clock.location(), "the clock in Hz");
    isa_.dram_ = sources.target.find("dram")->text;
    isa_.technology_ = resolveTechnology(sources.technology, isa_.params_);
    isa_.timing_ = resolveTiming(sources.timing, isa_.params_);
    resolvePipelines(sources, isa_, isa_.lane_, isa_.instructions_);
    isa_.dramParameters_ = resolveDram(sources.dram, isa_.params_, isa_.clockHz_);
    std::string text = fmt::format("clock {}\ndram {}\n", isa_.clockHz_, isa_.dram_);
    for (const auto *numbers : {&isa_.timing_, &isa_.dramParameters_})
      for (const auto &[name, value] : *numbers)
        text += fmt::format("{} = {}\n", name, value);
    for (const Instruction &instruction : isa_.instructions_)
      if (instruction.pipeline.latency > 0)
        text += fmt::format("latency {} = {}\n", instruction.name, instruction.pipeline.latency);
    isa_.timingHash_ = sha256(text);
  }

  bool requiresRoleSemantics_ = false;
  Isa isa_;
};

Isa load(const LoadOptions &options) { return IsaBuilder().build(options); }

int64_t Isa::param(std::string_view name) const {
  auto it = params_.find(name);
  if (it == params_.end())
    throw std::out_of_range("the ISA has no param " + std::string(name));
  return it->second;
}

const Unit *Isa::findUnit(std::string_view name) const {
  auto it = std::find_if(units_.begin(), units_.end(),
                         [&](const Unit &unit) { return unit.name == name; });
  return it == units_.end() ? nullptr : &*it;
}

const Instruction *Isa::find(std::string_view name) const {
  auto it = byName_.find(name);
  return it == byName_.end() ? nullptr : &instructions_[static_cast<size_t>(it->second)];
}

const Instruction *Isa::withRole(Role role) const {
  auto it = byRole_.find(role);
  return it == byRole_.end() ? nullptr : &instructions_[static_cast<size_t>(it->second)];
}

const std::string &Isa::shippedWithRole(Role role) const {
  static const std::string none;
  auto it = shippedRoles_.find(role);
  return it == shippedRoles_.end() ? none : it->second;
}

} // namespace tilewright::isa
