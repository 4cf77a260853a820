#include "schemas.h"

#include "tilewright/explore/experiment.h"

namespace tilewright::explore {

namespace {

using isa::Schema;
using Kind = Schema::Kind;
constexpr bool required = true, optional = false;

const Schema text{Kind::Text};
const Schema expression{Kind::Expression};
const Schema texts{Kind::ListOf, {}, &text};
const Schema shapes{Kind::MapOf, {}, &texts};
const Schema precision{Kind::Choice, {}, nullptr, {"automatic", "standard", "mixed", "extended"}};
const Schema workload{
    Kind::Object,
    {{"network", &text, optional, "A network of models/synthetic."},
     {"model", &text, optional, "A model, of a format of `tilewright formats`."},
     {"calibration", &text, optional, "Samples of the model's inputs: .npz, or a directory."},
     {"precision", &precision, optional, "As compile's --precision; \"standard\" unless given."},
     {"shapes", &shapes, optional, "Sizes of inputs that the model leaves open."}}};
const Schema workloads{Kind::MapOf, {}, &workload};
const Schema base{
    Kind::Object,
    {{"target", &text, required, "Name or file of a target."},
     {"overlays", &texts, optional, "Overlay files on it, for the base and every point."}}};
const Schema overlayLists{Kind::MapOf, {}, &texts};
const Schema parameter{
    Kind::Object,
    {{"list", &texts, optional, "Its values."},
     {"range", &text, optional, "Its values, both ends included: \"8..32\"."},
     {"step", &text, optional, "Of the range: from a value to the next; 1 unless given."},
     {"factor", &text, optional, "Of the range: the next value is so many times the last."},
     {"value", &expression, optional, "Its value, from those of the parameters above it."}}};
const Schema parameters{Kind::MapOf, {}, &parameter, {}, true};
const Schema conditions{Kind::MapOf, {}, &expression};
const Schema searchKind{Kind::Choice, {}, nullptr, {"grid", "random", "guided"}};
const Schema search{
    Kind::Object,
    {{"kind", &searchKind, required, "All settings, some by chance, or some by a learned model."},
     {"points", &text, optional, "Settings to draw."},
     {"screen", &text, optional,
      "Of a random search: so many settings are drawn, and the best by the analytical tier run."},
     {"seed", &text, optional, "Of what is drawn; 0 unless given."}}};
const Schema tier{Kind::Choice, {}, nullptr, {"analytical", "simulated"}};
const Schema check{Kind::Choice, {}, nullptr, {"none", "functional", "rtl"}};
const Schema objective{Kind::Choice, {}, nullptr, {"latency", "area", "energy"}};
const Schema objectives{Kind::ListOf, {}, &objective};
const Schema limits{Kind::Object,
                    {{"seconds", &text, optional, "That a point may take; 600 unless given."},
                     {"mebibytes", &text, optional, "Of address space; 4096 unless given."}}};

const Schema experiment{
    Kind::Object,
    {{"schema", &text, required, "\"tilewright/experiment/1\"."},
     {"name", &text, required, "Name of the experiment."},
     {"summary", &text, required, "What it asks, in a sentence."},
     {"workloads", &workloads, required, "Networks to run, by name."},
     {"base", &base, required, "The machine that points are compared with."},
     {"overlays", &overlayLists, optional, "Lists of overlay files, by name: a setting has one."},
     {"parameters", &parameters, optional, "What varies, the last the fastest."},
     {"conditions", &conditions, optional,
      "Labeled expressions: where one is 0, there is no point."},
     {"search", &search, optional, "Which settings become points; the grid unless given."},
     {"tier", &tier, optional, "The last tier to run; \"simulated\" unless given."},
     {"check", &check, optional, "How values are checked; \"functional\" unless given."},
     {"objectives", &objectives, optional, "What the Pareto front is of; all three unless given."},
     {"limits", &limits, optional, "Of a point's process."},
     {"technology", &text, optional, "File of energies and areas."}}};

const Schema figure{Kind::Object,
                    {{"value", &text, required, "The number, without its unit."},
                     {"source", &text, required, "Where it was published."}}};
const Schema energy{
    Kind::Object,
    {{"mac_fj", &figure, required, "A product of 8 bits and its addition in 32, in femtojoules."},
     {"gate_fj", &figure, required,
      "What an operator of a lane takes for each of its equivalents of a two-input NAND."},
     {"sram_fj", &figure, required,
      "A byte of a bank of `sram_bank_bytes`; of others it goes with "
      "the square root of their size."},
     {"sram_bank_bytes", &figure, required, "The bank that `sram_fj` is of."},
     {"leakage_uw", &figure, required, "Static power of a square millimeter, in microwatts."}}};
const Schema area{
    Kind::Object,
    {{"nand2_um2", &figure, required, "A two-input NAND, in square micrometers."},
     {"sram_bit_um2", &figure, required, "A RAM macro, for each of its bits."},
     {"sram_column_um2", &figure, required, "The same, for each bit of a row besides."}}};
const Schema technology{Kind::Object,
                        {{"schema", &text, required, "\"tilewright/technology/1\"."},
                         {"name", &text, required, "Name; the file is named after it."},
                         {"summary", &text, required, "What it is, in a sentence."},
                         {"energy", &energy, required, "Energies."},
                         {"area", &area, required, "Areas."}}};

constexpr const char *origin = "`tilewright explore schemas` from explore/lib/schemas.cpp";

} // namespace

const isa::FileSchema experimentFile{
    "experiment", "An experiment: machines to compare, and on what.", &experiment, origin};
const isa::FileSchema technologyFile{
    "technology", "A technology: energies and areas, each with its source.", &technology, origin};

std::string experimentSchema() { return isa::jsonSchema(experimentFile); }
std::string technologySchema() { return isa::jsonSchema(technologyFile); }

} // namespace tilewright::explore
