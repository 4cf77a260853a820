#include "looks_like_text.h"

#include <algorithm>

namespace tilewright {

bool looksLikeText(const std::string &bytes) {
  const auto count = std::min<ptrdiff_t>(static_cast<ptrdiff_t>(bytes.size()), 4096);
  return std::none_of(bytes.begin(), bytes.begin() + count, [](char byte) {
    auto code = static_cast<unsigned char>(byte);
    return code < 0x20 && code != '\n' && code != '\r' && code != '\t' && code != '\f';
  });
}

} // namespace tilewright
