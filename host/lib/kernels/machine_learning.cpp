// Classical machine learning (ai.onnx.ml) on numbers.
#include "lanes.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

namespace tilewright::host {

namespace {

void binarizer(Call &call) {
  const double threshold = call.number("threshold", 0);
  call.set(mapEach(call, 0, [=](auto x) { return static_cast<double>(x) > threshold; }));
}

// Elements of the last dimension; a list counts as one row.
void arrayFeatureExtractor(Call &call) {
  const Tensor &data = call.input(0), &indices = call.input(1);
  if (data.shape.empty() || indices.elements() == 0)
    call.fail("it takes elements of no list");
  const int64_t size = data.shape.back(), count = indices.elements();
  Shape shape = data.shape;
  shape.back() = count;
  if (shape.size() == 1)
    shape.insert(shape.begin(), 1);
  Tensor result = call.make(data.dtype, shape);
  const int64_t width = byteSize(data.dtype);
  for (int64_t i = 0, end = result.elements(); i < end; ++i) {
    const int64_t index = integerAt(indices, i % count);
    if (index < 0 || index >= size)
      call.fail(fmt::format("index {} is outside {} elements", index, size));
    std::memcpy(result.bytes.data() + i * width,
                data.bytes.data() + (i / count * size + index) * width, width);
  }
  call.set(std::move(result));
}

// The numbers of an attribute that may be floats, integers or a tensor; none when it is absent.
std::optional<Tensor> numbersOf(const Call &call, const std::string &stem) {
  if (ConstantTensor tensor = call.tensor(stem + "_tensor"))
    return *tensor;
  if (call.hasAttribute(stem + "_int64s")) {
    const std::vector<int64_t> values = call.integers(stem + "_int64s", {});
    Tensor tensor = call.make(DType::I64, {static_cast<int64_t>(values.size())});
    std::copy(values.begin(), values.end(), tensor.data<int64_t>());
    return tensor;
  }
  if (!call.hasAttribute(stem + "_floats"))
    return std::nullopt;
  const std::vector<float> values = call.numbers(stem + "_floats", {});
  Tensor tensor = call.make(DType::F32, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.data<float>());
  return tensor;
}

void labelEncoder(Call &call) {
  const std::optional<Tensor> keys = numbersOf(call, "keys"), values = numbersOf(call, "values");
  if (!keys || !values || keys->elements() != values->elements())
    call.refuse("it should have as many keys as values, all of them numbers");
  Tensor result = call.make(values->dtype, call.shape(0));
  Tensor fallback = call.make(values->dtype, {});
  if (ConstantTensor given = call.tensor("default_tensor"); given && given->elements() == 1)
    fallback = castTensor(*given, values->dtype);
  else if (isFloat(values->dtype))
    setFloat(fallback, 0, call.number("default_float", 0));
  else
    setInteger(fallback, 0, call.integer("default_int64", -1));
  // What is no number is a key as well.
  const auto key = [](const Tensor &tensor, int64_t i) {
    const double value = floatAt(tensor, i);
    return std::make_pair(std::isnan(value), std::isnan(value) ? 0 : value);
  };
  std::map<std::pair<bool, double>, int64_t> positions;
  for (int64_t i = 0; i < keys->elements(); ++i)
    positions[key(*keys, i)] = i;
  const int64_t width = byteSize(result.dtype);
  for (int64_t i = 0, end = result.elements(); i < end; ++i) {
    const auto found = positions.find(key(call.input(0), i));
    const bool isKnown = found != positions.end();
    std::memcpy(result.bytes.data() + i * width,
                isKnown ? values->bytes.data() + found->second * width : fallback.bytes.data(),
                width);
  }
  call.set(std::move(result));
}

// (x - offset) * scale, of which each is one number or one for each column.
void scaler(Call &call) {
  const std::vector<float> offset = call.numbers("offset", {0}), scale = call.numbers("scale", {1});
  const int64_t columns = call.shape(0).empty() ? 1 : call.shape(0).back();
  for (const auto *list : {&offset, &scale})
    if (list->size() != 1 && static_cast<int64_t>(list->size()) != columns)
      call.fail(fmt::format("{} numbers do not fit {} columns", list->size(), columns));
  Tensor result = castTensor(call.input(0), DType::F32);
  for (int64_t i = 0, end = result.elements(); i < end; ++i) {
    float &x = result.data<float>()[i];
    x = (x - offset[offset.size() == 1 ? 0 : i % columns]) *
        scale[scale.size() == 1 ? 0 : i % columns];
  }
  call.set(std::move(result));
}

void normalizer(Call &call) {
  const std::string norm = call.choice("norm", {"MAX", "L1", "L2"});
  Lanes lanes = lanesAlong(call, call.input(0), {call.axis(-1, call.rank(0))}, DType::F32);
  forEachLane<float>(lanes, [&](float *row, int64_t) {
    double total = 0;
    for (int64_t i = 0; i < lanes.length; ++i) {
      const double size = std::fabs(row[i]);
      total = norm == "MAX" ? std::max(total, size) : total + (norm == "L1" ? size : size * size);
    }
    total = std::max(norm == "L2" ? std::sqrt(total) : total, 1e-30);
    for (int64_t i = 0; i < lanes.length; ++i)
      row[i] = static_cast<float>(row[i] / total);
  });
  call.set(fromLanes(std::move(lanes)));
}

// The trees of a TreeEnsemble as its attributes give them, checked.
class Trees {
public:
  explicit Trees(const Call &call) : call_(call) {
    features = list("nodes_featureids");
    onTrue = list("nodes_truenodeids");
    onFalse = list("nodes_falsenodeids");
    trueLeafs = list("nodes_trueleafs");
    falseLeafs = list("nodes_falseleafs");
    targets = list("leaf_targetids");
    roots = list("tree_roots");
    modes = numbers("nodes_modes");
    for (double mode : modes)
      if (!(mode >= 0 && mode <= member))
        call.fail(fmt::format("the mode {} of a node is unknown", mode));
    splits = numbers("nodes_splits");
    weights = numbers("leaf_weights");
    missing = call.integers("nodes_missing_value_tracks_true", {});
    missing.resize(features.size(), 0);
    const size_t count = features.size();
    for (size_t size : {onTrue.size(), onFalse.size(), trueLeafs.size(), falseLeafs.size(),
                        modes.size(), splits.size()})
      if (size != count)
        call.fail("the lists of its nodes differ in length");
    if (targets.size() != weights.size())
      call.fail("the lists of its leafs differ in length");
    readMembers();
  }

  // The leaf of a row in the tree of a root.
  size_t leafOf(int64_t root, const Tensor &x, int64_t row, int64_t columns) const {
    size_t node = inside(root, features.size());
    if (trueLeafs[node] && falseLeafs[node] && onTrue[node] == onFalse[node])
      return inside(onTrue[node], targets.size());
    for (size_t steps = 0; steps <= features.size(); ++steps) {
      const size_t feature = inside(features[node], columns);
      const bool isTrue = decide(node, floatAt(x, row * columns + static_cast<int64_t>(feature)));
      const int64_t next = isTrue ? onTrue[node] : onFalse[node];
      if (isTrue ? trueLeafs[node] : falseLeafs[node])
        return inside(next, targets.size());
      node = inside(next, features.size());
    }
    call_.fail("its nodes form a circle");
  }

  std::vector<int64_t> targets, roots;
  std::vector<double> weights;

private:
  std::vector<int64_t> list(const char *name) const {
    if (!call_.hasAttribute(name))
      call_.fail(fmt::format("attribute '{}' is missing", name));
    return call_.integers(name, {});
  }
  std::vector<double> numbers(const char *name) const {
    const ConstantTensor tensor = call_.tensor(name);
    std::vector<double> values(tensor ? tensor->elements() : 0);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = floatAt(*tensor, static_cast<int64_t>(i));
    return values;
  }
  size_t inside(int64_t index, size_t size) const {
    if (index < 0 || static_cast<size_t>(index) >= size)
      call_.fail(fmt::format("its index {} is outside {} elements", index, size));
    return static_cast<size_t>(index);
  }

  // The sets of the nodes that ask for one, each up to what is no number.
  void readMembers() {
    const std::vector<double> values = numbers("membership_values");
    size_t at = 0;
    for (size_t node = 0; node < modes.size(); ++node) {
      if (modes[node] != member)
        continue;
      std::vector<double> &set = members[node];
      for (; at < values.size() && !std::isnan(values[at]); ++at)
        set.push_back(values[at]);
      ++at;
      std::sort(set.begin(), set.end());
    }
  }

  bool decide(size_t node, double x) const {
    if (std::isnan(x) && missing[node])
      return true;
    switch (static_cast<int>(modes[node])) {
    case 0:
      return x <= splits[node];
    case 1:
      return x < splits[node];
    case 2:
      return x >= splits[node];
    case 3:
      return x > splits[node];
    case 4:
      return x == splits[node];
    case 5:
      return x != splits[node];
    case member: {
      const std::vector<double> &set = members.at(node);
      return !std::isnan(x) && std::binary_search(set.begin(), set.end(), x);
    }
    default:
      call_.fail(fmt::format("the mode {} of a node is unknown", modes[node]));
    }
  }

  static constexpr int member = 6;
  const Call &call_;
  std::vector<int64_t> features, onTrue, onFalse, trueLeafs, falseLeafs, missing;
  std::vector<double> modes, splits;
  std::map<size_t, std::vector<double>> members;
};

void treeEnsemble(Call &call) {
  if (call.rank(0) != 2)
    call.fail("its input should have two dimensions");
  if (call.integer("post_transform", 0) != 0)
    call.refuse("a transformation of its results is not supported");
  const Trees trees(call);
  const int64_t rows = call.shape(0)[0], columns = call.shape(0)[1];
  const int64_t targets = call.integer("n_targets", 1),
                aggregate = call.integer("aggregate_function", 1);
  Tensor result = call.make(DType::F64, {rows, targets});
  double *sums = result.data<double>();
  const double infinity = std::numeric_limits<double>::infinity();
  if (aggregate < 0 || aggregate > 3)
    call.fail(fmt::format("its aggregate function {} is unknown", aggregate));
  if (aggregate >= 2)
    std::fill(sums, sums + result.elements(), aggregate == 2 ? infinity : -infinity);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t root : trees.roots) {
      const size_t leaf = trees.leafOf(root, call.input(0), row, columns);
      if (trees.targets[leaf] < 0 || trees.targets[leaf] >= targets)
        call.fail(fmt::format("target {} is none of {}", trees.targets[leaf], targets));
      double &sum = sums[row * targets + trees.targets[leaf]];
      const double weight = trees.weights[leaf];
      sum = aggregate == 2   ? std::min(sum, weight)
            : aggregate == 3 ? std::max(sum, weight)
                             : sum + weight;
    }
  for (int64_t i = 0, end = aggregate == 0 ? result.elements() : 0; i < end; ++i)
    sums[i] /= static_cast<double>(trees.roots.size());
  call.set(castTensor(result, call.input(0).dtype));
}

} // namespace

KernelTable machineLearningKernels() {
  const char *domain = "ai.onnx.ml";
  return {{"ArrayFeatureExtractor", arrayFeatureExtractor, domain},
          {"Binarizer", binarizer, domain},
          {"LabelEncoder", labelEncoder, domain},
          {"Normalizer", normalizer, domain},
          {"Scaler", scaler, domain},
          {"TreeEnsemble", treeEnsemble, domain}};
}

} // namespace tilewright::host
