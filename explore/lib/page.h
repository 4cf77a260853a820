// The parts of the page, from explore/html (embed.cmake).
#pragma once

namespace tilewright::explore::page {

extern const char *const markup;
extern const char *const style;
extern const char *const script;
// 64 hex digits each.
extern const char *const styleSha256;
extern const char *const scriptSha256;

} // namespace tilewright::explore::page
