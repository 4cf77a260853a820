// Tensors of a run as files: what `--input` names, and what the outputs are called.
#pragma once

#include "tilewright/program/program.h"
#include "tilewright/simulator/runtime/session.h"

#include <string>
#include <vector>

namespace tilewright {

// Binds `NAME=FILE.npy` texts to the session of `program`. Throws UserError naming the option or
// the file.
void bindInputs(Session &session, const Program &program, const std::vector<std::string> &texts);

// The tensors' file names without the extension: their own names where those are plain, never a
// path, all different.
std::vector<std::string> fileNames(const std::vector<TensorInfo> &tensors);

} // namespace tilewright
