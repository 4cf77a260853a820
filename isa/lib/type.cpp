#include "type.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::isa {

std::string Type::str() const { return fmt::format("{}{}", isSigned ? 'i' : 'u', bits); }

__int128 Type::least() const {
  if (!isSigned)
    return 0;
  return bits == 128 ? static_cast<__int128>(static_cast<unsigned __int128>(1) << 127)
                     : -(static_cast<__int128>(1) << (bits - 1));
}

__int128 Type::greatest() const {
  int valueBits = isSigned ? bits - 1 : bits;
  return static_cast<__int128>((static_cast<unsigned __int128>(1) << valueBits) - 1);
}

bool holds(const Type &wide, const Type &narrow) {
  return wide.least() <= narrow.least() && narrow.greatest() <= wide.greatest();
}

Type smallestType(__int128 least, __int128 greatest, bool isSigned) {
  Type type{isSigned || least < 0, 1};
  int limit = type.isSigned ? 128 : 127;
  while (type.bits < limit && (type.least() > least || type.greatest() < greatest))
    ++type.bits;
  return type;
}

Type commonType(const Type &a, const Type &b) {
  if (a.isSigned == b.isSigned)
    return Type{a.isSigned, std::max(a.bits, b.bits)};
  return Type{true, a.isSigned ? std::max(a.bits, b.bits + 1) : std::max(a.bits + 1, b.bits)};
}

__int128 wrap(__int128 value, const Type &type) {
  if (type.bits == 128)
    return value;
  unsigned __int128 mask = (static_cast<unsigned __int128>(1) << type.bits) - 1;
  unsigned __int128 low = static_cast<unsigned __int128>(value) & mask;
  if (type.isSigned && (low >> (type.bits - 1)) != 0)
    low |= ~mask;
  return static_cast<__int128>(low);
}

__int128 saturate(__int128 value, const Type &type) {
  return std::clamp(value, type.least(), type.greatest());
}

int clog2(uint64_t value) {
  int bits = 0;
  while (bits < 64 && (uint64_t(1) << bits) < value)
    ++bits;
  return bits;
}

} // namespace tilewright::isa
