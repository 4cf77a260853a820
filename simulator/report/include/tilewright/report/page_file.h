// A self-contained page: data, and the markup, style and script that show them.
//
// 1. The data go in as JSON with every `<`, `>` and `&` escaped, so that no name can end the
// element
//    that holds them; the page's script takes texts in as text nodes only (html/dom.js).
// 2. The content security policy allows the page's own style and script, by their hashes, and
//    nothing else: no network, no other script.
#pragma once

#include <string>

namespace tilewright::report {

struct PageParts {
  const char *title;
  const char *markup;
  const char *style;
  const char *script;      // reads the element of id "data"
  const char *styleSha256; // 64 hex digits each
  const char *scriptSha256;
};

std::string pageFile(const PageParts &parts, const std::string &json);

} // namespace tilewright::report
