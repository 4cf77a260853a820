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

std::string read(const std::string &path, const std::string &bytes) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context
      .loadDialect<mlir::func::FuncDialect, mlir::tosa::TosaDialect, mlir::quant::QuantDialect>();
  FirstDiagnostic diagnostics(context, path);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(bytes, mlir::ParserConfig(&context), path);
  if (!module)
    diagnostics.raise("the MLIR bytecode is damaged");
  std::string text(1, isText);
  llvm::raw_string_ostream stream(text);
  module->print(stream, mlir::OpPrintingFlags().enableDebugInfo());
  return text;
}

// In a process of its own: writes what it finds to standard output.
int readInChild(const std::string &path, const std::string &bytes) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
    ::signal(signal, SIG_DFL); // no report of a crash: the parent tells it
  std::string answer;
  try {
    answer = read(path, bytes);
  } catch (const UserError &error) {
    answer = isMessage + error.message();
  }
  for (size_t done = 0; done < answer.size();) {
    const ssize_t written = ::write(STDOUT_FILENO, answer.data() + done, answer.size() - done);
    if (written < 0 && errno != EINTR)
      return 1;
    done += written < 0 ? 0 : static_cast<size_t>(written);
  }
  return 0;
}

} // namespace

std::string textOfBytecode(const std::string &path, const std::string &bytes) {
  ProcessOptions limits;
  limits.processorSeconds = 5 + bytes.size() / 1'000'000;
  limits.addressSpaceBytes = (uint64_t{4} << 30) + 32 * bytes.size();
  auto [answer, end] = outputOf([&] { return readInChild(path, bytes); }, limits);
  if (!end.isSuccess() || answer.empty())
    throw UserError({path, 0, 0, ""}, "the MLIR bytecode is damaged: it ends MLIR's reader",
                    "write the file anew, or give the module as text");
  const bool fits = answer[0] == isText;
  answer.erase(0, 1);
  if (!fits)
    throw UserError({path, 0, 0, ""}, answer);
  return answer;
}

} // namespace tilewright
