#include "tilewright/rtl/model.h"

#include "model_sources.h"

#include "tilewright/rtl/generate.h"
#include "tilewright/support/cache_folder.h"
#include "tilewright/support/descriptor.h"
#include "tilewright/support/digest.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"
#include "tilewright/support/find_program.h"
#include "tilewright/support/host_processor.h"
#include "tilewright/support/process.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <sys/file.h>
#include <unistd.h>

namespace tilewright::rtl {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string &message, const std::string &fix) {
  throw UserError({"", 0, 0, "the rtl engine"}, message, fix);
}

fs::path folderOfModels() {
  std::string folder = cacheFolder("rtl");
  if (folder.empty())
    fail("there is no directory to keep its models in", "set XDG_CACHE_HOME or HOME");
  return folder;
}

// One process at a time builds a model; the others wait for it.
Descriptor lock(const fs::path &path) {
  Descriptor file(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666));
  if (file.get() < 0 || ::flock(file.get(), LOCK_EX) != 0)
    fail(fmt::format("cannot lock {}", escape(path.string(), 4096)),
         "make the cache directory writable");
  return file;
}

// Verilator's and the compiler's options; a model is found by them too.
std::vector<std::string> options(Signals signals) {
  static const std::vector<std::string> all = {"--cc",
                                               "--exe",
                                               "--build",
                                               "-j",
                                               "2",
                                               "--top-module",
                                               "tilewright_model",
                                               "--prefix",
                                               "Vtilewright_model",
                                               "--assert",
                                               "-O3",
                                               "--x-assign",
                                               "fast",
                                               "--x-initial",
                                               "fast",
                                               "--unroll-count",
                                               "4",
                                               "--output-split",
                                               "40000",
                                               "--output-split-cfuncs",
                                               "2000",
                                               "-Wno-fatal",
                                               "-Wno-lint",
                                               "-CFLAGS",
                                               "-fPIC -fno-math-errno -march=native",
                                               "-LDFLAGS",
                                               "-shared",
                                               "-MAKEFLAGS",
                                               "OPT_FAST=-O2 OPT_SLOW=-O0 OPT_GLOBAL=-O2"};
  std::vector<std::string> own = all;
  if (const char *more = std::getenv("TILEWRIGHT_RTL_DEFINE")) // another form of the same machine
    own.push_back(fmt::format("+define+{}", more));
  if (signals == Signals::Waves)
    own.insert(own.end(), {"--trace-fst", "--trace-structs"});
  return own;
}

struct Tools {
  std::string verilator, compiler;
};

Tools findTools() {
  Tools tools{findProgram("verilator"), ""};
  for (const char *compiler : {"clang++-22", "clang++", "g++"})
    if (tools.compiler.empty())
      tools.compiler = findProgram(compiler);
  const char *fix = "{}, or run --engine cycle: it gives the same record";
  if (tools.verilator.empty())
    fail("verilator is not here", fmt::format(fmt::runtime(fix), "install the package verilator"));
  if (tools.compiler.empty())
    fail("no C++ compiler is here", fmt::format(fmt::runtime(fix), "install the package clang-22"));
  if (findProgram("make").empty())
    fail("make is not here", fmt::format(fmt::runtime(fix), "install the package make"));
  return tools;
}

void build(std::vector<SourceFile> files, Signals signals, const fs::path &library,
           const std::string &target) {
  const auto &[verilator, compiler] = findTools();
  const auto begin = std::chrono::steady_clock::now();
  std::fprintf(stderr, "rtl: building the model of '%s' (once; about a minute)\n", target.c_str());
  const fs::path directory = library.string() + "." + std::to_string(::getpid()) + ".build";
  fs::remove_all(directory);
  fs::create_directories(directory);
  const fs::path log = directory / "build.log";
  files.push_back({"tilewright_model.sv", modelTopText});
  std::vector<std::string> arguments = options(signals);
  arguments.insert(arguments.begin(), verilator);
  for (const auto &more :
       {std::string("-MAKEFLAGS"), "CXX=" + compiler + " LINK=" + compiler, std::string("--Mdir"),
        (directory / "model").string(), "-I" + directory.string(), std::string("-o"),
        (directory / "model.so").string(), (directory / "model_wrapper.cc").string()})
    arguments.push_back(more);
  for (const SourceFile &file : files) {
    // Messages and generated code name the file alone: a compiler cache then knows what it has
    // compiled elsewhere.
    writeFile((directory / file.name).string(),
              fmt::format("`line 1 \"{}\" 0\n{}", file.name, file.text));
    if (file.isCompiled)
      arguments.push_back((directory / file.name).string());
  }
  arguments.emplace_back("-CFLAGS");
  arguments.push_back("-I" + directory.string());
  writeFile((directory / "model_interface.h").string(), modelInterfaceText);
  writeFile((directory / "model_wrapper.cc").string(), modelWrapperText);
  const Descriptor output(::open(log.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0666));
  ProcessOptions streams;
  streams.output = streams.error = output.get();
  if (!runProgram(arguments, streams).isSuccess())
    fail("the model cannot be built", fmt::format("read {}", escape(log.string(), 4096)));
  fs::rename(directory / "model.so", library);
  fs::remove_all(directory);
  std::fprintf(stderr, "rtl: built in %.0f s\n",
               std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

ModelLibrary load(const fs::path &path) {
  void *handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    fail(fmt::format("the model {} cannot be loaded: {}", escape(path.string(), 4096),
                     escape(::dlerror())),
         "delete the file: it is built again");
  ModelLibrary library;
  library.create = reinterpret_cast<CreateModel>(::dlsym(handle, createModelName));
  library.destroy = reinterpret_cast<DestroyModel>(::dlsym(handle, destroyModelName));
  library.clock = reinterpret_cast<ClockModel>(::dlsym(handle, clockModelName));
  library.waves = reinterpret_cast<WavesModel>(::dlsym(handle, wavesModelName));
  if (library.create == nullptr || library.destroy == nullptr || library.clock == nullptr ||
      library.waves == nullptr)
    fail(fmt::format("the model {} lacks a function", escape(path.string(), 4096)),
         "delete the file: it is built again");
  return library;
}

fs::path libraryOf(const std::vector<SourceFile> &files, Signals signals) {
  std::string content = std::string(modelInterfaceText) + modelWrapperText + modelTopText;
  for (const SourceFile &file : files)
    content += file.name + file.text;
  for (const std::string &option : options(signals))
    content += option;
  content += hostProcessor(); // machines of several kinds may share the directory
  return folderOfModels() / (sha256(content) + ".so");
}

} // namespace

std::string modelPath(const isa::Isa &isa) {
  return libraryOf(generate(isa), Signals::Hidden).string();
}

void checkModel(const isa::Isa &isa) {
  std::error_code error;
  if (!fs::exists(libraryOf(generate(isa), Signals::Hidden), error))
    findTools();
}

const ModelLibrary &loadModel(const isa::Isa &isa, Signals signals) {
  const std::vector<SourceFile> files = generate(isa);
  const fs::path library = libraryOf(files, signals);
  static std::map<std::string, ModelLibrary> loaded;
  if (auto found = loaded.find(library.string()); found != loaded.end())
    return found->second;
  std::error_code error;
  fs::create_directories(library.parent_path(), error);
  {
    const Descriptor locked = lock(library.string() + ".lock");
    if (!fs::exists(library, error))
      build(files, signals, library, escape(isa.target()));
  }
  return loaded[library.string()] = load(library);
}

} // namespace tilewright::rtl
