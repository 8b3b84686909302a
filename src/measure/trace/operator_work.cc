#include "measure/trace/operator_work.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

#include "base/check.h"
#include "base/text.h"

namespace stint {
namespace {

constexpr double kFigureMax = 1e18;          // Of bytes or operations of one operator.
constexpr std::size_t kOperatorsMax = 1000;  // Entries of a job; sweeps beyond are joined.
constexpr double kWorthSaying = 0.01;        // Of all arithmetic.
constexpr double kCastBytes = 1.5;           // Read in 32 bits, written in 16: over the former.
constexpr std::size_t kNamesSaid = 5;

bool is_wide(WorkPrecision precision) {
  return precision == WorkPrecision::kFp32 || precision == WorkPrecision::kTf32;
}

/// How many bytes a number of each width takes over those it had in the script.
struct Widths {
  double single = 1;
  double half = 1;

  Bytes of(const WidthBytes& it) const { return single * it.single + half * it.half + it.other; }
};

Widths widths_for(const OperatorRun& run, WorkPrecision precision) {
  const bool half = computes_in_half(run);
  if (is_wide(precision)) return {.single = 1, .half = half ? 2.0 : 1.0};
  return {.single = half ? 1.0 : 0.5, .half = 1};
}

/// The shape of the scores of attention: how many there are, and how many keys.
using Scores = std::set<std::pair<double, std::int64_t>>;

std::pair<double, std::int64_t> score_key(const OperatorTensor& tensor) {
  return {numbers_in(tensor), tensor.shape.empty() ? 0 : tensor.shape.back()};
}

bool ends_with_name(const ProfiledOperator& it, std::string_view name) {
  return it.name.ends_with(name);
}

bool is_batched(const ProfiledOperator& it) { return ends_with_name(it, "bmm"); }

bool is_softmax(const ProfiledOperator& it) { return ends_with_name(it, "softmax"); }

/// Results of batched products that a softmax is taken of.
Scores scores_in(const OperatorRun& run) {
  Scores products;
  Scores scores;
  for (const ProfiledOperator& it : run.operators) {
    if (it.phase != OperatorPhase::kForward) continue;
    if (is_batched(it) && !it.outputs.empty()) products.insert(score_key(it.outputs[0]));
    if (!is_softmax(it) || it.outputs.empty()) continue;
    const auto key = score_key(it.outputs[0]);
    if (products.contains(key)) scores.insert(key);
  }
  return scores;
}

/// The tensors of an operator that are scores.
WidthBytes scores_of(const ProfiledOperator& it, const Scores& scores) {
  WidthBytes bytes;
  for (const auto* tensors : {&it.inputs, &it.outputs}) {
    for (const OperatorTensor& tensor : *tensors) {
      if (scores.contains(score_key(tensor))) bytes.add(tensor);
    }
  }
  return bytes;
}

Bytes whole(const WidthBytes& it) { return it.single + it.half + it.other; }

/// Figures of one operator that follow the batch.
struct Amount {
  double per_sample = 0;
  double fixed = 0;
};

/// A straight line through two batches; what grows faster than the batch is proportional to it as
/// at the larger one.
Amount line_through(double first, double second, const OperatorRun& a, const OperatorRun& b) {
  const double slope = (second - first) / (b.batch - a.batch);
  const double fixed = first - slope * a.batch;
  if (slope < 0) return {.per_sample = 0, .fixed = std::max(first, second)};
  if (fixed < 0) return {.per_sample = second / b.batch, .fixed = 0};
  return {.per_sample = slope, .fixed = fixed};
}

bool same_operators(const OperatorRun& a, const OperatorRun& b) {
  return std::equal(a.operators.begin(), a.operators.end(), b.operators.begin(), b.operators.end(),
                    [](const ProfiledOperator& x, const ProfiledOperator& y) {
                      return x.name == y.name && x.phase == y.phase;
                    });
}

/// Makes the work of what was found.
class WorkMaker {
 public:
  WorkMaker(std::span<const OperatorRun> runs, const OperatorChange& change)
      : runs_(runs), change_(change), widths_(widths_for(runs[0], change.precision)) {
    two_ = runs.size() == 2 && same_operators(runs[0], runs[1]);
    for (const OperatorRun& run : runs) scores_.push_back(scores_in(run));
  }

  Result<OperatorWork> make();

 private:
  const OperatorRun& last() const { return runs_.back(); }

  /// The bytes that operator `i` of a run moves.
  Bytes moved(std::size_t run, std::size_t i, const OperatorFigures& figures) const;
  bool is_fused_away(std::size_t run, std::size_t i, const OperatorFigures& figures) const;
  Amount arithmetic_of(std::size_t i, const OperatorFigures& figures) const;
  Amount moved_of(std::size_t i, const OperatorFigures& figures) const;
  Amount written_of(std::size_t i, const OperatorFigures& figures) const;
  void add_operator(std::size_t i);
  void add(WorkOperator it, OperatorPhase phase, double count);
  void add_casts();
  void join_sweeps();
  void set_memory();
  void warn();

  std::span<const OperatorRun> runs_;
  OperatorChange change_;
  Widths widths_;
  bool two_ = false;
  std::vector<Scores> scores_;
  OperatorWork made_;
  WorkKind sweep_ = WorkKind::kSweep;
  Flops fixed_arithmetic_;
  Flops all_arithmetic_;
  double casts_ = 0;  // Products whose weights autocast would make narrower,
  Bytes cast_bytes_;  // and their bytes.
  using Key = std::tuple<WorkKind, std::string, bool, std::array<double, 5>>;
  std::map<Key, std::size_t> places_;
};

Bytes WorkMaker::moved(std::size_t run, std::size_t i, const OperatorFigures& figures) const {
  WidthBytes all = figures.scaled;
  for (const auto member : {&WidthBytes::single, &WidthBytes::half, &WidthBytes::other}) {
    all.*member += figures.fixed.*member;
  }
  if (change_.fused_attention && figures.kind == WorkKind::kAttention) {
    const WidthBytes scores = scores_of(runs_[run].operators[i], scores_[run]);
    for (const auto member : {&WidthBytes::single, &WidthBytes::half, &WidthBytes::other}) {
      all.*member = std::max(Bytes{}, all.*member - scores.*member);
    }
  }
  return widths_.of(all);
}

bool WorkMaker::is_fused_away(std::size_t run, std::size_t i,
                              const OperatorFigures& figures) const {
  if (!change_.fused_attention || figures.kind != WorkKind::kSweep) return false;
  return whole(scores_of(runs_[run].operators[i], scores_[run])) > Bytes{};
}

Amount WorkMaker::arithmetic_of(std::size_t i, const OperatorFigures& figures) const {
  const double flops = figures.flops.in(kFlop);
  if (!two_) return {.per_sample = flops / last().batch, .fixed = 0};
  const OperatorFigures first = operator_figures(runs_[0].operators[i]);
  return line_through(first.flops.in(kFlop), flops, runs_[0], runs_[1]);
}

Amount WorkMaker::moved_of(std::size_t i, const OperatorFigures& figures) const {
  const double all = moved(runs_.size() - 1, i, figures).in(kByte);
  if (two_) {
    const OperatorFigures first = operator_figures(runs_[0].operators[i]);
    return line_through(moved(0, i, first).in(kByte), all, runs_[0], runs_[1]);
  }
  const double fixed = std::min(all, widths_.of(figures.fixed).in(kByte));
  return {.per_sample = (all - fixed) / last().batch, .fixed = fixed};
}

Amount WorkMaker::written_of(std::size_t i, const OperatorFigures& figures) const {
  const double all = widths_.of(figures.written).in(kByte);
  if (!two_) return {.per_sample = all / last().batch, .fixed = 0};
  const OperatorFigures first = operator_figures(runs_[0].operators[i]);
  return line_through(widths_.of(first.written).in(kByte), all, runs_[0], runs_[1]);
}

void WorkMaker::add(WorkOperator it, OperatorPhase phase, double count) {
  const bool backward = phase == OperatorPhase::kBackward;
  if (backward) it.forward = 0;
  it.backward = backward ? 1 : 0;
  it.count = count / last().passes;
  const Key key{
      it.kind,
      it.name,
      backward,
      {it.flops.value_or(Flops{}).in(kFlop), it.moved.value_or(Bytes{}).in(kByte),
       it.weights.value_or(Bytes{}).in(kByte), it.depth.value_or(0), it.kernels.value_or(1)}};
  const auto [place, fresh] = places_.try_emplace(key, made_.work.operators.size());
  if (fresh) {
    made_.work.operators.push_back(std::move(it));
  } else {
    made_.work.operators[place->second].count += it.count;
  }
}

void WorkMaker::add_operator(std::size_t i) {
  const ProfiledOperator& found = last().operators[i];
  const OperatorFigures figures = operator_figures(found);
  if (is_fused_away(runs_.size() - 1, i, figures) || figures.runs <= 0) return;
  const Amount flops = arithmetic_of(i, figures);
  const Amount bytes = moved_of(i, figures);
  fixed_arithmetic_ += figures.runs * flops.fixed * kFlop;
  all_arithmetic_ += figures.runs * figures.flops;
  const std::size_t point = found.name.find('.');
  WorkOperator it{.kind = figures.kind,
                  .name = point == std::string::npos ? found.name : found.name.substr(point + 1)};
  const bool sweep = figures.kind == WorkKind::kSweep;
  const double left = sweep ? change_.compiled.value_or(1) : 1;
  if (sweep) it.kind = sweep_;
  if (flops.per_sample > 0) it.flops = flops.per_sample * kFlop;
  if (figures.depth > 0) it.depth = figures.depth;
  if (figures.kind != WorkKind::kConvolution) {
    if (bytes.per_sample > 0) it.moved = left * bytes.per_sample * kByte;
    if (bytes.fixed > 0) it.weights = left * bytes.fixed * kByte;
  }
  if (sweep && change_.compiled) it.kernels = made_.counts.chains / made_.counts.sweeps;
  const bool scores = figures.kind == WorkKind::kAttention && change_.fused_attention &&
                      whole(scores_of(found, scores_.back())) > Bytes{};
  if (scores) it.kernels = 0.5;  // Two products become one kernel.
  if (!sweep && found.phase == OperatorPhase::kForward && figures.fixed.single > Bytes{}) {
    ++casts_;
    cast_bytes_ += figures.fixed.single;
  }
  add(std::move(it), found.phase, figures.runs);
  if (figures.kind != WorkKind::kConvolution) return;
  const Amount written = written_of(i, figures);
  if (written.per_sample <= 0) return;
  add({.kind = sweep_,
       .name = "results of convolutions",
       .moved = written.per_sample * kByte,
       .kernels = 0},
      found.phase, 1);
}

/// Autocast makes 16-bit copies of the weights in every forward pass.
void WorkMaker::add_casts() {
  const bool mixed =
      change_.precision == WorkPrecision::kMixed || change_.precision == WorkPrecision::kFp8;
  if (!mixed || computes_in_half(runs_[0]) || casts_ <= 0) return;
  add({.kind = sweep_, .name = "casts of weights", .weights = kCastBytes / casts_ * cast_bytes_},
      OperatorPhase::kForward, casts_);
}

/// Beyond the limit, the sweeps of each pass become one entry: their time is a sum of bytes and of
/// kernels anyway.
void WorkMaker::join_sweeps() {
  auto& operators = made_.work.operators;
  if (operators.size() <= kOperatorsMax) return;
  std::map<bool, WorkOperator> joined;
  std::vector<WorkOperator> others;
  for (WorkOperator& it : operators) {
    if (it.kind != sweep_) {
      others.push_back(std::move(it));
      continue;
    }
    WorkOperator& sum = joined[it.backward > 0];
    const double kernels = it.count * it.kernels.value_or(1);
    sum.moved = sum.moved.value_or(Bytes{}) + it.count * it.moved.value_or(Bytes{});
    sum.weights = sum.weights.value_or(Bytes{}) + it.count * it.weights.value_or(Bytes{});
    sum.kernels = sum.kernels.value_or(0) + kernels;
    sum.forward = it.forward;
    sum.backward = it.backward;
  }
  for (auto& [backward, sum] : joined) {
    sum.kind = sweep_;
    sum.name = "sweeps";
    others.push_back(std::move(sum));
  }
  operators = std::move(others);
}

void WorkMaker::set_memory() {
  const auto kept = [&](const OperatorRun& run) {
    WidthBytes bytes;
    for (const TypedBytes& it : run.total.kept) bytes.add(it);
    return widths_.of(bytes).in(kByte);
  };
  Amount all{.per_sample = kept(last()) / last().batch, .fixed = 0};
  if (runs_.size() == 2) all = line_through(kept(runs_[0]), kept(runs_[1]), runs_[0], runs_[1]);
  made_.work.activations = all.per_sample * kByte;
  made_.work.workspace = kLibraryWorkspace + all.fixed * kByte;
  made_.work.update_moved = last().total.update;
}

void WorkMaker::warn() {
  auto& warnings = made_.warnings;
  std::vector<std::string> unknown;
  for (const ProfiledOperator& it : last().operators) {
    const bool said = std::find(unknown.begin(), unknown.end(), it.name) != unknown.end();
    if (unknown_arithmetic(it) && !said && unknown.size() < kNamesSaid) unknown.push_back(it.name);
  }
  if (!unknown.empty()) {
    warnings.push_back(fmt::format("the arithmetic of {} is not known and not counted",
                                   printable(join(unknown, ", "))));
  }
  if (const auto omitted = last().total.omitted.value_or(0); omitted > 0) {
    warnings.push_back(fmt::format(
        "{} operators of an iteration are left out, because it has more than the hook writes down",
        omitted));
  }
  if (fixed_arithmetic_ > kWorthSaying * all_arithmetic_) {
    warnings.push_back(
        fmt::format("{:.0f} % of the arithmetic does not grow with the batch and is left out",
                    100 * (fixed_arithmetic_ / all_arithmetic_)));
  }
}

Result<OperatorWork> WorkMaker::make() {
  for (const OperatorRun& run : runs_) {
    for (const ProfiledOperator& it : run.operators) {
      const OperatorFigures figures = operator_figures(it);
      const double most = std::max({figures.flops.in(kFlop), whole(figures.scaled).in(kByte),
                                    whole(figures.fixed).in(kByte), figures.runs});
      if (most <= kFigureMax) continue;
      return bad_input(
          fmt::format("the operator {} has shapes that no computer holds; profile "
                      "the script again",
                      printable(it.name)));
    }
  }
  made_.by_shapes = !two_;
  made_.counts = operator_counts(last());
  Flops convolutions;
  Flops products;
  for (const ProfiledOperator& it : last().operators) {
    const OperatorFigures figures = operator_figures(it);
    (figures.kind == WorkKind::kConvolution ? convolutions : products) +=
        figures.runs * figures.flops;
  }
  if (convolutions > products) sweep_ = WorkKind::kMapSweep;
  for (std::size_t i = 0; i < last().operators.size(); ++i) add_operator(i);
  add_casts();
  join_sweeps();
  made_.work.precision = change_.precision;
  set_memory();
  warn();
  return std::move(made_);
}

}  // namespace

Result<OperatorRun> operator_run(const std::vector<ProfileRecord>& records,
                                 const ProfileSummary& summary) {
  std::map<std::int64_t, OperatorRun> by_number;
  std::map<std::int64_t, const ProfiledStep*> steps;
  for (const ProfileRecord& record : records) {
    if (record.rank != 0) continue;
    if (record.operators) {
      auto& list = by_number[record.operators->number].operators;
      list.insert(list.end(), record.operators->list.begin(), record.operators->list.end());
    }
    if (record.total) by_number[record.total->number].total = *record.total;
    if (record.iteration) steps[record.iteration->number] = &*record.iteration;
  }
  for (auto it = by_number.rbegin(); it != by_number.rend(); ++it) {
    OperatorRun& run = it->second;
    const auto step = steps.find(it->first);
    const bool whole_list = !run.operators.empty() &&
                            static_cast<std::int64_t>(run.operators.size()) == run.total.operators;
    if (step == steps.end() || !whole_list) continue;
    if (step->second->batch.value_or(0) != summary.seen_batch) continue;
    if (step->second->passes != summary.passes) continue;
    run.batch = summary.compute.batch_per_worker;
    run.passes = summary.passes;
    return std::move(run);
  }
  return bad_input("no iteration of the script has a complete list of operators");
}

bool computes_in_half(const OperatorRun& run) {
  return std::any_of(run.operators.begin(), run.operators.end(), [](const ProfiledOperator& it) {
    const OperatorFigures figures = operator_figures(it);
    if (!(figures.flops > Flops{}) || it.inputs.empty()) return false;
    const std::string& type = it.inputs[0].type;
    return type == "bfloat16" || type == "float16";
  });
}

OperatorCounts operator_counts(const OperatorRun& run) {
  OperatorCounts counts;
  const Scores scores = scores_in(run);
  bool in_chain = false;
  WidthBytes score_bytes;
  for (const ProfiledOperator& it : run.operators) {
    const OperatorFigures figures = operator_figures(it);
    const bool sweep = figures.kind == WorkKind::kSweep;
    const bool forward = it.phase == OperatorPhase::kForward;
    if (sweep) {
      ++counts.sweeps;
      if (!in_chain) ++counts.chains;
    } else if (figures.kind == WorkKind::kConvolution) {
      counts.convolutions += figures.runs;
    } else if (figures.kind == WorkKind::kAttention) {
      ++counts.batched;
      if (forward && !is_batched(it)) ++counts.fused;
    } else {
      ++counts.products;
    }
    in_chain = sweep;
    if (!sweep && !it.inputs.empty() && it.inputs[0].type.ends_with("float16")) ++counts.in_half;
    const WidthBytes touched = scores_of(it, scores);
    if (whole(touched) <= Bytes{}) continue;
    if (sweep) ++counts.scores;
    if (forward && is_softmax(it)) ++counts.attentions;
    score_bytes.single += touched.single;
    score_bytes.half += touched.half;
    score_bytes.other += touched.other;
  }
  const double passes = run.passes;
  for (double OperatorCounts::*it :
       {&OperatorCounts::products, &OperatorCounts::convolutions, &OperatorCounts::batched,
        &OperatorCounts::sweeps, &OperatorCounts::chains, &OperatorCounts::attentions,
        &OperatorCounts::fused, &OperatorCounts::scores, &OperatorCounts::in_half}) {
    counts.*it /= passes;
  }
  counts.score_bytes = whole(score_bytes) / (passes * run.batch);
  return counts;
}

Result<OperatorWork> operator_work(std::span<const OperatorRun> runs,
                                   const OperatorChange& change) {
  CHECK(runs.size() == 1 || runs.size() == 2);
  CHECK(runs.size() == 1 || runs[0].batch < runs[1].batch);
  return WorkMaker(runs, change).make();
}

}  // namespace stint
