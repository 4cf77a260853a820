#pragma once

#include "tilewright/compiler/patterns/patterns.h"

namespace tilewright::patterns {

// Unifies a term of the pattern, `computed`, with the candidate's. Nothing where they differ;
// `mismatch`, unless null, then says in what.
std::optional<Match> unify(const isa::Isa &isa, const Pattern &pattern,
                           const isa::TermPtr &computed, const Candidate &candidate,
                           Mismatch *mismatch);

} // namespace tilewright::patterns
