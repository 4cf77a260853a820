// Child processes: programs, and own code that must not take this process with it.
//
// None outlives this process, however that ends. Their core dumps are off. Whatever cannot be
// started for want of processes, memory or descriptors throws UserError.
#pragma once

#include "tilewright/support/descriptor.h"

#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

namespace tilewright {

struct ProcessOptions {
  // Descriptors of this process that become the standard streams of the child.
  int input = STDIN_FILENO, output = STDOUT_FILENO, error = STDERR_FILENO;
  // Limits; 0: as this process. The address sanitizer maps more than any limit allows: without it.
  uint64_t addressSpaceBytes = 0;
  uint64_t processorSeconds = 0;
  // ChildProcess::kill() ends what the child has started too; signals of the terminal reach none.
  bool hasOwnGroup = false;
};

struct ProcessEnd {
  int code = 0;   // exit code
  int signal = 0; // that ended it, and then the code says nothing; 0: none

  bool isSuccess() const { return code == 0 && signal == 0; }
};

class ChildProcess {
public:
  // Runs `work` in a copy of this process, in which nothing but the calling thread goes on. It ends
  // with the exit code that `work` gives, or 1 when that throws, without destructors and handlers.
  explicit ChildProcess(const std::function<int()> &work, const ProcessOptions &options = {});
  ChildProcess(ChildProcess &&other) noexcept;
  ChildProcess &operator=(ChildProcess &&other) noexcept;
  ~ChildProcess(); // kills it

  // The first argument is the program: a path, or a name that is searched in $PATH. One that cannot
  // be executed says so on the child's standard error and ends with code 127.
  static ChildProcess program(const std::vector<std::string> &arguments,
                              const ProcessOptions &options = {});

  std::optional<ProcessEnd> poll(); // how it has ended, if it has
  ProcessEnd wait();
  void kill();

private:
  void collect(int flags);

  pid_t id_ = 0; // 0: moved from
  bool hasOwnGroup_ = false;
  std::optional<ProcessEnd> end_;
};

// Runs a program to its end.
ProcessEnd runProgram(const std::vector<std::string> &arguments,
                      const ProcessOptions &options = {});

struct ProcessOutput {
  std::string text;
  ProcessEnd end;
};

// What own code or a program writes to standard output, and a program to standard error too if
// `withErrors`: else that is dropped. Standard input is empty; of `options` the limits count.
ProcessOutput outputOf(const std::function<int()> &work, const ProcessOptions &options);
ProcessOutput outputOf(const std::vector<std::string> &arguments, bool withErrors);

// A pipe whose ends no program inherits but as standard streams.
struct Pipe {
  Pipe();
  Descriptor out, in; // to read from, to write to
};

} // namespace tilewright
