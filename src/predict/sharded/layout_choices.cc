#include "predict/sharded/layout_choices.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/check.h"
#include "base/text.h"
#include "predict/law.h"

namespace stint {
namespace {

constexpr double kRounding = 1 - 1e-9;
constexpr Recompute kRecomputes[] = {Recompute::kNone, Recompute::kSelective, Recompute::kFull};

std::vector<int> divisors(std::int64_t number) {
  std::vector<int> all;
  for (std::int64_t i = 1; i * i <= number; ++i) {
    if (number % i != 0) continue;
    all.push_back(static_cast<int>(i));
    if (i != number / i) all.push_back(static_cast<int>(number / i));
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// Degrees and ZeRO stage: what the layouts of one row of an answer have in common.
struct Axes {
  ParallelLayout layout;  // Micro-batch, recomputation and sp are at their defaults.
  bool crosses = false;   // Tensor parallelism crosses VMs.
};

/// All divisions of the workers into axes.
class AxesList {
 public:
  explicit AxesList(const LayoutQuestion& question)
      : question_(question),
        bounds_(question.model.bounds),
        workers_(question.cluster.workers()),
        per_vm_(question.cluster.machines.workers_per_vm) {
    for (const int tensor : divisors(workers_)) {
      for (const int pipeline : divisors(workers_ / tensor)) {
        add_degrees({.data = static_cast<int>(workers_ / tensor / pipeline),
                     .tensor = tensor,
                     .pipeline = pipeline});
      }
    }
  }

  std::vector<Axes> axes;
  std::map<std::string, std::int64_t> impossible;

 private:
  /// Why the degrees cannot be; empty when they can.
  std::string reason(const ParallelLayout& it) const {
    if (bounds_.heads % it.tensor != 0) return "tensor degree does not divide the heads";
    const bool packs = it.tensor <= per_vm_ ? per_vm_ % it.tensor == 0 : it.tensor % per_vm_ == 0;
    if (!packs) return "tensor degree does not divide the workers of a VM";
    if (bounds_.layers % it.pipeline != 0) return "pipeline degree does not divide the layers";
    if (question_.global_batch % it.data != 0) return "data degree does not divide the batch";
    return "";
  }

  void add_degrees(const ParallelLayout& degrees) {
    const std::string why = reason(degrees);
    if (!why.empty()) {
      ++impossible[why];
      return;
    }
    for (const int chunks : virtual_stages(degrees)) {
      for (const int experts : expert_degrees(degrees)) {
        ParallelLayout layout = degrees;
        layout.virtual_stages = chunks;
        layout.expert = experts;
        add_stages(layout);
      }
    }
  }

  std::vector<int> virtual_stages(const ParallelLayout& degrees) const {
    if (!question_.unvalidated || degrees.pipeline == 1) return {1};
    return divisors(bounds_.layers / degrees.pipeline);
  }

  std::vector<int> expert_degrees(const ParallelLayout& degrees) const {
    if (!question_.unvalidated || bounds_.experts <= 1) return {1};
    return divisors(std::gcd(bounds_.experts, std::int64_t{degrees.data}));
  }

  void add_stages(ParallelLayout layout) {
    const bool crosses = layout.tensor > per_vm_;
    for (int zero = 0; zero <= (layout.data > 1 ? 3 : 0); ++zero) {
      layout.zero = zero;
      axes.push_back({layout, crosses});
    }
    if (layout.tensor > 1 || layout.data <= per_vm_) return;
    layout.hybrid = true;
    axes.push_back({layout, crosses});
  }

  const LayoutQuestion& question_;
  const LayoutBounds& bounds_;
  std::int64_t workers_;
  int per_vm_;
};

/// Micro-batches of the axes: those that divide the samples of a pipeline.
std::vector<int> micro_batches(const LayoutQuestion& question, const ParallelLayout& axes) {
  const int samples = question.global_batch / axes.data;
  std::vector<int> all = divisors(samples);
  if (axes.virtual_stages > 1) {
    std::erase_if(all, [&](int it) { return samples / it % axes.pipeline != 0; });
  }
  return all;
}

/// An order of layouts that take as long.
auto rank_of(const ParallelLayout& it) {
  return std::tuple(it.tensor, it.pipeline, it.virtual_stages, it.expert, it.zero, it.hybrid,
                    it.micro_batch, it.recompute, it.sequence);
}

bool is_before(const LayoutChoice& a, const LayoutChoice& b) {
  if (a.iteration != b.iteration) return a.iteration < b.iteration;
  return rank_of(a.layout) < rank_of(b.layout);
}

bool fits(const LayoutQuestion& question, const LayoutChoice& choice) {
  return choice.p_fits >= question.confidence;
}

void set_memory(const LayoutQuestion& question, const ShardedSetup& setup, LayoutChoice& choice) {
  const ShardedMemoryLaw& law = question.model.laws.memory;
  choice.memory = sharded_memory(setup, question.model.states, law);
  choice.p_fits = p_fits(choice.memory, question.cluster.memory, law);
}

void set_time(const LayoutQuestion& question, const ShardedSetup& setup, LayoutChoice& choice) {
  choice.parts = sharded_step(setup, question.model.laws.step);
  choice.iteration = choice.parts.total();
}

/// Passes of one micro-batch through the whole model by tensor degree and micro-batch.
class PassTimes {
 public:
  explicit PassTimes(const LayoutQuestion& question) : question_(question) {}

  /// Seconds of G samples on W workers at least.
  Seconds least(int tensor, int expert, int micro_batch) {
    const auto [at, fresh] = known_.emplace(std::tuple(tensor, expert, micro_batch), Seconds{});
    if (fresh) at->second = passes(tensor, expert, micro_batch);
    const double often = static_cast<double>(question_.global_batch) / micro_batch * tensor /
                         static_cast<double>(question_.cluster.workers());
    return kRounding * often * at->second;
  }

 private:
  Seconds passes(int tensor, int expert, int micro_batch) const {
    // Sequence parallelism divides more of the work.
    const ParallelLayout alone{
        .tensor = tensor, .expert = expert, .sequence = tensor > 1, .micro_batch = micro_batch};
    ShardedSetup setup = setup_of(question_, alone);
    setup.global_batch = micro_batch;
    const ShardedParts parts = sharded_step(setup, question_.model.laws.step);
    return parts.forward + parts.backward;
  }

  const LayoutQuestion& question_;
  std::map<std::tuple<int, int, int>, Seconds> known_;
};

/// The best layouts found so far, one for each axes.
class Best {
 public:
  explicit Best(int rows) : rows_(static_cast<std::size_t>(std::max(1, rows))) {}

  /// What takes at least this is of no use.
  Seconds limit() const {
    return found_.size() < rows_ ? std::numeric_limits<double>::infinity() * kSecond
                                 : found_.back().iteration;
  }

  void add(const LayoutChoice& choice) {
    const auto at = std::upper_bound(found_.begin(), found_.end(), choice, is_before);
    found_.insert(at, choice);
    if (found_.size() > rows_) found_.pop_back();
  }

  std::vector<LayoutChoice> take() { return std::move(found_); }

 private:
  std::size_t rows_;
  std::vector<LayoutChoice> found_;
};

/// The search for the best layouts.
class BestSearch {
 public:
  BestSearch(const LayoutQuestion& question, int rows)
      : question_(question), passes_(question), best_(rows) {}

  std::vector<LayoutChoice> run() {
    const AxesList list(question_);
    for (const bool crossing : {false, true}) {
      look(list.axes, crossing);
      auto found = best_.take();
      if (!found.empty()) return found;
    }
    return {};
  }

 private:
  struct Candidate {
    Seconds least;
    const Axes* axes;
  };

  void look(const std::vector<Axes>& all, bool crossing) {
    std::vector<Candidate> order;
    for (const Axes& axes : all) {
      if (axes.crosses == crossing) order.push_back({least_of(axes.layout), &axes});
    }
    // What may be fast first: it makes the bounds cut off more.
    std::stable_sort(order.begin(), order.end(),
                     [](const Candidate& a, const Candidate& b) { return a.least < b.least; });
    for (const Candidate& it : order) {
      if (it.least > best_.limit()) break;
      if (const auto choice = best_of(it.axes->layout)) best_.add(*choice);
    }
  }

  Seconds least_of(const ParallelLayout& axes) {
    Seconds least = std::numeric_limits<double>::infinity() * kSecond;
    for (const int size : micro_batches(question_, axes)) {
      least = std::min(least, passes_.least(axes.tensor, axes.expert, size));
    }
    return least;
  }

  /// The fastest layout of the axes that fits.
  std::optional<LayoutChoice> best_of(const ParallelLayout& axes) {
    std::optional<LayoutChoice> best;
    for (const int size : micro_batches(question_, axes)) {
      for (const bool sequence : {true, false}) {
        if (sequence && axes.tensor == 1) continue;
        Seconds limit = best_.limit();
        if (best) limit = std::min(limit, best->iteration);
        if (passes_.least(axes.tensor, axes.expert, size) > limit) continue;
        ParallelLayout layout = axes;
        layout.micro_batch = size;
        layout.sequence = sequence;
        const auto choice = fastest_recomputed(layout);
        if (choice && (!best || is_before(*choice, *best))) best = choice;
      }
    }
    return best;
  }

  /// The fastest recomputation that fits. More of it is not always slower: a longer backward pass
  /// may hide more.
  std::optional<LayoutChoice> fastest_recomputed(ParallelLayout layout) const {
    std::optional<LayoutChoice> best;
    for (const Recompute recompute : kRecomputes) {
      layout.recompute = recompute;
      LayoutChoice choice{.layout = layout};
      const ShardedSetup setup = setup_of(question_, layout);
      set_memory(question_, setup, choice);
      if (!fits(question_, choice)) continue;
      set_time(question_, setup, choice);
      if (!best || is_before(choice, *best)) best = choice;
    }
    return best;
  }

  const LayoutQuestion& question_;
  PassTimes passes_;
  Best best_;
};

/// All layouts of the axes, with what of them fits.
void add_all(const LayoutQuestion& question, const ParallelLayout& axes, LayoutList& list) {
  ParallelLayout layout = axes;
  for (const int size : micro_batches(question, axes)) {
    layout.micro_batch = size;
    for (const Recompute recompute : kRecomputes) {
      layout.recompute = recompute;
      for (const bool sequence : {false, true}) {
        if (sequence && axes.tensor == 1) continue;
        layout.sequence = sequence;
        LayoutChoice choice = evaluate(question, layout);
        if (!fits(question, choice)) {
          ++list.too_large;
        } else {
          ++list.fits;
          list.fitting.push_back(choice);
        }
      }
    }
  }
}

/// Bytes of all states of the model on each of so many workers, at least.
Bytes least_states(const LayoutQuestion& question) {
  const ShardedModel& model = question.model;
  const Bytes each =
      model.states.parameter +
      model.setup.trained * (model.states.gradient +
                             (model.setup.offloads_update ? Bytes{} : model.states.optimizer));
  // Groups of experts divide their weights once more.
  const double parts = question.unvalidated ? static_cast<double>(model.bounds.experts) : 1;
  return kRounding * model.parameters() / parts / static_cast<double>(question.cluster.workers()) *
         each;
}

}  // namespace

Seconds LayoutChoice::low(double spread) const {
  return std::exp(-kEightInTen * spread) * iteration;
}

Seconds LayoutChoice::high(double spread) const {
  return std::exp(kEightInTen * spread) * iteration;
}

ShardedSetup setup_of(const LayoutQuestion& question, const ParallelLayout& layout) {
  ShardedSetup setup = question.model.setup;
  setup.global_batch = question.global_batch;
  setup.layout = layout;
  setup.machines = question.cluster.machines;
  return setup;
}

LayoutChoice evaluate(const LayoutQuestion& question, const ParallelLayout& layout) {
  const ShardedSetup setup = setup_of(question, layout);
  LayoutChoice choice{.layout = layout};
  set_memory(question, setup, choice);
  set_time(question, setup, choice);
  return choice;
}

std::string layout_problem(const LayoutQuestion& question, const ParallelLayout& layout) {
  LayoutBounds bounds = question.model.bounds;
  bounds.workers = question.cluster.workers();
  bounds.global_batch = question.global_batch;
  std::string found = problem(layout, bounds);
  if (!found.empty()) return found;
  if (bounds.layers % layout.pipeline != 0) {
    return fmt::format("{} stages do not divide the {} layers of the model; choose pp from {}",
                       layout.pipeline, bounds.layers, fmt::join(divisors(bounds.layers), ", "));
  }
  if (layout.zero > 0 && layout.data == 1) {
    return fmt::format("ZeRO stage {} shards over the data axis, which has one worker; raise dp",
                       layout.zero);
  }
  if (layout.data % layout.expert != 0 || bounds.experts % layout.expert != 0) {
    return fmt::format(
        "the expert degree {} does not divide both the data degree {} and the {} "
        "experts of the model",
        layout.expert, layout.data, bounds.experts);
  }
  const int samples = question.global_batch / layout.data;
  if (layout.virtual_stages > 1 && samples / layout.micro_batch % layout.pipeline != 0) {
    return fmt::format(
        "virtual stages need micro-batches in rounds of the {} stages, but there are {}",
        layout.pipeline, samples / layout.micro_batch);
  }
  return "";
}

std::vector<std::string> unvalidated_parts(const LayoutQuestion& question,
                                           const ParallelLayout& layout) {
  std::vector<std::string> parts;
  if (layout.virtual_stages > 1) parts.emplace_back("interleaving");
  if (layout.expert > 1) parts.emplace_back("expert all-to-all");
  if (layout.context > 1) parts.emplace_back("context parallelism");
  if (question.model.setup.frozen_products) parts.emplace_back("frozen weights");
  if (!question.model.laws.fitted) parts.emplace_back("constants (priors)");
  return parts;
}

LayoutList all_layouts(const LayoutQuestion& question, std::size_t rows) {
  const AxesList axes(question);
  LayoutList list{.fitting = {}, .impossible = axes.impossible};
  const auto shorten = [&] {
    std::sort(list.fitting.begin(), list.fitting.end(), is_before);
    if (list.fitting.size() > rows) list.fitting.resize(rows);
  };
  for (const bool crossing : {false, true}) {
    if (!list.fitting.empty()) break;
    for (const Axes& it : axes.axes) {
      if (it.crosses != crossing) continue;
      add_all(question, it.layout, list);
      // There may be millions in all.
      if (list.fitting.size() / 8 > rows) shorten();
    }
  }
  shorten();
  return list;
}

std::vector<LayoutChoice> best_layouts(const LayoutQuestion& question, int rows) {
  if (!may_fit(question)) return {};
  return BestSearch(question, rows).run();
}

bool may_fit(const LayoutQuestion& question) {
  CHECK(question.confidence >= 0.5);  // Else more than the memory may count as fitting.
  return least_states(question) <= question.cluster.memory;
}

Seconds least_work(const LayoutQuestion& question) {
  PassTimes passes(question);
  const auto experts = question.unvalidated ? static_cast<int>(question.model.bounds.experts) : 1;
  Seconds least = std::numeric_limits<double>::infinity() * kSecond;
  for (const int tensor : divisors(question.model.bounds.heads)) {
    for (const int size : divisors(question.global_batch)) {
      least = std::min(least, passes.least(tensor, experts, size));
    }
  }
  return static_cast<double>(question.cluster.workers()) * least;
}

}  // namespace stint
