// The shape of a YAML file: which keys, which are required, what each holds. Files are checked
// against these tables, and JSON schemas (for editors) are written from them: isa/schema/*.json
// from those of the ISA.
#pragma once

#include "tilewright/isa/yaml.h"

#include <string>
#include <vector>

namespace tilewright::isa {

struct Schema;

struct SchemaField {
  const char *name;
  const Schema *schema;
  bool required;
  const char *summary;
};

struct Schema {
  enum class Kind {
    Text,       // any string
    Identifier, // a lowercase name
    Expression, // a number or an expression; its content is checked by whoever reads it
    Choice,     // one of `choices`
    Flag,
    Object, // `fields`
    MapOf,  // names to `element`
    ListOf, // of `element`
    Tree,   // maps of maps of expressions
    Patch,  // anything: a merge patch is checked once it is applied
  };
  Kind kind;
  std::vector<SchemaField> fields = {};
  const Schema *element = nullptr;
  std::vector<const char *> choices = {};
  bool dotted = false; // MapOf: keys may hold dots, as instruction names do
};

enum class FileKind { Machine, Instruction, Timing, Dram, Technology, Target, Overlay, Registers };
struct FileSchema {
  const char *name; // "machine"; the file says schema: "tilewright/machine/1"
  const char *summary;
  const Schema *schema;
  const char *origin = "`tilewright isa doc` from isa/lib/schema.cpp"; // of its JSON schema
};
const std::vector<FileSchema> &fileSchemas(); // by FileKind
const FileSchema &schemaOf(FileKind kind);

// Throws UserError at the first node that has not the declared shape: unknown key (names the
// nearest), missing key, wrong type.
void conform(const yaml::Node &file, const FileSchema &schema);
void conform(const yaml::Node &file, FileKind kind);

// The same table as a JSON schema (draft 2020-12), with a banner.
std::string jsonSchema(const FileSchema &file);

// Lowercase letters, digits and '_', first a letter; with `dotted` also '.' between such words.
bool isIdentifier(std::string_view text, bool dotted);

} // namespace tilewright::isa
