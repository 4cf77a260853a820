#include "syntax.h"

#include "plain_scalar.h"

#include <fmt/format.h>

namespace tilewright::isa {

bool parseType(std::string_view text, Type &type) {
  if (text.size() < 2 || text.size() > 4 || (text[0] != 'i' && text[0] != 'u') || text[1] == '0')
    return false;
  int bits = 0;
  for (char c : text.substr(1)) {
    if (c < '0' || c > '9')
      return false;
    bits = bits * 10 + (c - '0');
  }
  if (bits > (text[0] == 'i' ? 128 : 127))
    return false;
  type = Type{text[0] == 'i', bits};
  return true;
}

namespace {

constexpr int maximumNesting = 100;
constexpr int maximumTokens = 2000;

enum class TokenKind { Number, Name, Operator, End };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;
  __int128 value = 0;
  size_t offset = 0;
};

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

class Parser {
public:
  explicit Parser(const yaml::Node &scalar) : scalar_(scalar), text_(scalar.text) { advance(); }

  Syntax expression() {
    if (++nesting_ > maximumNesting)
      fail(token_.offset, fmt::format("nested more than {} deep", maximumNesting));
    Syntax condition = binary(0);
    if (accept("?")) {
      Syntax node = make(Syntax::Kind::Conditional, condition.offset);
      node.args.push_back(std::move(condition));
      node.args.push_back(expression());
      expect(":");
      node.args.push_back(expression());
      condition = std::move(node);
    }
    --nesting_;
    return condition;
  }

  void end() {
    if (token_.kind != TokenKind::End)
      fail(token_.offset, fmt::format("unexpected '{}' after the expression", escape(token_.text)));
  }

  std::string name() {
    if (token_.kind != TokenKind::Name)
      fail(token_.offset, "a name is missing");
    std::string text(token_.text);
    advance();
    return text;
  }

  void expect(std::string_view op) {
    if (!accept(op))
      fail(token_.offset,
           token_.kind == TokenKind::End
               ? fmt::format("'{}' is missing at the end", op)
               : fmt::format("'{}' is missing before '{}'", op, escape(token_.text)));
  }

private:
  // One row a level of binary operators, lowest precedence first.
  static int level(std::string_view op) {
    static const std::vector<std::vector<std::string_view>> levels = {
        {"||"},       {"&&"},     {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<", "<=", ">", ">="},
        {"<<", ">>"}, {"+", "-"}, {"*"}};
    for (size_t i = 0; i < levels.size(); ++i)
      for (std::string_view candidate : levels[i])
        if (candidate == op)
          return static_cast<int>(i);
    return -1;
  }

  Syntax binary(int least) {
    Syntax left = unary();
    for (;;) {
      int rank = token_.kind == TokenKind::Operator ? level(token_.text) : -1;
      if (rank < least)
        return left;
      Syntax node = make(Syntax::Kind::Binary, token_.offset);
      node.text = token_.text;
      advance();
      node.args.push_back(std::move(left));
      node.args.push_back(binary(rank + 1));
      left = std::move(node);
    }
  }

  Syntax unary() {
    if (token_.kind == TokenKind::Operator && (token_.text == "-" || token_.text == "!")) {
      if (++nesting_ > maximumNesting)
        fail(token_.offset, fmt::format("nested more than {} deep", maximumNesting));
      Syntax node = make(Syntax::Kind::Unary, token_.offset);
      node.text = token_.text;
      advance();
      node.args.push_back(unary());
      --nesting_;
      return node;
    }
    return primary();
  }

  Syntax primary() {
    size_t offset = token_.offset;
    if (token_.kind == TokenKind::Number) {
      Syntax node = make(Syntax::Kind::Number, offset);
      node.value = token_.value;
      advance();
      return node;
    }
    if (accept("(")) {
      Syntax node = expression();
      expect(")");
      return node;
    }
    if (token_.kind != TokenKind::Name)
      fail(offset, token_.kind == TokenKind::End
                       ? "the expression ends too early"
                       : fmt::format("a value is missing before '{}'", escape(token_.text)));
    Syntax node = make(Syntax::Kind::Name, offset);
    node.text = name();
    if ((node.text == "cast" || node.text == "sat") && accept("<")) {
      node.kind = node.text == "cast" ? Syntax::Kind::Cast : Syntax::Kind::Saturate;
      size_t at = token_.offset;
      std::string type = name();
      if (!parseType(type, node.type))
        fail(at, fmt::format("'{}' is not a type", escape(type)),
             "types are i1 to i128 and u1 to u127");
      expect(">");
      expect("(");
      node.args.push_back(expression());
      expect(")");
    } else if (accept("(")) {
      node.kind = Syntax::Kind::Call;
      list(node, ")");
    } else if (accept("[")) {
      node.kind = Syntax::Kind::Index;
      list(node, "]");
    }
    return node;
  }

  void list(Syntax &node, std::string_view close) {
    do
      node.args.push_back(expression());
    while (accept(","));
    expect(close);
  }

  bool accept(std::string_view op) {
    if (token_.kind != TokenKind::Operator || token_.text != op)
      return false;
    advance();
    return true;
  }

  void advance() {
    if (++tokens_ > maximumTokens)
      fail(at_, fmt::format("the expression has more than {} tokens", maximumTokens));
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n'))
      ++at_;
    token_ = Token{};
    token_.offset = at_;
    if (at_ == text_.size())
      return;
    size_t start = at_;
    char c = text_[at_];
    if (isDigit(c)) {
      number();
      token_.kind = TokenKind::Number;
    } else if (isLetter(c)) {
      while (at_ < text_.size() && (isLetter(text_[at_]) || isDigit(text_[at_])))
        ++at_;
      token_.kind = TokenKind::Name;
    } else {
      symbol();
      token_.kind = TokenKind::Operator;
    }
    token_.text = std::string_view(text_).substr(start, at_ - start);
  }

  void number() {
    size_t start = at_;
    bool hex = text_[at_] == '0' && at_ + 1 < text_.size() && text_[at_ + 1] == 'x';
    at_ += hex ? 2 : 0;
    size_t digits = 0;
    const __int128 limit = static_cast<__int128>(1) << 64;
    for (; at_ < text_.size() && (isDigit(text_[at_]) || isLetter(text_[at_])); ++at_, ++digits) {
      char c = text_[at_];
      int digit = isDigit(c)             ? c - '0'
                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                         : 99;
      if (digit >= (hex ? 16 : 10))
        fail(start, "not a number", "numbers are decimal (12) or hexadecimal (0x1f)");
      token_.value = token_.value * (hex ? 16 : 10) + digit;
      if (token_.value >= limit)
        fail(start, "the number does not fit in 64 bits");
    }
    if (digits == 0 || (!hex && digits > 1 && text_[start] == '0'))
      fail(start, "not a number",
           "numbers are decimal without leading zeros (12) or hexadecimal (0x1f)");
  }

  void symbol() {
    static const std::string_view symbols[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
                                               "+",  "-",  "*",  "<",  ">",  "&",  "|",  "^",
                                               "!",  "?",  ":",  "(",  ")",  "[",  "]",  ","};
    for (std::string_view candidate : symbols)
      if (text_.compare(at_, candidate.size(), candidate) == 0) {
        at_ += candidate.size();
        return;
      }
    if (text_[at_] == '/' || text_[at_] == '%')
      fail(at_, "division is not part of expressions: it is not total",
           "shift, or in params and timing write ceildiv(a, b) or floordiv(a, b)");
    fail(at_,
         fmt::format("unexpected character '{}'", escape(std::string_view(text_).substr(at_, 1))));
  }

  Syntax make(Syntax::Kind kind, size_t offset) const {
    Syntax node;
    node.kind = kind;
    node.offset = offset;
    return node;
  }

  [[noreturn]] void fail(size_t offset, const std::string &message,
                         const std::string &fix = "") const {
    throw UserError(scalar_.location(offset), message, fix);
  }

  const yaml::Node &scalar_;
  const std::string &text_;
  Token token_;
  size_t at_ = 0;
  int nesting_ = 0;
  int tokens_ = 0;
};

} // namespace

// YAML takes `cols - 2` for words; only a number or a name needs no quotes.
static void requireQuotes(const yaml::Node &scalar, const Syntax &tree) {
  if (scalar.isPlain && tree.kind == Syntax::Kind::Binary)
    yaml::refusePlain(scalar.location(), scalar.text);
}

Syntax parseExpression(const yaml::Node &scalar) {
  Parser parser(scalar);
  Syntax tree = parser.expression();
  parser.end();
  requireQuotes(scalar, tree);
  return tree;
}

Syntax parseElement(const yaml::Node &scalar) {
  Syntax tree = parseExpression(scalar);
  if (tree.kind != Syntax::Kind::Index)
    throw UserError(scalar.location(), "the target must be an element, as in \"d[y * d_s1 + x]\"");
  return tree;
}

IteratorSyntax parseIterator(const yaml::Node &scalar) {
  Parser parser(scalar);
  IteratorSyntax iterator;
  iterator.name = parser.name();
  if (parser.name() != "in")
    throw UserError(scalar.location(), "an iterator reads \"name in extent\"");
  iterator.extent = parser.expression();
  parser.end();
  requireQuotes(scalar, iterator.extent);
  return iterator;
}

} // namespace tilewright::isa
