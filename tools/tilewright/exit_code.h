// What the tool's exit codes mean. Scripts rely on them.
#pragma once

namespace tilewright::exitcode {

constexpr int done = 0;
constexpr int userMistake = 1;
constexpr int usage = 2;
constexpr int checkFailed = 3;
constexpr int ourMistake = 70; // EX_SOFTWARE

} // namespace tilewright::exitcode
