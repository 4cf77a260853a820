// The parts of the page, from simulator/report/html (embed.cmake).
#pragma once

namespace tilewright::report::page {

extern const char *const markup;
extern const char *const style;
extern const char *const script;
// 64 hex digits each.
extern const char *const styleSha256;
extern const char *const scriptSha256;

} // namespace tilewright::report::page
