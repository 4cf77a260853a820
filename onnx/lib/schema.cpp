#include "tilewright/onnx/schema.h"

#include <algorithm>

namespace tilewright::onnx {

const SchemaAttribute *Schema::attribute(std::string_view name) const {
  const SchemaAttribute *found =
      std::find_if(attributes.begin(), attributes.end(),
                   [&](const SchemaAttribute &each) { return name == each.name; });
  return found == attributes.end() ? nullptr : found;
}

TypeSet Schema::allowed(std::string_view type) const {
  for (const TypeConstraint &each : types)
    if (type == each.type)
      return each.allowed;
  return 0;
}

const Parameter &parameterAt(const std::initializer_list<Parameter> &parameters, size_t at) {
  return parameters.begin()[std::min(at, parameters.size() - 1)];
}

const Schema *SchemaVersions::at(int64_t opset) const {
  const Schema *found = nullptr;
  for (const Schema &each : *this)
    if (each.since <= opset)
      found = &each;
  return found;
}

SchemaVersions schemasOf(std::string_view op) {
  struct ByName {
    bool operator()(const Schema &schema, std::string_view name) const { return schema.op < name; }
    bool operator()(std::string_view name, const Schema &schema) const { return name < schema.op; }
  };
  auto [first, last] = std::equal_range(schemaRows, schemaRows + schemaCount, op, ByName());
  return {first, last};
}

std::vector<std::string> schemaNames() {
  std::vector<std::string> names;
  for (size_t i = 0; i < schemaCount; ++i)
    if (names.empty() || names.back() != schemaRows[i].op)
      names.emplace_back(schemaRows[i].op);
  return names;
}

std::string elementTypeName(int64_t type) {
  return type >= 0 && type < static_cast<int64_t>(elementTypeCount)
             ? elementTypeNames[type]
             : "type " + std::to_string(type);
}

std::string formatTypes(TypeSet types) {
  std::vector<std::string> names;
  for (int type = 0; type < notATensor; ++type)
    if (allows(types, type))
      names.push_back(elementTypeName(type));
  if (types >> notATensor & 1)
    names.emplace_back("what is no tensor");
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
  return text;
}

} // namespace tilewright::onnx
