#include "onnx_format.h"

#include "../looks_like_text.h"
#include "operators.h"
#include "quantized_forms.h"
#include "tilewright/compiler/frontend/model_formats.h"
#include "tilewright/host/kernels.h"
#include "tilewright/onnx/schema.h"
#include "tilewright/support/error.h"

#include <fmt/format.h>

namespace tilewright::onnx_import {

std::string served() {
  std::vector<std::string> built, folded;
  for (const Operator &op : allOperators())
    (op.build ? built : folded).emplace_back(op.name);
  return fmt::format("float32, of operator sets {} to {} of ai.onnx\n"
                     "operators: {}\n"
                     "of values that are known when the model is read: {}\n",
                     oldestOpset, newestOpset, fmt::join(built, ", "), fmt::join(folded, ", "));
}

// "7 to 26", "14 on"; schemas of an operator, oldest first.
static std::string operatorSets(const SchemaVersions &versions) {
  const int64_t since = std::max(versions.begin()->since, oldestOpset);
  const Schema &last = *(versions.end() - 1);
  return last.deprecated ? fmt::format("{} to {}", since, last.since - 1)
                         : fmt::format("{} on", since);
}

std::string operatorTable() {
  std::string table = "| operator | operator sets | accelerator | host |\n|---|---|---|---|\n";
  for (const std::string &name : schemaNames()) {
    const Operator *op = findOperator(name);
    const bool onHost = host::findKernel(name), hasForm = hasQuantizedForm(name, "");
    if (!op && !onHost)
      continue;
    table += fmt::format("| {} | {} | {} | {} |\n", name, operatorSets(schemasOf(name)),
                         hasForm || (op && op->build) ? "yes"
                         : op                         ? "of known values"
                                                      : "",
                         onHost ? "yes" : "");
  }
  for (const host::Kernel &kernel : host::allKernels())
    if (*kernel.domain)
      table += fmt::format("| {}.{} | all | {} | yes |\n", kernel.domain, kernel.op,
                           hasQuantizedForm(kernel.op, kernel.domain) ? "yes" : "");
  return table;
}

bool recognizes(const std::string &bytes) {
  constexpr char irVersion = 1 << 3; // the tag of field 1, a number
  return bytes[0] == irVersion;
}

mlir::OwningOpRef<mlir::ModuleOp> read(const std::string &path, std::string bytes,
                                       const ImportOptions &options, mlir::MLIRContext &context) {
  if (looksLikeText(bytes))
    throw UserError({path, 0, 0, ""}, "the file is not an ONNX model: it is text",
                    "name a model by what it is: " + modelFormatList());
  return importOnnx(path, std::move(bytes), options, context);
}

} // namespace tilewright::onnx_import
