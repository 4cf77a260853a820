// The hand-written modules of rtl/, as they stood when this was built.
#pragma once

#include <string>
#include <vector>

namespace tilewright::rtl {

struct Template {
  std::string name, text;
};
const std::vector<Template> &templates();

} // namespace tilewright::rtl
