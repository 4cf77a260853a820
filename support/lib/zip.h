// The little of the zip format that NumPy's `.npz` files use: stored and deflated members, ZIP64
// sizes.
#pragma once

#include "tilewright/support/error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

struct ZipMember {
  std::string name;
  uint16_t method = 0; // 0: stored, 8: deflated
  uint32_t crc = 0;
  uint64_t packedBytes = 0;
  uint64_t bytes = 0;
  uint64_t offset = 0; // of the local header
};

// The members in the order of the central directory. Throws UserError at `location`.
std::vector<ZipMember> listZip(std::string_view file, const SourceLocation &location);

// A member's content, at most `limit` bytes, its checksum verified. Throws UserError at `location`.
std::string extractZip(std::string_view file, const ZipMember &member, uint64_t limit,
                       const SourceLocation &location);

} // namespace tilewright
