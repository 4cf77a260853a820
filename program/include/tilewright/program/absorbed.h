// Operators of the model that no layer of the program is named after. They stand behind its layers,
// as layers without instructions whose plan says where they went, for reports only.
#pragma once

#include "tilewright/program/program.h"

namespace tilewright {

// What the plan of such a layer begins with.
constexpr std::string_view absorbedPlan = "not by itself: ";

inline bool isAbsorbed(const LayerInfo &layer) {
  return std::string_view(layer.plan).substr(0, absorbedPlan.size()) == absorbedPlan;
}

// Of those before them.
size_t layerCount(const Program &program);

} // namespace tilewright
