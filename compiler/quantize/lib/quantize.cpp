#include "tilewright/compiler/quantize.h"

#include "assign.h"
#include "calibration_data.h"
#include "emit.h"
#include "equalize.h"
#include "graph_queries.h"
#include "plan.h"
#include "prepare.h"
#include "rehearsal.h"
#include "sqnr.h"
#include "statistics.h"

using namespace mlir;

namespace tilewright {

using namespace quantization;

namespace {

// A float network and what is known of it.
class Quantizer {
public:
  Quantizer(ModuleOp module, const CalibrationData &data, const QuantizeOptions &options)
      : options_(options), threads_(workThreads(options.threads)),
        samples_(samplesOf(mainOf(module), data)), real_(module.clone()) {
    prepare(main());
    Plan plan = makePlan(main(), Precision::Standard);
    std::vector<Value> watched = watchedValues(plan), deciding;
    if (options.precision == Precision::Automatic)
      deciding = decidingValues(main(), plan);
    std::vector<Value> shown = watched;
    llvm::append_range(shown, deciding);
    executable_ = FloatExecutable::create(*real_, shown, options.threads);
    observed_ = observe(*executable_, samples_, plan, watched, deciding.size(), threads_);
  }

  struct Form {
    ParameterMap parameters;
    IntegerModule integer;
  };

  Form formOf(Precision precision) const {
    Plan plan = makePlan(main(), precision);
    Statistics statistics =
        statisticsOf(observed_, *executable_, samples_, plan, findEqualizable(plan),
                     options_.method != Calibration::MinMax, threads_);
    ParameterMap parameters = assignParameters(main(), plan, statistics, options_);
    IntegerModule integer = emitInteger(main(), plan, parameters, statistics);
    return {std::move(parameters), std::move(integer)};
  }

  // 16 bits cost about twice the cycles. They are worth it where 8 bits leave the outputs inexact,
  // and where they lessen the noise a good deal: docs/decisions/2026-11-21-quantization.md.
  Form chooseForm(std::optional<PrecisionChoice> &choice) const {
    constexpr double exact = 40, worthwhile = 4; // dB
    Rehearsal rehearsal(*executable_, observed_, samples_, threads_);
    Form standard = formOf(Precision::Standard);
    std::optional<double> with8 = rehearsal.decibelsOf(standard.integer, standard.parameters);
    if (!with8)
      return standard;
    choice = PrecisionChoice{Precision::Standard, *with8, std::nullopt};
    if (*with8 >= exact)
      return standard;
    Form extended = formOf(Precision::Extended);
    choice->extended = rehearsal.decibelsOf(extended.integer, extended.parameters);
    if (!choice->extended || *choice->extended < *with8 + worthwhile)
      return standard;
    choice->precision = Precision::Extended;
    return extended;
  }

  std::vector<LayerSqnr> layersOf(const Form &form) const {
    return compareLayers(*real_, form.integer, form.parameters, samples_);
  }

private:
  func::FuncOp main() const { return mainOf(*real_); }

  const QuantizeOptions &options_;
  unsigned threads_;
  Samples samples_;
  mutable OwningOpRef<ModuleOp> real_;
  std::unique_ptr<FloatExecutable> executable_;
  Observations observed_;
};

} // namespace

OwningOpRef<ModuleOp> quantize(ModuleOp module, const CalibrationData &data,
                               const QuantizeOptions &options, QuantizationReport *report) {
  Quantizer quantizer(module, data, options);
  std::optional<PrecisionChoice> choice;
  Quantizer::Form form = options.precision == Precision::Automatic
                             ? quantizer.chooseForm(choice)
                             : quantizer.formOf(options.precision);
  if (report)
    report->choice = choice;
  if (report && options.layerReport)
    report->layers = quantizer.layersOf(form);
  return std::move(form.integer.module);
}

} // namespace tilewright
