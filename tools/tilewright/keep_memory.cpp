#include "keep_memory.h"

#include <malloc.h>

namespace tilewright {

void keepMemory() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

} // namespace tilewright
