// Pipelines in words: for messages and the manual.
#include "tilewright/isa/pipeline.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace tilewright::isa {

static std::string stagesOf(const PipelineOperation &operation) {
  return operation.first == operation.last
             ? fmt::format("stage {}", operation.first + 1)
             : fmt::format("stages {} to {}", operation.first + 1, operation.last + 1);
}

std::string stageTable(const Pipeline &pipeline) {
  std::map<int64_t, std::string> rows;
  for (const PipelineOperation &operation : pipeline.operations) {
    std::string &row = rows[std::max<int64_t>(operation.first, -1)];
    row += fmt::format("{}{} ({:.1f}{})", row.empty() ? "" : "; ", operation.what,
                       static_cast<double>(operation.delay) / 1000,
                       operation.first < operation.last ? ", " + stagesOf(operation) : "");
  }
  std::string table = "| Stage | Operators that begin in it, delays in FO4 |\n|---|---|\n";
  for (const auto &[stage, row] : rows)
    table += fmt::format("| {} | {} |\n",
                         stage < 0 ? "before the elements" : std::to_string(stage + 1), row);
  return table;
}

std::string criticalPath(const Pipeline &pipeline) {
  int last = -1;
  for (size_t i = 0; i < pipeline.operations.size(); ++i)
    if (last < 0 ||
        pipeline.operations[i].last >= pipeline.operations[static_cast<size_t>(last)].last)
      last = static_cast<int>(i);
  std::string path;
  for (int at = last; at >= 0;) {
    const PipelineOperation &operation = pipeline.operations[static_cast<size_t>(at)];
    path = fmt::format("; {} ({})", operation.what, stagesOf(operation)) + path;
    at = operation.before;
  }
  return fmt::format("read, align and write ({}){}", pipelineOverhead, path);
}

} // namespace tilewright::isa
