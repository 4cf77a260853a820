#include "tilewright/compiler/frontend/model_formats.h"

#include "onnx/onnx_format.h"
#include "tosa/tosa_format.h"

#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>

namespace tilewright {

llvm::ArrayRef<ModelFormat> modelFormats() {
  static const ModelFormat formats[] = {
      {"ONNX", {".onnx"}, onnx_import::recognizes, onnx_import::served, onnx_import::read},
      {"TOSA",
       {".mlir", ".mlirbc"},
       tosa_import::recognizes,
       tosa_import::served,
       tosa_import::read},
  };
  return formats;
}

const ModelFormat *modelFormatOf(const std::string &path, const std::string &bytes) {
  for (const ModelFormat &format : modelFormats())
    for (const std::string &ending : format.endings)
      if (llvm::StringRef(path).ends_with(ending))
        return &format;
  for (const ModelFormat &format : modelFormats())
    if (format.recognizes(bytes))
      return &format;
  return nullptr;
}

std::string modelFormatList() {
  std::string list;
  for (const ModelFormat &format : modelFormats()) {
    const bool isLast = &format == &modelFormats().back();
    list += list.empty() ? "" : isLast ? ", or " : ", ";
    list += fmt::format("{} ({})", format.name, fmt::join(format.endings, ", "));
  }
  return list;
}

std::string onnxOperatorTable() { return onnx_import::operatorTable(); }

} // namespace tilewright
