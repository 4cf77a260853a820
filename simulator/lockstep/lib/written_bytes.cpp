#include "written_bytes.h"

#include "mix.h"

#include <algorithm>

namespace tilewright::lockstep {

WrittenBytes::Page &WrittenBytes::page(isa::Space space, uint64_t number) {
  auto &page = pages_[static_cast<size_t>(space)][number];
  if (!page)
    page = std::make_unique<Page>();
  return *page;
}

uint64_t WrittenBytes::write(uint64_t instance, isa::Space space, uint64_t address,
                             const uint8_t *bytes, int64_t count) {
  uint64_t change = 0;
  const uint64_t end = address + static_cast<uint64_t>(count);
  const uint64_t spaceBits = static_cast<uint64_t>(space) << 60;
  for (uint64_t at = address; at < end;) {
    Page &page = this->page(space, at / pageBytes);
    const uint64_t stop = std::min(end, (at / pageBytes + 1) * pageBytes);
    for (; at < stop; ++at, ++bytes) {
      const uint64_t key = mix(at ^ spaceBits) | 1;
      uint64_t &writer = page.writer[at % pageBytes];
      uint8_t &value = page.value[at % pageBytes];
      if (writer == instance + 1)
        change -= (uint64_t(value) + 1) * key;
      change += (uint64_t(*bytes) + 1) * key;
      writer = instance + 1;
      value = *bytes;
    }
  }
  return change;
}

} // namespace tilewright::lockstep
