#include "tilewright/compiler/quantize/quantize.h"

#include "assign.h"
#include "budget.h"
#include "calibration_data.h"
#include "emit.h"
#include "equalize.h"
#include "fake_quantization.h"
#include "graph_queries.h"
#include "known_ranges.h"
#include "plan.h"
#include "prepare.h"
#include "sqnr.h"
#include "statistics.h"
#include "tilewright/compiler/tosa/layer_location.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <cmath>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <set>

using namespace mlir;

namespace tilewright {

using namespace quantization;

namespace {

// A float network and what is known of it.
class Quantizer {
public:
  Quantizer(ModuleOp module, const CalibrationData &data, const QuantizeOptions &options,
            PhaseTimes *times)
      : options_(options), threads_(workThreads(options.threads)), times_(times),
        samples_(samplesOf(mainOf(module), data)), real_(module.clone()) {
    if (hasBudget())
      holdBack();
    prepare(main());
    Plan plan = makePlan(main(), Precision::Standard);
    std::vector<Value> watched = watchedValues(plan), deciding;
    isGiven_ = !plan.given.empty();
    if (isGiven_ && !hasBudget() &&
        options_.precision == Precision::Automatic) // the model says its own
      options_.precision = Precision::Standard;
    const KnownRanges known = isGiven_ ? knownRanges(plan, watched) : KnownRanges();
    open_ = known.unknown;
    if (isGiven_ && !open_ && hasBudget())
      throw UserError(
          {"", 0, 0, "quantization"},
          "the model says how its tensors are stored, which leaves no precision to choose",
          "leave out --max-loss and --max-cycles");
    if (isGiven_ && !open_) {
      observed_ = observationsOf(watched, known.ranges);
      options_.method = Calibration::MinMax;
      return;
    }
    if (options_.precision == Precision::Automatic)
      deciding = decidingValues(main(), plan);
    std::vector<Value> shown = watched;
    llvm::append_range(shown, deciding);
    executable_ = FloatExecutable::create(*real_, shown, options.threads, watched.size());
    ended("float-code");
    llvm::DenseSet<Value> counted;
    for (Precision each : precisionsWith(
             options_.precision == Precision::Automatic ? Precision::Standard : options_.precision))
      counted.insert_range(countedIn(makePlan(main(), each)));
    kept_ = tensorsToKeep(watched, counted, samples_.size());
    observed_ = observe(*executable_, samples_, plan, watched, deciding.size(), kept_, threads_);
    ended("calibration");
  }

  bool choosesPrecision() const { return options_.precision == Precision::Automatic; }
  Precision precision() const { return options_.precision; }
  // Whether the model says how some of its tensors are stored, and the operator, if there is one,
  // whose result it leaves to the samples.
  bool isGiven() const { return isGiven_; }
  std::string open() const {
    Operation *op = open_ ? open_.getDefiningOp() : nullptr;
    return op ? sourceLocationOf(op).subject : open_ ? "an input" : "";
  }
  bool hasBudget() const { return options_.maxLoss || options_.maxCycles; }

  struct Form {
    ParameterMap parameters;
    IntegerModule integer;
  };

  Form formOf(Precision precision) const {
    return formOf(makePlan(main(), precision), statisticsFor(precision));
  }

  Form formOf(const Plan &plan, const Statistics &statistics) const {
    ParameterMap parameters = assignParameters(main(), plan, statistics, options_);
    bool isFakeQuantized = options_.precision == Precision::Automatic;
    IntegerModule integer =
        emitInteger(main(), plan, parameters, statistics, options_, isFakeQuantized, threads_);
    ended("integers");
    return {std::move(parameters), std::move(integer)};
  }

  // 16 bits between operators cost up to twice the cycles, and products of them as much again. They
  // are worth it where 8 bits leave the outputs inexact, and where they lessen the noise a good
  // deal: docs/decisions/quantization.md. `other`: the standard form, where it was given up.
  Form chooseForm(std::optional<PrecisionChoice> &choice, std::optional<Form> &other) const {
    constexpr double good = 25, exact = 40, useless = 18; // dB
    constexpr double worthwhile = 2, much = 4;            // more
    FakeQuantization fakeQuantization(*executable_, observed_.watched, observed_.further, samples_,
                                      threads_);
    Form standard = formOf(Precision::Standard);
    std::optional<double> with8 = fakeQuantized(fakeQuantization, standard);
    if (!with8)
      return standard;
    choice.emplace().standard = *with8;
    const double wanted = isBoundByWeights() ? exact : good;
    if (*with8 >= wanted)
      return standard;
    std::optional<Form> withExactOperands =
        formWithExactOperands(fakeQuantization, standard, *choice);
    if (withExactOperands && *choice->withExactOperands < *with8 + worthwhile)
      withExactOperands.reset();
    auto takeExactOperands = [&] {
      other = std::move(standard);
      return std::move(*withExactOperands);
    };
    if (withExactOperands && *choice->withExactOperands >= wanted)
      return takeExactOperands();
    double best = withExactOperands ? *choice->withExactOperands : *with8;
    Form mixed = formOf(Precision::Mixed);
    choice->mixed = fakeQuantized(fakeQuantization, mixed);
    const bool isMixed = choice->mixed && *choice->mixed >= *with8 + worthwhile &&
                         (!withExactOperands || *choice->mixed > best);
    best = isMixed ? *choice->mixed : best;
    if (best < useless) {
      Form extended = formOf(Precision::Extended);
      choice->extended = fakeQuantized(fakeQuantization, extended);
      if (choice->extended && *choice->extended >= best + much) {
        choice->precision = Precision::Extended;
        other = std::move(standard);
        return extended;
      }
    }
    if (!isMixed)
      return withExactOperands ? takeExactOperands() : std::move(standard);
    choice->precision = Precision::Mixed;
    other = std::move(standard);
    return mixed;
  }

  // Standard precision with 16 bits for some tensors, or one of the others, as the budget has it.
  Form formWithin(const CyclesOf &cyclesOf, std::optional<BudgetReport> &report) const {
    const std::vector<std::vector<Tensor>> expected =
        decidingTensors(*executable_, observed_.watched.size(), heldBack_, threads_);
    const FakeQuantization fakeQuantization(*executable_, observed_.watched, expected, heldBack_,
                                            threads_);
    ended("fake-quantization");
    std::vector<Sensitivity> tensors;
    std::map<size_t, std::optional<TriedPrecision>>
        known; // of standard precision, by exact tensors
    const std::vector<Value> exact = exactTensors(fakeQuantization, cyclesOf, tensors, known);
    const auto formOfTried = [&](Precision precision, size_t count) {
      return count > 0 ? exactForm(ArrayRef(exact).take_front(count)) : formOf(precision);
    };
    const auto measure = [&](Precision precision, size_t count) -> std::optional<TriedPrecision> {
      if (const auto tried = known.find(count);
          precision == Precision::Standard && tried != known.end())
        return tried->second;
      told(fmt::format("trying {}", nameOf(precision, count)));
      Form form = formOfTried(precision, count);
      const double decibels = decibelsOf(fakeQuantization, form);
      return triedOf(precision, count, decibels, cyclesOf(*form.integer.module));
    };
    report = spend(options_, exact.size(), measure);
    report->samples = samples_.size();
    report->heldBack = heldBack_.size();
    const TriedPrecision &chosen = report->tried[report->chosen];
    for (size_t i = 0; i < chosen.exactTensors; ++i)
      tensors[i].isExact = true;
    report->tensors = std::move(tensors);
    return formOfTried(chosen.precision, chosen.exactTensors);
  }

  std::vector<LayerSqnr> layersOf(const Form &form) const {
    std::vector<LayerSqnr> layers = compareLayers(*real_, form.integer, form.parameters, samples_);
    ended("layer report");
    return layers;
  }

private:
  // The last quarter of the samples: ranges do not know them.
  void holdBack() {
    constexpr size_t parts = 4;
    if (samples_.size() < 2)
      throw UserError({"", 0, 0, "calibration data"},
                      "holds one sample: of a budget, some are held back to measure by",
                      "give two or more, or leave out --max-loss and --max-cycles");
    const size_t count = (samples_.size() + parts - 1) / parts;
    const auto first = samples_.end() - static_cast<int64_t>(count);
    heldBack_.assign(std::make_move_iterator(first), std::make_move_iterator(samples_.end()));
    samples_.erase(first, samples_.end());
  }

  // Those that may have 16 bits at standard precision, in the order in which they get them.
  std::vector<Value> exactTensors(const FakeQuantization &fakeQuantization,
                                  const CyclesOf &cyclesOf, std::vector<Sensitivity> &sensitivities,
                                  std::map<size_t, std::optional<TriedPrecision>> &tried) const {
    const Plan any = makePlan(main(), Precision::Standard, observed_.watched);
    std::vector<Value> candidates;
    llvm::copy_if(observed_.watched, std::back_inserter(candidates),
                  [&](Value value) { return any.wide.contains(value); });
    if (candidates.empty())
      return candidates;
    told(fmt::format("measuring the sensitivity of {} tensors", candidates.size()));
    Form narrow = formOf(Precision::Standard), wide = exactForm(candidates);
    const std::vector<double> noises = fakeQuantization.noises(narrow.integer, narrow.parameters,
                                                               candidates, wide.integer.constants);
    const double decibels = decibelsOf(fakeQuantization, narrow),
                 ofWide = decibelsOf(fakeQuantization, wide), all = std::pow(10, -decibels / 10);
    const std::optional<NetworkCycles> before = cyclesOf(*narrow.integer.module),
                                       after = cyclesOf(*wide.integer.module);
    tried[0] = triedOf(Precision::Standard, 0, decibels, before);
    tried[candidates.size()] = triedOf(Precision::Standard, candidates.size(), ofWide, after);
    std::vector<int64_t> cycles;
    for (Value value : candidates)
      cycles.push_back(before && after ? moreCycles(value, *before, *after) : 1);
    std::vector<Value> ordered;
    for (size_t i : byWorth(noises, cycles)) {
      constexpr double most = 0.999; // of all noise: each tensor's was measured alone
      const Layer layer = layerOf(candidates[i].getLoc());
      const double part = std::min(noises[i] / all, most);
      sensitivities.push_back({layer.name, layer.op, -10 * std::log10(1 - part), cycles[i]});
      ordered.push_back(candidates[i]);
    }
    return ordered;
  }

  double decibelsOf(const FakeQuantization &fakeQuantization, Form &form) const {
    const std::optional<double> decibels = fakeQuantized(fakeQuantization, form);
    if (!decibels)
      throw UserError({"", 0, 0, "calibration data"},
                      "the samples held back give outputs of zeros, or none that are finite",
                      "give others, or leave out --max-loss and --max-cycles");
    return *decibels;
  }

  std::optional<TriedPrecision> triedOf(Precision precision, size_t exact, double decibels,
                                        const std::optional<NetworkCycles> &cycles) const {
    ended("budget");
    return cycles ? std::optional(TriedPrecision{precision, exact, decibels, cycles->total})
                  : std::nullopt;
  }

  // Of the operator that yields `value`, and of those that read it.
  static int64_t moreCycles(Value value, const NetworkCycles &before, const NetworkCycles &after) {
    std::set<std::string> layers{layerOf(value.getLoc()).name};
    for (Operation *user : value.getUsers())
      layers.insert(layerOf(user->getLoc()).name);
    const auto in = [](const NetworkCycles &cycles, const std::string &layer) {
      const auto found = cycles.layers.find(layer);
      return found != cycles.layers.end() ? found->second : 0;
    };
    int64_t more = 0;
    for (const std::string &layer : layers)
      more += in(after, layer) - in(before, layer);
    return std::max<int64_t>(more, 1);
  }

  Form exactForm(ArrayRef<Value> values) const {
    const Plan plan = makePlan(main(), Precision::Standard, values);
    const StatisticsWanted wanted{plan.precision, equalizable(plan), countedIn(plan)};
    const std::vector<Statistics> statistics =
        statisticsOf(observed_, executable_.get(), samples_, wanted, kept_, threads_);
    return formOf(plan, statistics.front());
  }

  Equalization equalizable(const Plan &plan) const {
    return options_.equalizes ? findEqualizable(plan) : Equalization();
  }

  static std::string nameOf(Precision precision, size_t exact) {
    switch (precision) {
    case Precision::Mixed:
      return "mixed precision";
    case Precision::Extended:
      return "extended precision";
    default:
      return exact == 0 ? "standard precision"
                        : fmt::format("standard precision with 16 bits for {} tensors", exact);
    }
  }

  void told(const std::string &text) const {
    if (options_.progress)
      options_.progress(text);
  }

  // 8 bits, but 16 for the operands of few products, whose rounding makes most of the noise.
  std::optional<Form> formWithExactOperands(const FakeQuantization &fakeQuantization,
                                            const Form &standard, PrecisionChoice &choice) const {
    const Plan any = makePlan(main(), Precision::Standard, observed_.watched);
    const std::vector<Value> candidates(any.wide.begin(), any.wide.end());
    const std::vector<Value> loudest =
        fakeQuantization.loudest(standard.integer, standard.parameters, candidates);
    ended("fake-quantization");
    if (loudest.empty() || !takesFewProducts(loudest))
      return std::nullopt;
    Form form = exactForm(loudest);
    choice.withExactOperands = fakeQuantized(fakeQuantization, form);
    choice.exactOperands = loudest.size();
    return choice.withExactOperands ? std::optional(std::move(form)) : std::nullopt;
  }

  // Whether the convolutions that read `values`, which take up to three times as long, are few.
  bool takesFewProducts(ArrayRef<Value> values) const {
    constexpr double maxShareOfProducts = 0.125;
    double all = 0, some = 0;
    main().walk([&](tosa::Conv2DOp op) {
      const auto products = double(tensorType(op.getWeight()).getNumElements()) /
                            double(tensorType(op.getWeight()).getShape()[0]) *
                            double(tensorType(op.getOutput()).getNumElements());
      all += products;
      some += llvm::is_contained(values, op.getInput()) ? products : 0;
    });
    return some <= maxShareOfProducts * all;
  }

  // Whether tensors of 16 bits are nothing beside the weights: then they cost nothing.
  bool isBoundByWeights() const {
    const Plan plan = makePlan(main(), Precision::Mixed);
    int64_t wide = 0, weights = 0;
    for (Value value : plan.wide)
      wide += tensorType(value).getNumElements();
    for (auto &[op, anchor] : plan.anchors)
      if (isConvolution(op))
        weights += tensorType(op->getOperand(1)).getNumElements();
    constexpr int64_t leastWeights = 100; // for an element
    return weights >= leastWeights * wide;
  }

  // Of which values it takes counts; of none where no samples are run.
  llvm::DenseSet<Value> countedIn(const Plan &plan) const {
    return executable_ ? countedValues(plan, options_, samples_.size()) : llvm::DenseSet<Value>();
  }

  // Of which the statistics are made together.
  std::vector<Precision> precisionsWith(Precision precision) const {
    // Its statistics cost little beside these, and much by themselves.
    if (options_.precision == Precision::Automatic && precision == Precision::Standard)
      return {precision, Precision::Mixed};
    return {precision};
  }

  const Statistics &statisticsFor(Precision precision) const {
    if (const auto known = statistics_.find(precision); known != statistics_.end())
      return known->second;
    const std::vector<Precision> precisions = precisionsWith(precision);
    std::vector<StatisticsWanted> wanted;
    for (Precision each : precisions) {
      const Plan plan = makePlan(main(), each);
      wanted.push_back({plan.precision, equalizable(plan), countedIn(plan)});
    }
    std::vector<Statistics> made =
        statisticsOf(observed_, executable_.get(), samples_, wanted, kept_, threads_);
    kept_ = KeptTensors(); // another precision is rare, and its integers want the memory
    for (auto [each, statistics] : llvm::zip(precisions, made))
      statistics_.emplace(each, std::move(statistics));
    return statistics_.find(precision)->second;
  }

  std::optional<double> fakeQuantized(const FakeQuantization &fakeQuantization, Form &form) const {
    std::optional<double> decibels = fakeQuantization.decibelsOf(form.integer, form.parameters);
    ended("fake-quantization");
    return decibels;
  }

  void ended(const char *phase) const {
    if (times_)
      times_->ended(phase);
  }

  func::FuncOp main() const { return mainOf(*real_); }

  QuantizeOptions options_;
  bool isGiven_ = false;
  Value open_;
  unsigned threads_;
  PhaseTimes *times_;
  Samples samples_, heldBack_;
  mutable OwningOpRef<ModuleOp> real_;
  std::unique_ptr<FloatExecutable> executable_;
  Observations observed_;
  mutable KeptTensors kept_;
  mutable std::map<Precision, Statistics> statistics_;
};

} // namespace

OwningOpRef<ModuleOp> quantize(ModuleOp module, const CalibrationData &data,
                               const QuantizeOptions &options, QuantizationReport *report,
                               PhaseTimes *times, OwningOpRef<ModuleOp> *standard,
                               const CyclesOf &cyclesOf) {
  takeBytes(mainOf(module));
  Quantizer quantizer(module, data, options, times);
  std::optional<PrecisionChoice> choice;
  std::optional<Quantizer::Form> other;
  std::optional<BudgetReport> budget;
  Quantizer::Form form = quantizer.hasBudget()          ? quantizer.formWithin(cyclesOf, budget)
                         : quantizer.choosesPrecision() ? quantizer.chooseForm(choice, other)
                                                        : quantizer.formOf(quantizer.precision());
  if (standard && other)
    *standard = std::move(other->integer.module);
  if (report) {
    report->choice = choice;
    report->budget = std::move(budget);
    report->isGiven = quantizer.isGiven();
    report->open = quantizer.open();
  }
  if (report && options.layerReport)
    report->layers = quantizer.layersOf(form);
  return std::move(form.integer.module);
}

} // namespace tilewright
