#include "tilewright/compiler/quantize.h"

#include "assign.h"
#include "calibration_data.h"
#include "emit.h"
#include "equalize.h"
#include "graph_queries.h"
#include "plan.h"
#include "prepare.h"
#include "sqnr.h"
#include "statistics.h"

using namespace mlir;

namespace tilewright {

using namespace quantization;

OwningOpRef<ModuleOp> quantize(ModuleOp module, const CalibrationData &data,
                               const QuantizeOptions &options, QuantizationReport *report) {
  Samples samples = samplesOf(mainOf(module), data);
  OwningOpRef<ModuleOp> real = module.clone();
  func::FuncOp main = mainOf(*real);
  prepare(main);
  Plan plan = makePlan(main, options.precision);
  std::vector<Value> watched = watchedValues(plan);

  std::unique_ptr<FloatExecutable> executable =
      FloatExecutable::create(*real, watched, options.threads);
  Statistics statistics =
      collectStatistics(*executable, samples, plan, watched, findEqualizable(plan),
                        options.method != Calibration::MinMax, workThreads(options.threads));

  ParameterMap parameters = assignParameters(main, plan, statistics, options);
  IntegerModule integer = emitInteger(main, plan, parameters, statistics);
  if (report)
    *report = compareLayers(*real, integer, parameters, samples);
  return std::move(integer.module);
}

} // namespace tilewright
