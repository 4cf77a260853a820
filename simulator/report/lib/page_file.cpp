#include "tilewright/report/page_file.h"

#include <cstdint>

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

std::string pageFile(const PageParts &parts, const std::string &json) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "base-uri 'none'; form-action 'none'; style-src 'sha256-" +
      base64(parts.styleSha256) + "'; script-src 'sha256-" + base64(parts.scriptSha256) + "'\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>";
  out += parts.title;
  out += "</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>";
  out += parts.style;
  out += "</style>\n</head>\n<body>\n";
  out += parts.markup;
  out += "<script type=\"application/json\" id=\"data\">" + escaped(json) + "</script>\n<script>";
  out += parts.script;
  return out + "</script>\n</body>\n</html>\n";
}

} // namespace tilewright::report
