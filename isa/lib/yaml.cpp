#include "tilewright/isa/yaml.h"

#include "plain_scalar.h"

#include "tilewright/support/files.h"

#include <fmt/format.h>
#include <sstream>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

namespace tilewright::yaml {

const Node *Node::find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i)
    if (keys[i].text == key)
      return &items[i];
  return nullptr;
}

SourceLocation Node::location(size_t offset) const {
  int quote = offset > 0 && kind == Kind::Text && !isPlain ? 1 : 0; // the text starts after it
  return SourceLocation{file ? *file : "", line, column + quote + static_cast<int>(offset), ""};
}

const char *describe(Node::Kind kind) {
  switch (kind) {
  case Node::Kind::Null:
    return "nothing";
  case Node::Kind::Flag:
    return "true or false";
  case Node::Kind::Text:
    return "a string";
  case Node::Kind::List:
    return "a list";
  case Node::Kind::Map:
    return "a map";
  }
  return "";
}

namespace {

// Rejects what yaml-cpp must never see, by one look at each byte.
class Prescan {
public:
  Prescan(std::string_view text, const std::string &file) : text_(text), file_(file) {}

  void run() {
    if (text_.size() > maximumBytes)
      throw UserError({file_, 0, 0, ""}, fmt::format("the file has {} bytes, more than {}",
                                                     text_.size(), maximumBytes));
    for (at_ = 0; at_ < text_.size();) {
      unsigned char c = static_cast<unsigned char>(text_[at_]);
      if (c == '\t')
        fail("a tab character", "indent and align with spaces");
      if ((c < 0x20 && c != '\n' && c != '\r') || c == 0x7f)
        fail(fmt::format("a control character (byte 0x{:02x})", c));
      size_t length = c < 0x80 ? 1 : utf8Length(at_);
      if (length == 0)
        fail(fmt::format("invalid UTF-8 (byte 0x{:02x})", c));
      structure(static_cast<char>(c));
      at_ += length;
      column_ = c == '\n' ? 1 : column_ + 1;
      line_ += c == '\n';
    }
    if (quote_ != 0) // yaml-cpp takes the end of the file for the end of the string
      throw UserError({file_, quoteLine_, quoteColumn_, ""}, "the quoted string never ends");
  }

private:
  // Brackets count outside of quoted strings and comments only; a plain scalar cannot hold them
  // unseen in a flow collection.
  void structure(char c) {
    if (comment_) {
      comment_ = c != '\n';
    } else if (quote_ != 0) {
      bool doubled =
          quote_ == '\'' && c == '\'' && at_ + 1 < text_.size() && text_[at_ + 1] == '\'';
      if ((quote_ == '"' && c == '\\') || doubled)
        escaped_ = !escaped_;
      else if (c == quote_ && !escaped_)
        quote_ = 0;
      else
        escaped_ = false;
    } else if (c == '"' || c == '\'') {
      bool opens =
          at_ == 0 || std::string_view(" \n\r[{,:-").find(text_[at_ - 1]) != std::string_view::npos;
      quote_ = opens ? c : 0;
      quoteLine_ = line_;
      quoteColumn_ = column_;
    } else if (c == '#') {
      comment_ = at_ == 0 || text_[at_ - 1] == ' ' || text_[at_ - 1] == '\n';
    } else if (c == '|' || c == '>') {
      size_t before = text_.substr(0, at_).find_last_not_of(' ');
      if (before != std::string_view::npos && before + 1 < at_ &&
          std::string_view(":-?").find(text_[before]) != std::string_view::npos)
        fail(fmt::format("a block scalar ('{}')", c), "write a quoted string");
    } else if (c == '[' || c == '{') {
      if (++depth_ > maximumDepth)
        fail(fmt::format("nested more than {} deep", maximumDepth));
    } else if ((c == ']' || c == '}') && depth_ > 0) {
      --depth_;
    }
  }

  size_t utf8Length(size_t at) const {
    unsigned char first = static_cast<unsigned char>(text_[at]);
    size_t length = first >= 0xc2 && first < 0xe0   ? 2
                    : (first & 0xf0) == 0xe0        ? 3
                    : first >= 0xf0 && first < 0xf5 ? 4
                                                    : 0;
    if (length == 0 || at + length > text_.size())
      return 0;
    for (size_t i = 1; i < length; ++i)
      if ((static_cast<unsigned char>(text_[at + i]) & 0xc0) != 0x80)
        return 0;
    unsigned char second = static_cast<unsigned char>(text_[at + 1]);
    bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    bool beyond = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
    return overlong || beyond ? 0 : length;
  }

  [[noreturn]] void fail(const std::string &message, const std::string &fix = "") const {
    throw UserError({file_, line_, column_, ""}, message, fix);
  }

  std::string_view text_;
  const std::string &file_;
  size_t at_ = 0;
  int line_ = 1, column_ = 1, depth_ = 0;
  int quoteLine_ = 0, quoteColumn_ = 0; // where the string begins
  char quote_ = 0;
  bool escaped_ = false, comment_ = false;
};

// Builds the tree from the parser's events; the events, unlike yaml-cpp's own nodes, tell a quoted
// string from a plain one.
class TreeBuilder : public YAML::EventHandler {
public:
  TreeBuilder(std::string_view text, std::shared_ptr<const std::string> file)
      : text_(text), file_(std::move(file)) {}

  Node take() { return std::move(root_); }
  bool sawDocument() const { return documents_ > 0; }

  void OnDocumentStart(const YAML::Mark &mark) override {
    if (++documents_ > 1)
      throw UserError(node(Node::Kind::Null, mark).location(), "a second document in the file",
                      "keep one document a file");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark &mark, YAML::anchor_t anchor) override {
    noAnchor(mark, anchor);
    Node nothing = node(Node::Kind::Null, mark);
    // The parser says the same of null, of ~, and of a value that is not there.
    const std::string_view written = wordAt(mark);
    if (!expectsKey() && !isNothing(written))
      noValue(nothing);
    if (!expectsKey() && plainKind(written) != PlainKind::Null)
      refusePlain(nothing.location(), written);
    add(std::move(nothing));
  }

  // An alias needs an anchor, and that is refused first.
  void OnAlias(const YAML::Mark &, YAML::anchor_t) override {}

  void OnScalar(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor,
                const std::string &value) override {
    noAnchor(mark, anchor);
    noTag(mark, tag);
    Node scalar = node(Node::Kind::Text, mark);
    scalar.text = value;
    scalar.isPlain = tag != "!";
    if (scalar.isPlain && !expectsKey()) {
      const PlainKind kind = plainKind(value);
      if (kind == PlainKind::Ambiguous)
        refusePlain(scalar.location(), value);
      if (kind == PlainKind::Flag)
        scalar.kind = Node::Kind::Flag;
    }
    add(std::move(scalar));
  }

  void OnSequenceStart(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Node::Kind::List, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Node::Kind::Map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

private:
  Node node(Node::Kind kind, const YAML::Mark &mark) const {
    Node made;
    made.kind = kind;
    made.line = mark.line + 1;
    made.column = mark.column + 1;
    made.file = file_;
    return made;
  }

  bool expectsKey() const {
    return !stack_.empty() && stack_.back().kind == Node::Kind::Map &&
           stack_.back().keys.size() == stack_.back().items.size();
  }

  void open(Node::Kind kind, const YAML::Mark &mark, const std::string &tag,
            YAML::anchor_t anchor) {
    noAnchor(mark, anchor);
    noTag(mark, tag);
    Node opened = node(kind, mark);
    if (expectsKey())
      throw UserError(opened.location(), fmt::format("{} as a key", describe(kind)),
                      "a key is a word");
    if (stack_.size() >= maximumDepth)
      throw UserError(opened.location(), fmt::format("nested more than {} deep", maximumDepth));
    stack_.push_back(std::move(opened));
  }

  void close() {
    Node closed = std::move(stack_.back());
    stack_.pop_back();
    add(std::move(closed));
  }

  void add(Node made) {
    if (stack_.empty()) {
      root_ = std::move(made);
      return;
    }
    Node &parent = stack_.back();
    if (!expectsKey()) {
      parent.items.push_back(std::move(made));
      return;
    }
    if (made.kind != Node::Kind::Text)
      throw UserError(made.location(), "a key is missing or null", "quote the key");
    if (parent.find(made.text))
      throw UserError(made.location(), fmt::format("duplicate key '{}'", escape(made.text)));
    parent.keys.push_back(std::move(made));
  }

  // The text from a mark to what ends a word.
  std::string_view wordAt(const YAML::Mark &mark) const {
    const std::string_view rest =
        text_.substr(std::min(static_cast<size_t>(mark.pos), text_.size()));
    return rest.substr(0, rest.find_first_of(" \r\n,:]}#"));
  }

  [[noreturn]] void noValue(const Node &nothing) const {
    const bool isOfKey = !stack_.empty() && stack_.back().kind == Node::Kind::Map;
    if (!isOfKey)
      throw UserError(nothing.location(), "a value is missing");
    const Node &key = stack_.back().keys.back();
    throw UserError(key.location(), fmt::format("'{}' has no value", escape(key.text)),
                    "write null to remove what stands there");
  }

  void noAnchor(const YAML::Mark &mark, YAML::anchor_t anchor) const {
    if (anchor != 0)
      throw UserError(node(Node::Kind::Null, mark).location(), "an anchor ('&')",
                      "write the value out where it is used");
  }
  void noTag(const YAML::Mark &mark, const std::string &tag) const {
    if (!tag.empty() && tag != "?" && tag != "!")
      throw UserError(node(Node::Kind::Null, mark).location(),
                      fmt::format("a tag ('{}')", escape(tag, 40)), "remove it");
  }

  const std::string_view text_;
  std::shared_ptr<const std::string> file_;
  std::vector<Node> stack_;
  Node root_;
  int documents_ = 0;
};

} // namespace

Node parse(std::string_view text, const std::string &file) {
  if (text.substr(0, 3) == "\xef\xbb\xbf") // a byte order mark says nothing in UTF-8
    text.remove_prefix(3);
  Prescan(text, file).run();
  auto shared = std::make_shared<const std::string>(file);
  std::istringstream stream{std::string(text)};
  TreeBuilder builder(text, shared);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception &error) {
    bool placed = !error.mark.is_null();
    throw UserError(
        {file, placed ? error.mark.line + 1 : 0, placed ? error.mark.column + 1 : 0, ""},
        fmt::format("not valid YAML: {}", escape(error.msg)));
  }
  if (!builder.sawDocument())
    throw UserError({file, 0, 0, ""}, "the file holds no YAML document");
  return builder.take();
}

Node read(const std::string &path) { return parse(readFile(path, maximumBytes), path); }

void mergePatch(Node &target, const Node &patch) {
  if (patch.kind != Node::Kind::Map) {
    target = patch;
    return;
  }
  if (target.kind != Node::Kind::Map) {
    Node empty = patch;
    empty.keys.clear();
    empty.items.clear();
    target = std::move(empty);
  }
  for (size_t i = 0; i < patch.keys.size(); ++i) {
    size_t at = 0;
    while (at < target.keys.size() && target.keys[at].text != patch.keys[i].text)
      ++at;
    if (patch.items[i].kind == Node::Kind::Null) {
      if (at < target.keys.size()) {
        target.keys.erase(target.keys.begin() + static_cast<std::ptrdiff_t>(at));
        target.items.erase(target.items.begin() + static_cast<std::ptrdiff_t>(at));
      }
      continue;
    }
    if (at == target.keys.size()) {
      target.keys.push_back(patch.keys[i]);
      target.items.emplace_back();
    }
    mergePatch(target.items[at], patch.items[i]);
  }
}

} // namespace tilewright::yaml
