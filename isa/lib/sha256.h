// SHA-256 (FIPS 180-4): the content hash of a description.
#pragma once

#include <string>
#include <string_view>

namespace tilewright::isa {

std::string sha256(std::string_view bytes); // 64 hex digits

} // namespace tilewright::isa
