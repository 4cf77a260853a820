// The report as one self-contained page.
//
// 1. The data go in as JSON with every `<`, `>` and `&` escaped, so that no name can end the
// element
//    that holds them; the page's script takes texts in as text nodes only (html/dom.js).
// 2. The content security policy allows the page's own style and script, by their hashes, and
// nothing
//    else: no network, no other script.
#include "page.h"
#include "tilewright/report/report.h"

#include <nlohmann/json.hpp>

namespace tilewright::report {

static int hexDigit(char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; }

// As the policy wants a hash: base64 of its bytes.
static std::string base64(const std::string &hex) {
  static const char *const letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  int held = 0;
  for (char digit : hex) {
    bits = bits << 4 | static_cast<uint32_t>(hexDigit(digit));
    for (held += 4; held >= 6; held -= 6)
      out += letters[bits >> (held - 6) & 63];
  }
  if (held > 0)
    out += letters[bits << (6 - held) & 63];
  return out + std::string((4 - out.size() % 4) % 4, '=');
}

static std::string escaped(const std::string &json) {
  std::string out;
  for (char each : json)
    switch (each) {
    case '<':
      out += "\\u003c";
      break;
    case '>':
      out += "\\u003e";
      break;
    case '&':
      out += "\\u0026";
      break;
    default:
      out += each;
    }
  return out;
}

std::string toHtml(const Report &report) {
  nlohmann::json why = nlohmann::json::array();
  for (const Row &row : report.layers)
    why.push_back(report.cycles > 0 ? explain(report, row) : std::string());
  const std::string data = "{\"report\":" + toJson(report) + ",\"why\":" + why.dump() + "}";
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "base-uri 'none'; form-action 'none'; style-src 'sha256-" +
      base64(page::styleSha256) + "'; script-src 'sha256-" + base64(page::scriptSha256) + "'\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<title>Tilewright report</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>";
  out += page::style;
  out += "</style>\n</head>\n<body>\n";
  out += page::markup;
  out += "<script type=\"application/json\" id=\"data\">" + escaped(data) + "</script>\n<script>";
  out += page::script;
  return out + "</script>\n</body>\n</html>\n";
}

} // namespace tilewright::report
