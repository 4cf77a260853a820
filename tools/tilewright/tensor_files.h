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

template <typename TensorOf>
std::vector<std::string> namesOf(const std::vector<TensorOf> &tensors) {
  std::vector<std::string> names;
  for (const TensorOf &tensor : tensors)
    names.push_back(tensor.name);
  return names;
}

// NAME and FILE of each of the texts, where the names that are known may hold equals signs. Throws
// UserError naming the option for anything else, and for a name that stands twice.
std::vector<std::pair<std::string, std::string>> inputFiles(const std::vector<std::string> &known,
                                                            const std::vector<std::string> &texts);

// Tensors' file names without the extension: their own names where those are plain, never a path,
// all different.
std::vector<std::string> fileNames(const std::vector<std::string> &names);

} // namespace tilewright
