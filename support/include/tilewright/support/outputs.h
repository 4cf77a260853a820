// What a command writes: all of it, or nothing.
//
// 1. Each output is declared before any work, and refused there: one that cannot be written, that
//    is also an input, or that another output is too, by whatever name or link.
// 2. What is written goes to a temporary file beside its target.
// 3. `commit` writes streams and then renames the files. Whatever fails before its end leaves
//    targets as they were and no file behind; so does `removeUnfinishedFile` (files.h) after a
//    signal.
//
// `-` and /dev/stdout are standard output; /dev/fd/N is a descriptor that is open; a pipe or a
// character device is written to, in step 3. A link that is given stays, and its target is
// replaced. Messages name the option: `r.json: --json: error: ...`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

class ReadNotes;

class Outputs {
public:
  Outputs();
  Outputs(const Outputs &) = delete;
  Outputs &operator=(const Outputs &) = delete;
  ~Outputs();

  // An empty path is one that was not given: nothing is declared. All throw UserError.
  void reads(const std::string &option, const std::string &path);
  void file(const std::string &option, const std::string &path);
  // One that is written by its name, through `temporary`: no stream.
  void namedFile(const std::string &option, const std::string &path);
  // Made, with its parents, if need be. Its files are declared one by one, at any time.
  void directory(const std::string &option, const std::string &path);

  // The content of a declared file.
  void write(const std::string &path, std::string_view bytes);
  // The name under which a declared file, which is no stream, is to be written.
  std::string temporary(const std::string &path);

  // Whether a declared file is standard output, where nothing else belongs then.
  bool takesStandardOutput() const;
  // To standard output, in `commit`.
  void print(std::string_view text);

  void commit();

private:
  struct Target;
  struct Made;

  Target &targetOf(const std::string &path);
  void refuseIfTaken(const Target &target) const;
  void makeDirectories(const Target &target);
  void writeStreams();
  void replaceFiles();

  std::unique_ptr<ReadNotes> read_;
  std::vector<std::unique_ptr<Made>> made_; // directories; gone after the files in them
  std::vector<std::unique_ptr<Target>> inputs_, directories_, files_;
  std::string printed_;
};

// `-`, or another name of the process's standard output.
bool isStandardOutput(const std::string &path);

} // namespace tilewright
