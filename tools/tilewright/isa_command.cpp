// tilewright isa: check, show, list, limits, area, doc, diff, vectors, RTL and registers of the
// resolved description.
#include "isa_command.h"

#include "tilewright/explore/logic.h"
#include "tilewright/explore/technology.h"
#include "tilewright/isa/documents.h"
#include "tilewright/isa/isa.h"
#include "tilewright/isa/vectors.h"
#include "tilewright/rtl/generate.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"
#include "tilewright/support/outputs.h"
#include "tilewright/support/table.h"
#include "whole_number.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

namespace tilewright {

namespace {

struct IsaOptions {
  isa::LoadOptions load;
  std::string from;        // diff
  std::string instruction; // show, vectors
  std::string output;      // doc, vectors, rtl, registers
  std::string format;      // registers
  std::string schemas;     // doc
  int count = 16;          // vectors
  uint64_t seed = 1;       // vectors
  bool isJson = false;     // area
};

using Options = std::shared_ptr<IsaOptions>;

void addLoadOptions(CLI::App &command, const Options &options) {
  command.add_option("--target", options->load.target, "Name or file of the target description")
      ->capture_default_str();
  command
      .add_option("--what-if", options->load.overlays,
                  "Overlay file on the description; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// The instruction of that name. Names the nearest when there is none.
const isa::Instruction &findInstruction(const isa::Isa &isa, const std::string &name) {
  if (const isa::Instruction *found = isa.find(name))
    return *found;
  std::vector<std::string> names;
  for (const isa::Instruction &instruction : isa.instructions())
    names.push_back(instruction.name);
  std::string near = nearest(name, names);
  throw UserError({"", 0, 0, ""}, fmt::format("there is no instruction '{}'", escape(name)),
                  near.empty() ? "`tilewright isa list` names them"
                               : fmt::format("did you mean '{}'?", near));
}

void checkOne(const isa::LoadOptions &load) {
  isa::Isa isa = isa::load(load);
  writeFile("-", fmt::format("{}: {} instructions, {} units, {} parameters, hash {}\n",
                             escape(load.target), isa.instructions().size(), isa.units().size(),
                             isa.params().size(), isa.hash()));
}

void addCheck(CLI::App &isa, const Options &options) {
  CLI::App *command =
      isa.add_subcommand("check", "Check a target's description, or those of all shipped targets");
  addLoadOptions(*command, options);
  command->callback([command, options] {
    if (command->count("--target") > 0)
      return checkOne(options->load);
    for (const std::string &target : isa::shippedTargets(options->load)) {
      isa::LoadOptions load = options->load;
      load.target = target;
      checkOne(load);
    }
  });
}

void addShow(CLI::App &isa, const Options &options) {
  CLI::App *command =
      isa.add_subcommand("show", "Print the manual's page of an instruction, or of the machine");
  command->add_option("INSTRUCTION", options->instruction, "Mnemonic; the machine when left out");
  addLoadOptions(*command, options);
  command->callback([options] {
    isa::Isa isa = isa::load(options->load);
    writeFile("-", options->instruction.empty()
                       ? isa::manualIndex(isa)
                       : isa::manualPage(isa, findInstruction(isa, options->instruction)));
  });
}

Table withoutTitles(size_t columns) {
  Table table;
  for (size_t i = 0; i < columns; ++i)
    table.column("", Table::Align::Left);
  return table;
}

void addList(CLI::App &isa, const Options &options) {
  CLI::App *command =
      isa.add_subcommand("list", "List the instructions: opcode, mnemonic, unit, summary");
  addLoadOptions(*command, options);
  command->callback([options] {
    isa::Isa isa = isa::load(options->load);
    std::vector<const isa::Instruction *> sorted;
    for (const isa::Instruction &instruction : isa.instructions())
      sorted.push_back(&instruction);
    std::sort(sorted.begin(), sorted.end(),
              [](const auto *a, const auto *b) { return a->opcode < b->opcode; });
    Table table = withoutTitles(4);
    for (const isa::Instruction *instruction : sorted)
      table.row({fmt::format("{:#04x}", instruction->opcode), instruction->name,
                 isa.units()[static_cast<size_t>(instruction->unit)].name, instruction->summary});
    writeFile("-", table.str());
  });
}

void addLimits(CLI::App &isa, const Options &) {
  CLI::App *command = isa.add_subcommand(
      "limits", "List what a description may ask for, at least and at most, and why");
  command->callback([] {
    Table table = withoutTitles(3);
    for (const isa::Limit &limit : isa::allLimits())
      table.row({std::string(limit.name), fmt::format("{}..{}", limit.least, limit.greatest),
                 std::string(limit.reason)});
    writeFile("-", table.str());
  });
}

// Whether a file says that it is a page of a manual; one that cannot be read does not.
bool isGenerated(const std::filesystem::path &file) {
  const std::string banner = "<!-- Generated by `tilewright isa doc`";
  std::string start(banner.size(), '\0');
  std::ifstream stream(file, std::ios::binary);
  return stream.read(start.data(), static_cast<std::streamsize>(start.size())) && start == banner;
}

// Pages in the directory, if there is one, of instructions that no longer exist.
std::vector<std::filesystem::path> stalePages(const std::string &directory,
                                              const std::vector<isa::Document> &documents) {
  std::vector<std::filesystem::path> stale;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool isCurrent =
        std::any_of(documents.begin(), documents.end(),
                    [&](const isa::Document &document) { return document.name == name; });
    std::error_code unknown; // of what the entry is
    if (!isCurrent && entry->is_regular_file(unknown) && isGenerated(entry->path()))
      stale.push_back(entry->path());
  }
  return stale;
}

void addDocuments(const char *option, const std::string &directory,
                  const std::vector<isa::Document> &documents, Outputs &outputs) {
  outputs.directory(option, directory);
  for (const isa::Document &document : documents) {
    const std::string file = (std::filesystem::path(directory) / document.name).string();
    outputs.file(option, file);
    outputs.write(file, document.text);
  }
}

void writeDocuments(const IsaOptions &options) {
  Outputs outputs;
  outputs.directory("-o", options.output);
  outputs.directory("--schemas", options.schemas);
  const std::vector<isa::Document> manual = isa::manual(isa::load(options.load));
  const std::vector<isa::Document> schemas =
      options.schemas.empty() ? std::vector<isa::Document>() : isa::jsonSchemas();
  addDocuments("-o", options.output, manual, outputs);
  addDocuments("--schemas", options.schemas, schemas, outputs);
  const std::vector<std::filesystem::path> stale = stalePages(options.output, manual);
  outputs.commit();
  for (const std::filesystem::path &page : stale) {
    std::error_code kept; // the manual is whole with a page too many
    std::filesystem::remove(page, kept);
  }
  fmt::print(stderr, "wrote {} files to {}\n", manual.size(), escape(options.output, 4096));
  if (!schemas.empty())
    fmt::print(stderr, "wrote {} files to {}\n", schemas.size(), escape(options.schemas, 4096));
}

nlohmann::ordered_json areaJson(const explore::Machine &machine, const explore::Area &area) {
  nlohmann::ordered_json json{{"nand2", area.nand2},
                              {"flip_flops", area.flipFlops},
                              {"sram_bits", area.sramBits},
                              {"mm2", area.mm2},
                              {"slowest_path_fo4", explore::slowestPathOf(machine)},
                              {"reached_hz", std::llround(explore::clockOf(machine))}};
  for (const explore::LogicBlock &block : explore::logicOf(machine))
    json["blocks"].push_back({{"name", block.name},
                              {"nand2", std::llround(block.nand2)},
                              {"flip_flops", std::llround(block.flipFlops)}});
  for (const explore::RamMacros &ram : explore::ramsOf(machine))
    json["ram"].push_back({{"count", ram.count}, {"rows", ram.rows}, {"bits", ram.bits}});
  return json;
}

// What each block is estimated to take; under overlays, beside what it takes without them.
void writeArea(const IsaOptions &options) {
  const explore::Technology technology = explore::readTechnology("");
  const explore::Machine machine = explore::machineOf(isa::load(options.load));
  const explore::Area area = explore::areaOf(machine, technology);
  if (options.isJson)
    return writeFile("-", areaJson(machine, area).dump(2) + "\n");
  isa::LoadOptions base = options.load;
  base.overlays.clear();
  const bool compares = !options.load.overlays.empty();
  const explore::Machine before = compares ? explore::machineOf(isa::load(base)) : machine;
  const explore::Area areaBefore = explore::areaOf(before, technology);
  Table table;
  table.column("block", Table::Align::Left);
  for (const char *title : {"flip-flops", "NAND2"})
    table.column(title, Table::Align::Right);
  if (compares)
    table.column("without", Table::Align::Right);
  const auto row = [&](const std::string &name, const std::string &flipFlops,
                       const std::string &after, const std::string &without) {
    std::vector<std::string> cells{name, flipFlops, after};
    if (compares)
      cells.push_back(without);
    table.row(cells);
  };
  const auto number = [](double value) { return fmt::format("{:.0f}", value); };
  const std::vector<explore::LogicBlock> blocks = explore::logicOf(machine),
                                         without = explore::logicOf(before);
  for (size_t i = 0; i < blocks.size(); ++i)
    row(blocks[i].name, number(blocks[i].flipFlops), number(blocks[i].nand2),
        number(without[i].nand2));
  table.rule();
  row("logic", std::to_string(area.flipFlops), std::to_string(area.nand2),
      std::to_string(areaBefore.nand2));
  row("RAM macros, bits", "", std::to_string(area.sramBits), std::to_string(areaBefore.sramBits));
  row(fmt::format("mm2 in {}", technology.name), "", fmt::format("{:.3f}", area.mm2),
      fmt::format("{:.3f}", areaBefore.mm2));
  table.rule();
  const auto path = [](const explore::Machine &of) {
    return fmt::format("{:.0f}", explore::slowestPathOf(of));
  };
  const auto clock = [](const explore::Machine &of) {
    return fmt::format("{:.0f}", explore::clockOf(of) / 1e6);
  };
  row("slowest path, FO4", "", path(machine), path(before));
  row(fmt::format("MHz that it allows ({:.0f} described)", double(machine.clockHz) / 1e6), "",
      clock(machine), clock(before));
  writeFile("-", table.str());
}

void addArea(CLI::App &isa, const Options &options) {
  CLI::App *command = isa.add_subcommand(
      "area",
      "Estimate area and clock: each block, RAM, the slowest path; and what overlays change");
  command->add_flag("--json", options->isJson, "As JSON, of the machine with its overlays alone");
  addLoadOptions(*command, options);
  command->callback([options] { writeArea(*options); });
}

void addDoc(CLI::App &isa, const Options &options) {
  CLI::App *command = isa.add_subcommand(
      "doc", "Write the manual, a page an instruction, and the schemas for editors");
  options->output = "docs/isa-manual";
  command->add_option("-o,--output", options->output, "Directory of the manual")
      ->capture_default_str();
  command->add_option("--schemas", options->schemas, "Directory to write the JSON schemas to");
  addLoadOptions(*command, options);
  command->callback([options] { writeDocuments(*options); });
}

void addDiff(CLI::App &isa, const Options &options) {
  CLI::App *command = isa.add_subcommand(
      "diff",
      "Print what a target with overlays differs in from another, or from itself without them");
  const std::string reference = isa::LoadOptions().target;
  command->add_option("--from", options->from,
                      fmt::format("Target to compare with, without overlays (default: the same "
                                  "target where there are overlays, else {})",
                                  reference));
  addLoadOptions(*command, options);
  command->callback([options, reference] {
    isa::LoadOptions base = options->load;
    base.overlays.clear();
    if (!options->from.empty())
      base.target = options->from;
    else if (options->load.overlays.empty())
      base.target = reference;
    const std::string text = isa::differences(isa::load(base), isa::load(options->load));
    writeFile("-", text);
    if (text.empty())
      fmt::print(stderr, "'{}' is the same machine as '{}'{}\n", escape(options->load.target),
                 escape(base.target), options->load.overlays.empty() ? "" : " without overlays");
  });
}

void addVectors(CLI::App &isa, const Options &options) {
  CLI::App *command = isa.add_subcommand(
      "vectors", "Write test vectors (JSON) of an instruction, or of all that the units execute");
  options->output = "-";
  command->add_option("INSTRUCTION", options->instruction, "Mnemonic; all when left out");
  command->add_option("-o,--output", options->output, "File to write (default: standard output)");
  command->add_option("--count", options->count, "Vectors an instruction")
      ->check(wholeNumber(1, 10000))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of the random choices")
      ->check(wholeNumber(0, UINT64_MAX))
      ->capture_default_str();
  addLoadOptions(*command, options);
  command->callback([options] {
    Outputs outputs;
    outputs.file("-o", options->output);
    isa::Isa isa = isa::load(options->load);
    std::vector<const isa::Instruction *> chosen;
    for (const isa::Instruction &instruction : isa.instructions())
      if (instruction.control == isa::Control::None)
        chosen.push_back(&instruction);
    if (!options->instruction.empty()) {
      const isa::Instruction &named = findInstruction(isa, options->instruction);
      if (named.control != isa::Control::None)
        throw UserError({"", 0, 0, ""},
                        fmt::format("'{}' is control flow and has no vectors", named.name));
      chosen = {&named};
    }
    outputs.write(options->output, isa::vectorsJson(isa, chosen, options->count, options->seed));
    outputs.commit();
  });
}

// The files, and `tilewright.f`: those to compile in the order in which a tool reads them.
void writeRtl(const IsaOptions &options) {
  Outputs outputs;
  outputs.directory("-o", options.output);
  const std::vector<rtl::SourceFile> files = rtl::generate(isa::load(options.load));
  auto write = [&](const std::string &name, const std::string &text) {
    const std::string file = (std::filesystem::path(options.output) / name).string();
    outputs.file("-o", file);
    outputs.write(file, text);
  };
  std::string list;
  for (const rtl::SourceFile &file : files) {
    write(file.name, file.origin + file.text);
    if (file.isCompiled)
      list += file.name + "\n";
  }
  write("tilewright.f", list);
  outputs.commit();
  fmt::print(stderr, "wrote {} files to {}\n", files.size() + 1, escape(options.output, 4096));
}

void addRtl(CLI::App &isa, const Options &options) {
  CLI::App *command = isa.add_subcommand(
      "rtl", "Write the SystemVerilog of a target, for a hardware flow of your own");
  command->add_option("-o,--output", options->output, "Directory to write to")->required();
  addLoadOptions(*command, options);
  command->callback([options] { writeRtl(*options); });
}

std::string registersAs(const std::string &format, const isa::RegisterMap &map) {
  if (format == "sv")
    return isa::registersPackage(map);
  if (format == "c")
    return isa::registersHeader(map);
  return format == "json" ? isa::registersJson(map) : isa::registersMarkdown(map);
}

void addRegisters(CLI::App &isa, const Options &options) {
  CLI::App *command = isa.add_subcommand(
      "registers", "Write the map of the registers by which a host drives the machine");
  options->output = "-";
  options->format = "markdown";
  command
      ->add_option("--format", options->format,
                   "As a package of SystemVerilog, a header of C, the manual's page, or JSON")
      ->check(CLI::IsMember({"sv", "c", "markdown", "json"}))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "File to write (default: standard output)");
  command->callback([options] {
    Outputs outputs;
    outputs.file("-o", options->output);
    outputs.write(options->output,
                  registersAs(options->format, isa::load(options->load).registers()));
    outputs.commit();
  });
}

} // namespace

void addIsaCommands(CLI::App &app) {
  CLI::App *isa = app.add_subcommand("isa", "Ask the ISA description");
  isa->require_subcommand(1);
  for (auto add : {addCheck, addShow, addList, addLimits, addArea, addDoc, addDiff, addVectors,
                   addRtl, addRegisters})
    add(*isa, std::make_shared<IsaOptions>());
}

} // namespace tilewright
