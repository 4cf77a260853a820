#include "bytecode_text.h"

#include "first_diagnostic.h"

#include "tilewright/support/process.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"

#include <cerrno>
#include <csignal>
#include <unistd.h>

namespace tilewright {

namespace {

constexpr char isText = 't', isMessage = 'm'; // the first byte of what comes through the pipe

// What comes through the pipe.
std::string answerOn(const std::string &path, const std::string &bytes) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context
      .loadDialect<mlir::func::FuncDialect, mlir::tosa::TosaDialect, mlir::quant::QuantDialect>();
  FirstDiagnostic diagnostics(context, path);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(bytes, mlir::ParserConfig(&context), path);
  if (!module)
    return isMessage + diagnostics.message("it holds no module");
  std::string text(1, isText);
  llvm::raw_string_ostream stream(text);
  module->print(stream, mlir::OpPrintingFlags().enableDebugInfo());
  return text;
}

// In a process of its own: writes what it finds to standard output.
int readInChild(const std::string &path, const std::string &bytes) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
    ::signal(signal, SIG_DFL); // no report of a crash: the parent tells it
  const std::string answer = answerOn(path, bytes);
  for (size_t done = 0; done < answer.size();) {
    const ssize_t written = ::write(STDOUT_FILENO, answer.data() + done, answer.size() - done);
    if (written < 0 && errno != EINTR)
      return 1;
    done += written < 0 ? 0 : static_cast<size_t>(written);
  }
  return 0;
}

} // namespace

bool isBytecode(const std::string &bytes) { return bytes.rfind("ML\xefR", 0) == 0; }

void failOnBytecode(const std::string &path, const std::string &why) {
  throw UserError({path, 0, 0, ""}, "the MLIR bytecode cannot be read: " + why,
                  "write the file anew, or give the module as text");
}

std::string textOfBytecode(const std::string &path, const std::string &bytes) {
  ProcessOptions limits;
  limits.processorSeconds = 5 + bytes.size() / 1'000'000;
  limits.addressSpaceBytes = (uint64_t{4} << 30) + 32 * bytes.size();
  auto [answer, end] = outputOf([&] { return readInChild(path, bytes); }, limits);
  if (!end.isSuccess() || answer.empty())
    failOnBytecode(path, "it ends MLIR's reader");
  const bool fits = answer[0] == isText;
  answer.erase(0, 1);
  if (!fits)
    failOnBytecode(path, answer);
  return answer;
}

} // namespace tilewright
