// YAML as this project reads it: a safe subset, as a tree in which every node knows its place.
//
// A value is a string, a list or a map, or one of the plain words true, false and null. A string
// stands in quotes unless all versions of YAML agree on it (isa/lib/plain_scalar.h): they read a
// plain 010 as 8, and no as false. Anchors, aliases, tags, several documents, duplicate keys, tabs,
// control characters and invalid UTF-8 are errors with file:line:col. Nesting and size are limited
// before yaml-cpp sees the text, so that no input can exhaust the stack.
#pragma once

#include "tilewright/support/error.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::yaml {

struct Node {
  enum class Kind { Null, Flag, Text, List, Map };
  Kind kind = Kind::Null;
  std::string text;        // Text; "true" or "false" for Flag
  bool isPlain = false;    // Text without quotes
  std::vector<Node> keys;  // Map: Text nodes, in the order of the file
  std::vector<Node> items; // List: the elements; Map: the values, one a key
  int line = 0;            // 1-based
  int column = 0;
  std::shared_ptr<const std::string> file;

  const Node *find(std::string_view key) const; // of a Map; null when there is none
  bool flag() const { return kind == Kind::Flag && text == "true"; }
  // The place of the node, or of the byte `offset` of its text.
  SourceLocation location(size_t offset = 0) const;
};

inline constexpr size_t maximumBytes = size_t(1) << 20;
inline constexpr int maximumDepth = 32;

// Throws UserError for whatever is outside the subset.
Node parse(std::string_view text, const std::string &file);
Node read(const std::string &path);

// What a node is, for messages: "a map", "a string".
const char *describe(Node::Kind kind);

// Applies a merge patch in the manner of RFC 7386: maps merge key by key, null removes, anything
// else replaces. New keys come last.
void mergePatch(Node &target, const Node &patch);

} // namespace tilewright::yaml
