#include "tilewright/program/parted_program.h"

#include "json_object.h"
#include "tilewright/support/shape.h"

#include <llvm/Object/Archive.h>
#include <llvm/Object/ArchiveWriter.h>
#include <map>

namespace tilewright {

namespace object = llvm::object;

static constexpr char manifest[] = "parts.json";
static constexpr int64_t formatVersion = 1;

static std::string memberOf(const Part &part, size_t index) {
  return fmt::format("{}.{}", index, part.onHost ? "onnx" : "elf");
}

static OrderedJson tensorsJson(const std::vector<BorderTensor> &tensors) {
  OrderedJson list = OrderedJson::array();
  for (const BorderTensor &tensor : tensors)
    list.push_back({{"name", tensor.name}, {"dtype", name(tensor.dtype)}, {"shape", tensor.shape}});
  return list;
}

static std::vector<BorderTensor> readTensors(const Object &object, const char *key) {
  std::vector<BorderTensor> tensors;
  const Json &array = object.array(key);
  for (size_t i = 0; i < array.size(); ++i) {
    const Object each = object.element(key, array, i);
    tensors.push_back({each.text("name"), each.type("dtype"), each.shape("shape", -1)});
    int64_t size = byteSize(tensors.back().dtype);
    for (int64_t dim : tensors.back().shape) {
      if (dim > maxTensorBytes / size)
        each.failKey("shape", fmt::format("is of more than {} bytes", maxTensorBytes));
      size *= std::max<int64_t>(dim, 1);
    }
  }
  return tensors;
}

bool isParted(const std::string &bytes) { return llvm::StringRef(bytes).starts_with("!<arch>\n"); }

std::string writeParted(const PartedProgram &program) {
  OrderedJson json;
  json["version"] = formatVersion;
  json["inputs"] = tensorsJson(program.inputs);
  json["outputs"] = tensorsJson(program.outputs);
  json["parts"] = OrderedJson::array();
  for (const Part &part : program.parts) {
    OrderedJson each;
    each["on"] = part.onHost ? "host" : "accelerator";
    each["operators"] = OrderedJson::array();
    for (const HostOperator &op : part.operators)
      each["operators"].push_back({{"name", op.name}, {"op", op.op}, {"reason", op.reason}});
    json["parts"].push_back(std::move(each));
  }
  const std::string text = dump(json);

  std::vector<std::string> names = {manifest};
  for (size_t i = 0; i < program.parts.size(); ++i)
    names.push_back(memberOf(program.parts[i], i));
  std::vector<llvm::NewArchiveMember> members;
  members.emplace_back(llvm::MemoryBufferRef(text, names[0]));
  for (size_t i = 0; i < program.parts.size(); ++i)
    members.emplace_back(llvm::MemoryBufferRef(program.parts[i].bytes, names[i + 1]));
  auto written = llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NoSymtab,
                                            object::Archive::K_GNU, /*Deterministic=*/true,
                                            /*Thin=*/false);
  if (!written)
    throw std::runtime_error(llvm::toString(written.takeError()));
  return (*written)->getBuffer().str();
}

namespace {
class Reader {
public:
  explicit Reader(const std::string &path) : path_(path) {}

  PartedProgram read(const std::string &bytes) {
    readMembers(bytes);
    const Json json = parseSection(path_, manifest, taken(manifest));
    const Object object(path_, manifest, json, "");
    if (object.integer("version", 1) != formatVersion)
      object.failKey("version", "is not one that is read");
    PartedProgram program{readTensors(object, "inputs"), readTensors(object, "outputs"), {}};
    const Json &parts = object.array("parts");
    for (size_t i = 0; i < parts.size(); ++i)
      program.parts.push_back(readPart(object.element("parts", parts, i), i));
    return program;
  }

private:
  [[noreturn]] void fail(const std::string &message) const {
    throw UserError({path_, 0, 0, ""}, message, "the file is damaged; compile the model again");
  }

  void readMembers(const std::string &bytes) {
    auto archive = object::Archive::create(llvm::MemoryBufferRef(bytes, path_));
    if (!archive)
      fail("is no archive of parts: " + escape(llvm::toString(archive.takeError())));
    llvm::Error error = llvm::Error::success();
    for (const object::Archive::Child &child : (*archive)->children(error)) {
      llvm::Expected<llvm::StringRef> name = child.getName();
      llvm::Expected<llvm::StringRef> content = child.getBuffer();
      if (!name || !content) {
        llvm::consumeError(name.takeError());
        llvm::consumeError(content.takeError());
        break;
      }
      members_[name->str()] = *content;
    }
    if (error)
      fail("is a damaged archive: " + escape(llvm::toString(std::move(error))));
  }

  llvm::StringRef taken(const std::string &name) const {
    auto found = members_.find(name);
    if (found == members_.end())
      fail(fmt::format("has no member '{}'", name));
    return found->second;
  }

  Part readPart(const Object &object, size_t index) const {
    Part part;
    const std::string on = object.text("on");
    if (on != "host" && on != "accelerator")
      object.failKey("on", fmt::format("is '{}', and should be host or accelerator", escape(on)));
    part.onHost = on == "host";
    const Json &operators = object.array("operators");
    for (size_t i = 0; i < operators.size(); ++i) {
      const class Object each = object.element("operators", operators, i);
      part.operators.push_back({each.text("name"), each.text("op"), each.text("reason")});
    }
    part.bytes = taken(memberOf(part, index)).str();
    return part;
  }

  const std::string &path_;
  std::map<std::string, llvm::StringRef> members_; // into the file
};
} // namespace

PartedProgram readParted(const std::string &path, const std::string &bytes) {
  return Reader(path).read(bytes);
}

} // namespace tilewright
