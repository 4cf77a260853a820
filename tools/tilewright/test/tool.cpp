#include "tool.h"

#include "tilewright/support/process.h"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace tilewright::test {

namespace fs = std::filesystem;

static std::string contentOf(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

void ToolTest::SetUp() {
  std::string pattern = (fs::temp_directory_path() / "tilewright-cli-XXXXXX").string();
  directory_ = ::mkdtemp(pattern.data());
}

void ToolTest::TearDown() {
  fs::remove_all(directory_);
  fs::remove(directory_ + ".out");
  fs::remove(directory_ + ".err");
}

Ended ToolTest::run(const std::vector<std::string> &arguments,
                    const std::function<void()> &before) const {
  std::vector<char *> argv = {const_cast<char *>("tilewright")};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  std::string out = directory_ + ".out", err = directory_ + ".err";
  const Descriptor outFile(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const Descriptor errFile(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  ProcessOptions options;
  options.output = outFile.get();
  options.error = errFile.get();
  ChildProcess child(
      [&] {
        if (::chdir(directory_.c_str()) != 0)
          return 126;
        if (before)
          before();
        ::execv(TILEWRIGHT_TOOL, argv.data());
        return 127;
      },
      options);
  const ProcessEnd end = child.wait();
  return {end.signal == 0 ? end.code : -end.signal, contentOf(out), contentOf(err)};
}

void ToolTest::write(const std::string &name, const std::string &content) const {
  std::ofstream(directory_ + "/" + name, std::ios::binary) << content;
}

std::string ToolTest::read(const std::string &name) const {
  return contentOf(directory_ + "/" + name);
}

std::vector<std::string> ToolTest::files() const {
  std::vector<std::string> names;
  for (const auto &entry : fs::directory_iterator(directory_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void ToolTest::writeConvolution() const {
  write("m.mlir", R"(
func.func @main(%x: tensor<1x12x12x32xi8>) -> tensor<1x12x12x40xi32> {
  %w = "tosa.const"() {values = dense<3> : tensor<40x1x1x32xi8>} : () -> tensor<40x1x1x32xi8>
  %b = "tosa.const"() {values = dense<7> : tensor<40xi32>} : () -> tensor<40xi32>
  %z = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %y = tosa.conv2d %x, %w, %b, %z, %z {acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
     : (tensor<1x12x12x32xi8>, tensor<40x1x1x32xi8>, tensor<40xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x12x12x40xi32> loc("my layer"("Conv"))
  return %y : tensor<1x12x12x40xi32>
}
)");
}

void ToolTest::makeCopyProgram() const {
  write("copy.s", "load  s=0, d=0, n1=1, n0=4 !signal=0\n"
                  "store s=0, d=0x100, n1=1, n0=4 !wait=0 !signal=1\n"
                  "fence !wait=1\n"
                  "halt\n");
  Ended ended = run({"asm", "copy.s", "-o", "copy.elf", "--input", "x=0:int8:1x4",
                     "--output-tensor", "y=0x100:int8:1x4", "--dram-bytes", "4096"});
  ASSERT_EQ(ended.code, 0) << ended.diagnostics;
  fs::remove(directory_ + "/copy.s");
}

} // namespace tilewright::test
