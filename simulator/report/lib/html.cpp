#include "page.h"
#include "tilewright/report/page_file.h"
#include "tilewright/report/report.h"

#include <nlohmann/json.hpp>

namespace tilewright::report {

std::string toHtml(const Report &report) {
  nlohmann::json why = nlohmann::json::array();
  for (const Row &row : report.layers)
    why.push_back(report.cycles > 0 ? explain(report, row) : std::string());
  return pageFile({"Tilewright report", page::markup, page::style, page::script, page::styleSha256,
                   page::scriptSha256},
                  "{\"report\":" + toJson(report) + ",\"why\":" + why.dump() + "}");
}

} // namespace tilewright::report
