// The shape of the YAML files of this part.
#pragma once

#include "tilewright/isa/schema.h"

namespace tilewright::explore {

extern const isa::FileSchema experimentFile, technologyFile;

} // namespace tilewright::explore
