#include "tilewright/isa/streaming_rate.h"

#include "resolver.h"
#include "tilewright/isa/documents.h"
#include "tilewright/isa/schema.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace tilewright::isa {

double StreamingRate::bytesPerCycle() const {
  return static_cast<double>(bytes) / static_cast<double>(cycles);
}

int64_t StreamingRate::bytesPerSecond(int64_t clockHz) const {
  return static_cast<int64_t>(static_cast<__int128>(bytes) * clockHz / cycles);
}

int64_t StreamingRate::cyclesFor(int64_t moved) const {
  if (cycles == 1)
    return moved / bytes + (moved % bytes != 0);
  const __int128 needed = (static_cast<__int128>(moved) * cycles + bytes - 1) / bytes;
  return static_cast<int64_t>(std::min<__int128>(needed, INT64_MAX));
}

StreamingRate streamingRate(int64_t bytesPerSecond, int64_t clockHz) {
  const int64_t divisor = std::gcd(bytesPerSecond, clockHz);
  return {bytesPerSecond / divisor, clockHz / divisor};
}

StreamingRate streamingRate(int64_t dramBytesPerSecond, int64_t busBytes, int64_t clockHz) {
  if (dramBytesPerSecond == 0 || busBytes * clockHz <= dramBytesPerSecond)
    return {busBytes, 1};
  return streamingRate(dramBytesPerSecond, clockHz);
}

StreamingRate streamingRate(const Isa &isa) {
  return streamingRate(dramBytesPerSecond(isa), isa.param("bus_bytes"), isa.clockHz());
}

int64_t dramBytesPerSecond(const Isa &isa) { return bytesPerSecondOf(isa.dramParameters()); }

std::map<std::string, DramParameters> shippedDramParameters(const Isa &isa,
                                                            const LoadOptions &options) {
  std::map<std::string, DramParameters> presets;
  for (const std::string &name : shippedDrams(options)) {
    const yaml::Node file = yaml::read(
        (std::filesystem::path(findDirectory(options)) / "dram" / (name + ".yaml")).string());
    conform(file, FileKind::Dram);
    try {
      presets[name] = resolveDram(file, isa.params(), isa.clockHz());
    } catch (const UserError &) {
      // A preset that does not fit the machine.
    }
  }
  return presets;
}

} // namespace tilewright::isa
