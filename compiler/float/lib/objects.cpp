#include "objects.h"

#include "optimize.h"
#include "tilewright/simulator/kernels/object_cache.h"
#include "tilewright/support/digest.h"

#include <future>

using namespace mlir;

namespace tilewright::float_kernels {

namespace {

// Kernels that are compiled together, and the object that holds them.
struct Part {
  OwningOpRef<ModuleOp> module;
  std::string key;
  std::string object; // empty: not known yet
};

// Kernels in turn; as many parts at any number of threads, so that what is on disk serves all.
std::vector<Part> partsOf(KernelProgram &program) {
  constexpr size_t most = 4;
  std::vector<Part> parts(std::min(most, program.kernels.size()));
  std::vector<std::string> contents(parts.size(), codeVersion());
  for (Part &part : parts)
    part.module = ModuleOp::create(program.module->getLoc());
  for (auto [i, kernel] : llvm::enumerate(program.kernels)) {
    size_t part = i % parts.size();
    contents[part] += kernel.function.getSymName().str() + "\n" + kernel.text + "\n";
    kernel.function->moveBefore(parts[part].module->getBody(),
                                parts[part].module->getBody()->end());
  }
  for (auto [part, content] : llvm::zip(parts, contents))
    part.key = sha256(content);
  return parts;
}

} // namespace

std::vector<std::string> objectsOf(KernelProgram &program, unsigned threads,
                                   const std::function<void(const LoweringFailure &)> &failed) {
  const auto cache = kernels::ObjectCache::inCacheHome("float");
  std::vector<Part> parts = partsOf(program);
  std::vector<std::unique_ptr<Translation>> translations;
  std::vector<std::pair<Part *, std::future<std::string>>> pending;
  bool isRegistered = false;
  for (Part &part : parts) {
    if (auto known = cache.load(part.key)) {
      part.object = std::move(*known);
      continue;
    }
    if (!std::exchange(isRegistered, true))
      registerLowering(*program.module->getContext());
    if (std::optional<LoweringFailure> failure = lowerToLlvm(*part.module, hostBlocks())) {
      for (auto &[other, object] : pending)
        object.wait();
      failed(*failure);
    }
    // Beside the lowering of those that follow.
    translations.push_back(std::make_unique<Translation>(*part.module));
    pending.emplace_back(
        &part,
        std::async(threads > 1 ? std::launch::async | std::launch::deferred : std::launch::deferred,
                   [&translation = *translations.back()] { return translation.compile(); }));
  }
  for (auto &[part, object] : pending)
    object.wait(); // all of them, before one that failed destroys the modules
  for (auto &[part, object] : pending) {
    part->object = object.get();
    cache.store(part->key, part->object);
  }
  std::vector<std::string> objects;
  for (Part &part : parts)
    objects.push_back(std::move(part.object));
  return objects;
}

} // namespace tilewright::float_kernels
