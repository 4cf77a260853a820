#include "bytecode_text.h"

#include "first_diagnostic.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
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

void bound(int what, rlim_t most) {
  const rlimit limit{most, most};
  ::setrlimit(static_cast<__rlimit_resource>(what), &limit);
}

[[noreturn]] void readInChild(const std::string &path, const std::string &bytes, int out) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
    ::signal(signal, SIG_DFL); // no report of a crash: the parent tells it
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nowhere, STDERR_FILENO);
  bound(RLIMIT_CORE, 0);
  bound(RLIMIT_CPU, 5 + bytes.size() / 1'000'000);
#if !__has_feature(address_sanitizer) // which reserves terabytes
  bound(RLIMIT_AS, (rlim_t{4} << 30) + 32 * bytes.size());
#endif
  std::string answer;
  try {
    answer = read(path, bytes);
  } catch (const UserError &error) {
    answer = isMessage + error.message();
  } catch (...) {
    ::_exit(1);
  }
  for (size_t done = 0; done < answer.size();) {
    const ssize_t written = ::write(out, answer.data() + done, answer.size() - done);
    if (written < 0 && errno != EINTR)
      ::_exit(1);
    done += written < 0 ? 0 : static_cast<size_t>(written);
  }
  ::_exit(0);
}

std::string allOf(int in) {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t count = ::read(in, buffer, sizeof buffer);
    if (count == 0 || (count < 0 && errno != EINTR))
      return text;
    if (count > 0)
      text.append(buffer, static_cast<size_t>(count));
  }
}

} // namespace

std::string textOfBytecode(const std::string &path, const std::string &bytes) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  const pid_t child = ::fork();
  if (child == 0)
    readInChild(path, bytes, ends[1]);
  const int forked = errno;
  ::close(ends[1]);
  std::string answer = child > 0 ? allOf(ends[0]) : "";
  ::close(ends[0]);
  if (child < 0)
    throw std::system_error(forked, std::generic_category(), "fork");
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || answer.empty())
    throw UserError({path, 0, 0, ""}, "the MLIR bytecode is damaged: it ends MLIR's reader",
                    "write the file anew, or give the module as text");
  const bool fits = answer[0] == isText;
  answer.erase(0, 1);
  if (!fits)
    throw UserError({path, 0, 0, ""}, answer);
  return answer;
}

} // namespace tilewright
