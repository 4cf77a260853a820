// The schedule of a lane: as soon as possible, by accumulated delay.
#include "tilewright/isa/pipeline.h"

#include "interval.h"
#include "type.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <unordered_map>

namespace tilewright::isa {

namespace {

// When a value is there: `delay` after the begin of a stage.
struct Ready {
  int64_t stage = 0;
  int64_t delay = 0;
  int operation = -1; // which makes it; -1: it comes from registers or elements

  bool operator<(const Ready &other) const {
    return stage != other.stage ? stage < other.stage : delay < other.delay;
  }
};

// Adders below that width are no larger than the selection of shared operands.
constexpr int sharedAdderBits = 16;
constexpr int amountBits = 8; // of a shift

int signedBits(const Type &type) { return type.bits + (type.isSigned ? 0 : 1); }

void postorder(const ExprPtr &expr, std::unordered_map<const Expr *, int> &demanded,
               std::vector<const Expr *> &order) {
  if (!expr || !demanded.emplace(expr.get(), 0).second)
    return;
  for (const ExprPtr &arg : expr->args)
    postorder(arg, demanded, order);
  order.push_back(expr.get());
}

// The low bits of an operand that `bits` low ones of the operator's result depend on.
int demandOn(const Expr &expr, size_t operand, int bits) {
  const int all = expr.args[operand]->type.bits;
  switch (expr.kind) {
  case ExprKind::Add:
  case ExprKind::Subtract:
  case ExprKind::Negate:
  case ExprKind::Cast:
  case ExprKind::Or:
  case ExprKind::Xor:
    return std::min(bits, all);
  case ExprKind::And: { // of what a mask lets through
    const Expr &other = *expr.args[1 - operand];
    if (other.kind == ExprKind::Literal && other.value >= 0)
      bits = std::min(bits, smallestType(0, other.value, false).bits);
    return std::min(bits, all);
  }
  case ExprKind::Select:
    return operand == 0 ? all : std::min(bits, all);
  case ExprKind::ShiftLeft:
  case ExprKind::ShiftRight: {
    const Expr &amount = *expr.args[1];
    if (operand != 0 || amount.kind != ExprKind::Literal)
      return all;
    const int more = expr.kind == ExprKind::ShiftRight
                         ? static_cast<int>(std::clamp<__int128>(amount.value, 0, all))
                         : 0;
    return std::min(bits + more, all);
  }
  default:
    return all;
  }
}

// An increment needs half of an adder, and less than the selection of a shared one's operands.
bool isIncrement(const Expr &expr) {
  return (expr.kind == ExprKind::Add || expr.kind == ExprKind::Subtract) &&
         std::any_of(expr.args.begin(), expr.args.end(),
                     [](const ExprPtr &arg) { return arg->kind == ExprKind::Literal; });
}

// The shared unit that an operator needs of whose result `demanded` bits are read; null: logic of
// its own.
std::optional<LaneUnit> unitOf(const Expr &expr, int demanded) {
  int bits = signedBits(expr.type);
  switch (expr.kind) {
  case ExprKind::Multiply: {
    const auto [right, left] = std::minmax({factorBits(*expr.args[0]), factorBits(*expr.args[1])});
    return LaneUnit{LaneUnitKind::Multiplier, 1, std::min(bits, left + right), left, right};
  }
  case ExprKind::Add:
  case ExprKind::Subtract:
  case ExprKind::Negate:
    if (demanded < expr.type.bits)
      bits = demanded;
    if (bits >= sharedAdderBits && !isIncrement(expr))
      return LaneUnit{LaneUnitKind::Adder, 1, bits, bits, bits};
    return std::nullopt;
  case ExprKind::ShiftLeft:
  case ExprKind::ShiftRight:
    if (expr.kind == ExprKind::ShiftRight) // no value that it gives is wider than the one it takes
      bits = std::min(bits, factorBits(*expr.args[0]));
    if (bits >= sharedAdderBits && expr.args[1]->kind != ExprKind::Literal)
      return LaneUnit{expr.kind == ExprKind::ShiftLeft ? LaneUnitKind::LeftShifter
                                                       : LaneUnitKind::RightShifter,
                      1, bits, bits, amountBits};
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

// Of a unit, from operands in registers to its result. What selects them has its register in the
// unit, and drives a gate for each of their bits in each lane.
int64_t delayOf(const Technology &technology, const LaneUnit &unit, int64_t lanes) {
  const auto delay = [&](LogicOperator each) { return technology.delay(each, unit.bits); };
  const int64_t selects = Technology::fanOut(lanes * (unit.left + unit.right)),
                selected = selects + technology.selection();
  // Meanwhile an amount is clamped to the width.
  const int64_t clamp = technology.delay(LogicOperator::Compare, amountBits) +
                        technology.delay(LogicOperator::Select, amountBits),
                shifts = std::max(clamp, selects) + technology.selection();
  switch (unit.kind) {
  case LaneUnitKind::Multiplier: {
    // As one of two numbers with as many partial products: of 32 x 10 bits 45 FO4, and 43 measured.
    int square = 2 * unit.right;
    while ((square + 1) * (square + 1) <= 4 * unit.left * unit.right)
      ++square;
    return selected + technology.delay(LogicOperator::Multiply, square);
  }
  case LaneUnitKind::Adder:
    return selected + std::max({delay(LogicOperator::Add), delay(LogicOperator::Subtract),
                                delay(LogicOperator::Negate)});
  case LaneUnitKind::LeftShifter:
    return shifts + delay(LogicOperator::ShiftLeft);
  case LaneUnitKind::RightShifter:
    break;
  }
  return shifts + delay(LogicOperator::ShiftRight);
}

int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A shared unit that an operator of an instruction takes.
struct Need {
  LaneUnit unit;
  const Expr *expr;
};
using Binding = std::unordered_map<const Expr *, int>; // to units of a lane

bool isAlike(const LaneUnit &a, const LaneUnit &b) {
  return a.kind == b.kind && a.stages == b.stages;
}

// The place in the lane of the `rank`-th unit like that; -1: it has fewer.
int placeOf(const Lane &lane, const LaneUnit &unit, int rank) {
  for (size_t at = 0; at < lane.units.size(); ++at)
    if (isAlike(lane.units[at], unit) && rank-- == 0)
      return static_cast<int>(at);
  return -1;
}

// Calls back with each need, and its rank among those of its kind and depth, the widest first.
template <typename Visit> void rank(const std::vector<Need> &needs, const Visit &visit) {
  for (size_t at = 0; at < needs.size(); ++at) {
    int rank = 0;
    for (size_t other = 0; other < needs.size(); ++other)
      if (other != at && isAlike(needs[other].unit, needs[at].unit))
        rank += needs[other].unit.bits > needs[at].unit.bits ||
                (needs[other].unit.bits == needs[at].unit.bits && other < at);
    visit(needs[at], rank);
  }
}

class Scheduler {
public:
  // Without a lane, units are as wide as the instruction needs them.
  Scheduler(const Instruction &instruction, const Isa &isa, const Lane *lane = nullptr,
            const Binding *binding = nullptr)
      : instruction_(instruction), isa_(isa), technology_(isa.technology()), lane_(lane),
        binding_(binding), budget_(std::max<int64_t>(technology_.budget(isa.clockHz()), 1)),
        start_(isa.timing().at("vector.start")), lanes_(isa.param("lanes")) {}

  Pipeline run() {
    for (const Step &step : instruction_.steps)
      schedule(step);
    made_.least = made_.stages + pipelineOverhead;
    made_.latency = made_.least;
    return std::move(made_);
  }

  const std::vector<Need> &needs() const { return needs_; }

private:
  void schedule(const Step &step) {
    step_ = &step;
    demanded_ = demandedBits(step);
    known_.clear();
    made_.accumulation.push_back(0);
    made_.tree.emplace_back();
    Ready last = valueOf(step.expr);
    if (step.when) {
      for (const ExprPtr &arm : {step.when, step.otherwise})
        last = std::max(last, valueOf(arm));
      last = logic(nullptr, LogicOperator::Select, step.expr->type.bits, last, "otherwise");
    }
    if (step.kind == StepKind::Reduce)
      last = reduce(step, last);
    for (const ExprPtr &index : step.out.where)
      if (!step.out.isMemory)
        last = std::max(last, valueOf(index));
    made_.stages = std::max(made_.stages, last.stage + 1);
    made_.ready.emplace_back();
    for (const auto &[expr, ready] : known_)
      made_.ready.back().emplace(expr, ready.stage);
  }

  // The accumulator is a register that each tap goes through; what comes behind starts from it.
  Ready reduce(const Step &step, Ready tap) {
    if (step.reducesLanes && lanes_ > 1)
      tap = joinLanes(step, tap);
    tap = std::max(tap, valueOf(step.init));
    const bool isCompared =
        step.combiner == Combiner::Maximum || step.combiner == Combiner::Minimum;
    const int bits = step.accumulator.bits;
    const LogicOperator combiner = combinerOf(step);
    const int64_t select = technology_.delay(LogicOperator::Select, bits),
                  delay = technology_.delay(combiner, bits) + (isCompared ? 2 : 1) * select;
    // What joined lanes give is in registers before it is selected among what others accumulate.
    const bool waits = !made_.tree.back().empty() || tap.delay + delay > budget_;
    Ready sum = waits ? Ready{tap.stage + 1, 0, tap.operation} : tap;
    if (sum.stage < 0)
      sum = {};
    if (delay > budget_)
      made_.tooLong = static_cast<int>(made_.operations.size());
    PipelineOperation operation;
    operation.what = fmt::format("accumulate, {} bits", bits);
    operation.first = operation.last = sum.stage;
    operation.delay = delay;
    operation.area =
        technology_.area(combiner, bits) + technology_.area(LogicOperator::Select, bits);
    if (step.reducesLanes) // in one lane
      operation.area = divideUp(operation.area, lanes_);
    operation.before = sum.operation;
    const int accumulation = add(operation);
    made_.accumulation.back() = sum.stage;
    sum = {sum.stage, sum.delay + delay, accumulation};
    if (!step.post)
      return sum;
    result_ = {sum.stage + 1, 0, accumulation};
    return std::max(valueOf(step.post), result_);
  }

  static LogicOperator combinerOf(const Step &step) {
    const bool isCompared =
        step.combiner == Combiner::Maximum || step.combiner == Combiner::Minimum;
    return isCompared                       ? LogicOperator::Compare
           : step.combiner == Combiner::Add ? LogicOperator::Add
                                            : LogicOperator::Select;
  }

  // A lane without an element gives what changes nothing; then pairs of lanes are joined, pairs of
  // these, and so on. Areas are what a lane has of them.
  Ready joinLanes(const Step &step, Ready tap) {
    const int bits = step.accumulator.bits;
    const LogicOperator combiner = combinerOf(step);
    // Sums and comparisons share the tree's registers, whose values may also stay.
    const int64_t select = technology_.delay(LogicOperator::Select, bits),
                  join = technology_.delay(combiner, bits) + 2 * select +
                         (combiner == LogicOperator::Compare
                              // What is found selects all bits of the value, and of its buffers.
                              ? 2 * select + 2 * Technology::fanOut(bits)
                              : 0),
                  selections = combiner == LogicOperator::Compare ? 3 : 2,
                  areaOfJoin = technology_.area(combiner, bits) +
                               selections * technology_.area(LogicOperator::Select, bits);
    auto level = [&](const std::string &what, int64_t delay, int64_t area) {
      tap.stage = std::max<int64_t>(tap.stage, 0);
      tap = logic(nullptr, LogicOperator::Select, bits, tap, what.c_str(), delay - select);
      PipelineOperation &operation = made_.operations.back();
      operation.area = area;
      operation.joinsLanes = true;
      if (operation.last > operation.first)
        made_.tooLong = tap.operation;
      made_.tree.back().push_back(operation.first);
    };
    level("rest",
          // The instruction selects what is at rest, and the count whether a lane is.
          select + technology_.delay(LogicOperator::Compare, amountBits) +
              2 * Technology::fanOut(lanes_ * bits),
          technology_.area(LogicOperator::Select, bits) +
              technology_.area(LogicOperator::Compare, amountBits));
    for (int64_t joined = 1; joined < lanes_; joined *= 2) {
      const int64_t pairs = (lanes_ + joined - 1) / (2 * joined);
      level(fmt::format("join {} lanes", std::min(2 * joined, lanes_)), join,
            divideUp(areaOfJoin * pairs, lanes_));
    }
    return tap;
  }

  Ready valueOf(const ExprPtr &expr) {
    if (auto known = known_.find(expr.get()); known != known_.end())
      return known->second;
    const Ready ready = computed(*expr);
    known_.emplace(expr.get(), ready);
    return ready;
  }

  Ready computed(const Expr &expr) {
    switch (expr.kind) {
    case ExprKind::Literal:
    case ExprKind::Immediate:
    case ExprKind::State:
    case ExprKind::BaseRegister:
      return {-start_, 0, -1};
    case ExprKind::Iterator:
    case ExprKind::MemoryRead:
      return {};
    case ExprKind::Result:
      return result_;
    case ExprKind::ArrayRead:
      return element(expr);
    default:
      break;
    }
    Ready args{-start_, 0, -1};
    for (const ExprPtr &arg : expr.args)
      args = std::max(args, valueOf(arg));
    return operation(expr, args);
  }

  // An element at a lane's own position is read with the data of the memories.
  Ready element(const Expr &expr) {
    if (isLanePosition(expr.args, *step_))
      return {};
    Ready index;
    for (const ExprPtr &arg : expr.args)
      index = std::max(index, valueOf(arg));
    const std::vector<StateArray> &arrays =
        isa_.units()[static_cast<size_t>(instruction_.unit)].arrays;
    PipelineOperation operation;
    operation.expr = &expr;
    operation.what = named(expr, "read of " + arrays[static_cast<size_t>(expr.index)].name);
    operation.first = index.stage + (index.delay > 0 ? 1 : 0);
    operation.last = operation.first + 1; // from the RAM's register, the lane selects
    operation.delay = 2 * budget_;
    operation.before = index.operation;
    const int number = add(operation);
    return {operation.last, budget_, number};
  }

  Ready operation(const Expr &expr, const Ready &args) {
    const int bits = expr.type.bits, of = expr.args[0]->type.bits;
    switch (expr.kind) {
    case ExprKind::Add:
      return arithmetic(expr, LogicOperator::Add, args, "add");
    case ExprKind::Subtract:
      return arithmetic(expr, LogicOperator::Subtract, args, "subtract");
    case ExprKind::Negate:
      return arithmetic(expr, LogicOperator::Negate, args, "negate");
    case ExprKind::Multiply:
      return arithmetic(expr, LogicOperator::Multiply, args, "multiply");
    case ExprKind::ShiftLeft:
    case ExprKind::ShiftRight:
      if (expr.args[1]->kind == ExprKind::Literal) // wires
        return args;
      return expr.kind == ExprKind::ShiftLeft
                 ? arithmetic(expr, LogicOperator::ShiftLeft, args, "shift left")
                 : arithmetic(expr, LogicOperator::ShiftRight, args, "shift right");
    case ExprKind::Minimum:
    case ExprKind::Maximum:
      return logic(&expr, LogicOperator::Compare, bits, args,
                   expr.kind == ExprKind::Minimum ? "minimum" : "maximum",
                   technology_.delay(LogicOperator::Select, bits));
    case ExprKind::Equal:
    case ExprKind::NotEqual:
    case ExprKind::Less:
    case ExprKind::LessEqual:
    case ExprKind::Greater:
    case ExprKind::GreaterEqual:
      return logic(&expr, LogicOperator::Compare, std::max(of, expr.args[1]->type.bits), args,
                   "compare");
    case ExprKind::Saturate:
      return logic(&expr, LogicOperator::Saturate, of, args, "saturate");
    case ExprKind::CountLeadingZeros:
      return logic(&expr, LogicOperator::LeadingZeros, of, args, "leading zeros");
    case ExprKind::Select:
      return logic(&expr, LogicOperator::Select, bits, args, "select",
                   of > 1 ? technology_.delay(LogicOperator::Compare, of) : 0);
    case ExprKind::And:
    case ExprKind::Or:
    case ExprKind::Xor:
    case ExprKind::Not: // a gate, no slower than a selection
      return logic(&expr, LogicOperator::Select, bits, args, "logic");
    default: // a cast is wires
      return args;
    }
  }

  Ready arithmetic(const Expr &expr, LogicOperator kind, const Ready &args, const char *what) {
    const std::optional<LaneUnit> unit =
        isLaneConstant(expr) ? std::nullopt : unitOf(expr, demanded_.at(&expr));
    if (unit)
      return onUnit(expr, *unit, kind, args, what);
    const bool isShift = kind == LogicOperator::ShiftLeft || kind == LogicOperator::ShiftRight;
    const int64_t clamp = isShift ? technology_.delay(LogicOperator::Compare, 8) +
                                        technology_.delay(LogicOperator::Select, 8)
                                  : 0;
    const int bits = isShift ? expr.type.bits : std::min(expr.type.bits, demanded_.at(&expr));
    return logic(&expr, isIncrement(expr) ? LogicOperator::Negate : kind, bits, args, what, clamp);
  }

  // By logic of the instruction's own.
  Ready logic(const Expr *expr, LogicOperator kind, int bits, const Ready &args, const char *what,
              int64_t more = 0) {
    const int64_t delay = technology_.delay(kind, bits) + more;
    const bool waits = args.delay > 0 && args.delay + delay > budget_;
    const int64_t begin = waits ? 0 : args.delay,
                  stages = divideUp(std::max<int64_t>(begin + delay, 1), budget_);
    PipelineOperation operation;
    operation.expr = expr;
    operation.what = describe(expr, what, bits);
    operation.first = args.stage + (waits ? 1 : 0);
    operation.last = operation.first + stages - 1;
    operation.delay = delay;
    operation.area = technology_.area(kind, bits);
    operation.before = args.operation;
    const int number = add(operation);
    return {operation.last, stages > 1 ? divideUp(delay, stages) : begin + delay, number};
  }

  // On a unit that instructions share, whose operands are in registers.
  Ready onUnit(const Expr &expr, LaneUnit unit, LogicOperator kind, const Ready &args,
               const char *what) {
    unit.stages = divideUp(delayOf(technology_, unit, lanes_), budget_);
    needs_.push_back({unit, &expr});
    PipelineOperation operation;
    LaneUnit shared = unit;
    if (lane_) {
      operation.unit = binding_->at(&expr);
      shared = lane_->units[static_cast<size_t>(operation.unit)];
    }
    operation.expr = &expr;
    operation.bits = std::min(expr.type.bits, unit.bits);
    operation.what = describe(&expr, what, operation.bits);
    operation.first = args.stage + (args.delay > 0 ? 1 : 0);
    operation.last = operation.first + unit.stages - 1;
    operation.delay = delayOf(technology_, shared, lanes_);
    operation.area = technology_.area(kind, operation.bits);
    operation.before = args.operation;
    const int number = add(operation);
    return {operation.last, divideUp(operation.delay, unit.stages), number};
  }

  std::string describe(const Expr *expr, const char *what, int bits) const {
    const std::string text = fmt::format("{}, {} bits", what, bits);
    return expr ? named(*expr, text) : text;
  }

  std::string named(const Expr &expr, const std::string &what) const {
    for (const NamedValue &value : step_->values)
      if (value.expr.get() == &expr)
        return fmt::format("{} = {}", value.name, what);
    return what;
  }

  int add(PipelineOperation operation) {
    operation.step = static_cast<int>(step_ - instruction_.steps.data());
    made_.operations.push_back(std::move(operation));
    return static_cast<int>(made_.operations.size()) - 1;
  }

  const Instruction &instruction_;
  const Isa &isa_;
  const Technology &technology_;
  const Lane *lane_;
  const Binding *binding_;
  int64_t budget_, start_, lanes_;
  const Step *step_ = nullptr;
  Ready result_;
  std::unordered_map<const Expr *, int> demanded_;
  std::unordered_map<const Expr *, Ready> known_;
  std::vector<Need> needs_;
  Pipeline made_;
};

} // namespace

Values valuesOf(const Expr &expr) {
  static const std::vector<Interval> types; // what leaves hold
  const Interval values =
      IntervalAnalysis(types, types).of(ExprPtr(ExprPtr(), &expr)); // owns nothing
  return {values.least, values.greatest};
}

int factorBits(const Expr &expr) {
  const Values values = valuesOf(expr);
  return smallestType(values.least, values.greatest, true).bits;
}

std::unordered_map<const Expr *, int> demandedBits(const Step &step) {
  std::unordered_map<const Expr *, int> demanded;
  std::vector<const Expr *> order;
  std::vector<ExprPtr> roots{step.expr, step.when, step.otherwise, step.init, step.post};
  roots.insert(roots.end(), step.out.where.begin(), step.out.where.end());
  for (const ExprPtr &root : roots)
    postorder(root, demanded, order);
  for (const ExprPtr &root : roots)
    if (root)
      demanded[root.get()] = root->type.bits;
  for (auto user = order.rbegin(); user != order.rend(); ++user)
    for (size_t operand = 0; operand < (*user)->args.size(); ++operand) {
      int &bits = demanded[(*user)->args[operand].get()];
      bits = std::max(bits, demandOn(**user, operand, demanded[*user]));
    }
  return demanded;
}

bool isLaneConstant(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Iterator:
  case ExprKind::MemoryRead:
  case ExprKind::ArrayRead:
  case ExprKind::Result:
    return false;
  default:
    return std::all_of(expr.args.begin(), expr.args.end(),
                       [](const ExprPtr &arg) { return isLaneConstant(*arg); });
  }
}

bool isLanePosition(const std::vector<ExprPtr> &where, const Step &step) {
  return where.size() == 1 && where[0]->kind == ExprKind::Iterator &&
         where[0]->index == step.laneIterator();
}

bool hasPipeline(const Instruction &instruction, const std::vector<Unit> &units) {
  return units[static_cast<size_t>(instruction.unit)].kind == UnitTemplate::Vector &&
         !instruction.steps.empty();
}

Lane makeLane(const Isa &isa, const std::vector<Instruction> &instructions) {
  Lane lane;
  for (const Instruction &instruction : instructions) {
    if (!hasPipeline(instruction, isa.units()))
      continue;
    Scheduler scheduler(instruction, isa);
    scheduler.run();
    rank(scheduler.needs(), [&](const Need &need, int rank) {
      int at;
      while ((at = placeOf(lane, need.unit, rank)) < 0)
        lane.units.push_back(need.unit);
      LaneUnit &unit = lane.units[static_cast<size_t>(at)];
      unit.bits = std::max(unit.bits, need.unit.bits);
      unit.left = std::max(unit.left, need.unit.left);
      unit.right = std::max(unit.right, need.unit.right);
    });
  }
  return lane;
}

Pipeline derivePipeline(const Instruction &instruction, const Isa &isa, const Lane &lane) {
  Scheduler alone(instruction, isa);
  alone.run();
  Binding binding;
  rank(alone.needs(), [&](const Need &need, int rank) {
    binding.emplace(need.expr, placeOf(lane, need.unit, rank));
  });
  return Scheduler(instruction, isa, &lane, &binding).run();
}

} // namespace tilewright::isa
