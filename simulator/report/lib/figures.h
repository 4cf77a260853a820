// Names and figures as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright::report {

// `text` escaped; when it is wider than `width` its start gives way, because operator names differ
// at their ends.
std::string fit(std::string_view text, size_t width);

std::string groupThousands(int64_t value); // 1,234,567
std::string bytesText(uint64_t bytes);     // 1.25 MiB
std::string percentText(double fraction);  // 12.5 %

} // namespace tilewright::report
