#include "tilewright/support/digest.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA256.h>

namespace tilewright {

std::string sha256(std::string_view bytes) {
  llvm::SHA256 hash;
  hash.update(llvm::StringRef(bytes));
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

} // namespace tilewright
