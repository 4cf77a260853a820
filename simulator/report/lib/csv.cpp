#include "tilewright/support/csv.h"
#include "tilewright/report/report.h"

#include <fmt/format.h>

namespace tilewright::report {

// "matrix:semaphore:load=20 vector:acc_port=3"
static std::string waitsText(const Report &report, const std::vector<Wait> &waits) {
  std::string out;
  for (const Wait &wait : waits) {
    out += out.empty() ? "" : " ";
    out += report.units[static_cast<size_t>(wait.unit)].name + ":" + tilewright::name(wait.cause);
    if (wait.on >= 0)
      out += ":" + report.units[static_cast<size_t>(wait.on)].name;
    out += fmt::format("={}", wait.cycles);
  }
  return out;
}

// Empty where there is nothing to divide by.
static std::string ratio(int64_t value, uint64_t by) {
  return by > 0 ? fmt::format("{:.6f}", static_cast<double>(value) / static_cast<double>(by)) : "";
}

static std::string line(const Report &report, const Row &row) {
  auto error = estimateError(row.estimateCycles, row.cycles);
  std::string out =
      fmt::format("tilewright/layers/2,{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                  csvCell(report.options.program), csvCell(report.target),
                  csvCell(report.options.engine), csvCell(row.name), csvCell(row.op), row.cycles,
                  row.macs, row.utilization ? fmt::format("{:.6f}", *row.utilization) : "",
                  name(row.limitedBy), row.instructions, row.dramReadBytes, row.dramWriteBytes,
                  row.weightBytes, row.estimateCycles, error ? fmt::format("{:.6f}", *error) : "");
  out += fmt::format(",{},{},{},{}", row.matrixBusy, row.vectorBusy, row.dramBusy, row.nothingBusy);
  for (size_t cause = 1; cause < row.stalls.size(); ++cause)
    out += fmt::format(",{}", row.stalls[cause]);
  const Roofline &roofline = row.roofline;
  const double times = timesBound(roofline, row.cycles);
  out += fmt::format(
      ",{},{},{},{},{},{},{},{},{},{}", ratio(row.macs, row.dramReadBytes + row.dramWriteBytes),
      ratio(row.macs, static_cast<uint64_t>(row.cycles)), roofline.arrayCycles,
      roofline.vectorCycles, roofline.sharedCycles, roofline.dramCycles, roofline.boundCycles(),
      roofline.boundBy(), times > 0 ? fmt::format("{:.6f}", times) : "",
      csvCell(waitsText(report, row.waits)));
  return out + "\n";
}

std::string toCsv(const Report &report) {
  std::string out = "schema,program,target,engine,layer,op,cycles,macs,utilization,limited_by,"
                    "instructions,dram_read_bytes,"
                    "dram_write_bytes,weight_bytes,estimate_cycles,estimate_error,matrix_busy,"
                    "vector_busy,dram_busy,"
                    "nothing_busy";
  for (int cause = 1; cause < stallCount; ++cause)
    out += fmt::format(",stall_{}", tilewright::name(static_cast<Stall>(cause)));
  out += ",macs_per_dram_byte,macs_per_cycle,array_cycles,vector_cycles,both_cycles,dram_cycles,"
         "bound_cycles,"
         "bound_by,times_bound,waits\n";
  for (const Row &row : report.layers)
    out += line(report, row);
  if (report.none.cycles > 0 || report.none.instructions > 0)
    out += line(report, report.none);
  return out;
}

} // namespace tilewright::report
