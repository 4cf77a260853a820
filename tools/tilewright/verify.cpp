#include "verify.h"

#include "check_failed.h"
#include "load_program.h"
#include "parts.h"
#include "standard_streams.h"
#include "tensor_files.h"
#include "tilewright/lockstep/compare.h"
#include "tilewright/simulator/runtime/session.h"
#include "tilewright/support/error.h"

#include <fmt/format.h>

namespace tilewright {

// The command that shows the difference again.
static std::string reproduction(const VerifyOptions &options, const std::string &engines) {
  std::string command =
      fmt::format("tilewright verify {} --engines {}", escape(options.program, 4096), engines);
  for (const std::string &input : options.inputs)
    command += " --input " + escape(input, 4096);
  if (options.maxCycles != 0)
    command += fmt::format(" --max-cycles {}", options.maxCycles);
  return command + fmt::format(" --seed {}", options.seed);
}

static std::string summary(const lockstep::Compared &compared, uint64_t dramBytes,
                           int64_t samples) {
  std::string text = fmt::format("equal: {} instructions, {} cycles, {} bytes of DRAM",
                                 compared.instructions, compared.cycles, dramBytes);
  if (compared.writes != 0)
    text +=
        fmt::format(", {} memory writes of {} bytes, {} bursts read, {} stall cycles",
                    compared.writes, compared.writtenBytes, compared.reads, compared.stallCycles);
  return text + fmt::format(" compared, {} sample(s)\n", samples);
}

namespace {
// Compares the engines on one program after the other.
class Verification {
public:
  Verification(const VerifyOptions &options, const EngineMaker &make)
      : options_(options), make_(make) {}

  // All samples of the session.
  void compare(const LoadedProgram &loaded, const Session &session) {
    std::vector<std::unique_ptr<Engine>> made;
    std::vector<Engine *> engines;
    for (const std::string &name : splitEngines(options_.engineList)) {
      made.push_back(make_(name, loaded.isa));
      engines.push_back(made.back().get());
    }
    lockstep::CompareOptions limits;
    limits.maxCycles = options_.maxCycles;
    limits.checkRaces = true; // equal by luck is not equal
    lockstep::Compared compared;
    uint64_t dramBytes = 0;
    for (int64_t sample = 0; sample < session.batch(); ++sample) {
      const lockstep::Comparison own = lockstep::compare(
          loaded.isa, loaded.program, [&] { return session.image(sample); }, engines, limits);
      if (own.difference)
        throw CheckFailed(fmt::format("{}: different: sample {}: {}",
                                      escape(options_.program, 4096), sample,
                                      own.difference->text) +
                          "\n  reproduce: " + reproduction(options_, own.engines));
      if (!own.compared.stopped.empty())
        throw UserError({options_.program, 0, 0, ""},
                        fmt::format("did not end within {} cycles on engine {}", options_.maxCycles,
                                    own.compared.stopped),
                        "raise --max-cycles");
      if (own.compared.error)
        throw UserError(*own.compared.error);
      dramBytes += own.compared.dramBytes;
      compared = own.compared;
    }
    print(summary(compared, dramBytes, session.batch()));
  }

private:
  const VerifyOptions &options_;
  const EngineMaker &make_;
};
} // namespace

void verify(const VerifyOptions &options, const EngineMaker &make) {
  Verification verification(options, make);
  const std::string bytes = readProgramFile(options.program);
  if (!isParted(bytes)) {
    LoadedProgram loaded = loadProgram(options.program, bytes);
    Session session(loaded.program);
    bindInputs(session, loaded.program, options.inputs);
    session.fillInputs(options.seed);
    verification.compare(loaded, session);
    return;
  }
  const LoadedParts program = loadParts(options.program, bytes);
  for (Values &values : bindInputs(program, options.inputs, options.seed).samples)
    runParts(program, values, [&](size_t, const LoadedProgram &part, const Session &session) {
      verification.compare(part, session);
      return session.run(*makeEngine("functional", part.isa), {}).outputs;
    });
}

} // namespace tilewright
