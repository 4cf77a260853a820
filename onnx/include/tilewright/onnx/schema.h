// What ONNX says of its own operators: inputs, outputs, attributes and types of each version. The
// rows are generated (schema/generate).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::onnx {

// Element types as bits: bit n is type n of TensorProto.DataType, and the last one all that is no
// tensor.
using TypeSet = uint32_t;
constexpr int notATensor = 31;
constexpr bool allows(TypeSet set, int64_t type) {
  return type > 0 && type < notATensor && (set >> type & 1);
}

// The numbers of AttributeProto.AttributeType.
enum class AttributeKind {
  Float = 1,
  Int = 2,
  String = 3,
  Tensor = 4,
  Graph = 5,
  Floats = 6,
  Ints = 7,
  Strings = 8,
  Graphs = 10,
  SparseTensor = 11,
  TypeProto = 13,
};

// A variadic parameter is the last one and stands for any number of values; those of a mixed one
// differ in type.
enum class Presence { Single, Optional, Variadic, Mixed };

struct Parameter {
  const char *name;
  const char *type; // a type variable, "T", or one type, "tensor(int64)"
  Presence presence = Presence::Single;
};

struct SchemaAttribute {
  const char *name;
  AttributeKind kind;
  bool required = false;
};

struct TypeConstraint {
  const char *type; // as parameters name it
  TypeSet allowed;
};

// An operator from one operator set on, until its next row.
struct Schema {
  const char *op;
  int64_t since;
  bool deprecated;
  size_t minInputs, maxInputs, minOutputs, maxOutputs;
  std::initializer_list<Parameter> inputs, outputs;
  std::initializer_list<SchemaAttribute> attributes; // sorted by name
  std::initializer_list<TypeConstraint> types;

  const SchemaAttribute *attribute(std::string_view name) const; // null when there is none
  TypeSet allowed(std::string_view type) const;                  // by a parameter's type
};

// Parameter `at` of a node's inputs or outputs; the last one stands for all behind it.
const Parameter &parameterAt(const std::initializer_list<Parameter> &parameters, size_t at);

// All versions of an operator of the domain ai.onnx, oldest first; empty when ONNX has none of that
// name.
struct SchemaVersions {
  const Schema *first = nullptr, *last = nullptr;

  const Schema *begin() const { return first; }
  const Schema *end() const { return last; }
  const Schema *at(int64_t opset) const; // null when the operator is newer
};
SchemaVersions schemasOf(std::string_view op);
std::vector<std::string> schemaNames(); // of all operators

// "float", "int64", ... as ONNX spells them; "type 99" for what the table does not know.
std::string elementTypeName(int64_t type);
std::string formatTypes(TypeSet types); // "float, float16 or double"

// The operator sets that the importer reads, and the rows tell of. A newer one may have changed the
// meaning of an operator.
extern const int64_t oldestOpset, newestOpset;

// The generated rows, sorted by operator and version.
extern const Schema schemaRows[];
extern const size_t schemaCount;
extern const char *const elementTypeNames[];
extern const size_t elementTypeCount;

} // namespace tilewright::onnx
