#include "tilewright/compiler/quantize/quantize.h"

#include "assign.h"
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

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <map>
#include <memory>

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
    prepare(main());
    Plan plan = makePlan(main(), Precision::Standard);
    std::vector<Value> watched = watchedValues(plan), deciding;
    isGiven_ = !plan.given.empty();
    if (isGiven_ && options_.precision == Precision::Automatic) // the model says its own
      options_.precision = Precision::Standard;
    const KnownRanges known = isGiven_ ? knownRanges(plan, watched) : KnownRanges();
    open_ = known.unknown;
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
        emitInteger(main(), plan, parameters, statistics, isFakeQuantized, threads_);
    ended("integers");
    return {std::move(parameters), std::move(integer)};
  }

  // 16 bits between operators cost up to twice the cycles, and products of them as much again. They
  // are worth it where 8 bits leave the outputs inexact, and where they lessen the noise a good
  // deal: docs/decisions/quantization.md. `other`: the standard form, where it was given up.
  Form chooseForm(std::optional<PrecisionChoice> &choice, std::optional<Form> &other) const {
    constexpr double good = 25, exact = 40, useless = 18; // dB
    constexpr double worthwhile = 2, much = 4;            // more
    FakeQuantization fakeQuantization(*executable_, observed_, samples_, threads_);
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

  std::vector<LayerSqnr> layersOf(const Form &form) const {
    std::vector<LayerSqnr> layers = compareLayers(*real_, form.integer, form.parameters, samples_);
    ended("layer report");
    return layers;
  }

private:
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
    const Plan plan = makePlan(main(), Precision::Standard, loudest);
    const StatisticsWanted wanted{plan.precision, findEqualizable(plan), countedIn(plan)};
    exactStatistics_ = std::make_unique<Statistics>(std::move(
        statisticsOf(observed_, executable_.get(), samples_, wanted, kept_, threads_).front()));
    Form form = formOf(plan, *exactStatistics_);
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
      wanted.push_back({plan.precision, findEqualizable(plan), countedIn(plan)});
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
  Samples samples_;
  mutable OwningOpRef<ModuleOp> real_;
  std::unique_ptr<FloatExecutable> executable_;
  Observations observed_;
  mutable KeptTensors kept_;
  mutable std::map<Precision, Statistics> statistics_;
  mutable std::unique_ptr<Statistics> exactStatistics_;
};

} // namespace

OwningOpRef<ModuleOp> quantize(ModuleOp module, const CalibrationData &data,
                               const QuantizeOptions &options, QuantizationReport *report,
                               PhaseTimes *times, OwningOpRef<ModuleOp> *standard) {
  Quantizer quantizer(module, data, options, times);
  std::optional<PrecisionChoice> choice;
  std::optional<Quantizer::Form> other;
  Quantizer::Form form = quantizer.choosesPrecision() ? quantizer.chooseForm(choice, other)
                                                      : quantizer.formOf(quantizer.precision());
  if (standard && other)
    *standard = std::move(other->integer.module);
  if (report) {
    report->choice = choice;
    report->isGiven = quantizer.isGiven();
    report->open = quantizer.open();
  }
  if (report && options.layerReport)
    report->layers = quantizer.layersOf(form);
  return std::move(form.integer.module);
}

} // namespace tilewright
