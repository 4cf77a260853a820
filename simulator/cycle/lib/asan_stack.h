// SystemC switches stacks, and leaves AddressSanitizer with wrong bounds of the one that the
// program runs on: an exception that is thrown later would not clear the marks of the frames it
// skips, and false reports would follow.
#pragma once

#if __has_feature(address_sanitizer)

#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

namespace tilewright::cycle {

// Tells AddressSanitizer which stack this thread runs on, and that nothing below this frame is in
// use.
inline void restoreStackBounds() {
  pthread_attr_t attributes;
  void *bottom = nullptr;
  size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &bottom, &size);
  pthread_attr_destroy(&attributes);
  __sanitizer_start_switch_fiber(nullptr, bottom, size);
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
  const auto *here = static_cast<const char *>(__builtin_frame_address(0));
  __asan_unpoison_memory_region(bottom, static_cast<size_t>(here - static_cast<char *>(bottom)));
}

} // namespace tilewright::cycle

#else

namespace tilewright::cycle {
inline void restoreStackBounds() {}
} // namespace tilewright::cycle

#endif
