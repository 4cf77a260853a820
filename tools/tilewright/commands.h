// Each adds one subcommand. A subcommand's callback throws UserError, CheckFailed, or (our mistake)
// anything else.
#pragma once

namespace CLI {
class App;
}

namespace tilewright {

void addRunCommand(CLI::App &app);
void addReportCommand(CLI::App &app);
void addVerifyCommand(CLI::App &app);
void addFuzzCommand(CLI::App &app);
void addAsmCommand(CLI::App &app);
void addDisasmCommand(CLI::App &app);
void addDoctorCommand(CLI::App &app);
void addOptionsCommand(CLI::App &app);

} // namespace tilewright
