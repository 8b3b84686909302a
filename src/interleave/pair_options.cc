#include "interleave/pair_options.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/check.h"
#include "base/normal.h"
#include "predict/law.h"

namespace stint {
namespace {

Seconds end_of(const SharedWork& job, Seconds together) {
  const double left = std::max(0.0, job.iterations - together / job.shared);
  return std::min(together, job.iterations * job.shared) + left * job.alone;
}

double slowdown_of(const SharedWork& job, Seconds end) {
  const Seconds alone = job.iterations * job.alone;
  return alone > Seconds{} ? end / alone : 1;
}

void check(const SharedWork& job) {
  CHECK(job.iterations >= 0);
  CHECK(job.alone > Seconds{});
  CHECK(job.shared > Seconds{});
}

constexpr SharingMode kModes[] = {SharingMode::kBucket, SharingMode::kWhole, SharingMode::kFreely};

const SharingModel& model_of(SharingMode mode, const SharingModels& models) {
  return mode == SharingMode::kFreely ? models.freely : models.turns;
}

bool same_workers(const ShareJob& first, const ShareJob& second) {
  const auto& a = first.setup.groups;
  const auto& b = second.setup.groups;
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const StepGroup& x, const StepGroup& y) {
                      return x.vms == y.vms && x.workers_per_vm == y.workers_per_vm;
                    });
}

/// The memory of the fullest accelerator that does not fit both jobs, if there is one.
std::optional<MemoryVerdict> too_full(const ShareJob& first, const ShareJob& second,
                                      const ShareCluster& cluster) {
  std::optional<MemoryVerdict> worst;
  for (std::size_t g = 0; g < cluster.memory.size(); ++g) {
    const bool known = g < first.memory.size() && g < second.memory.size() && cluster.memory[g] &&
                       first.memory[g] && second.memory[g];
    if (!known) continue;
    const std::array needs{*first.memory[g], *second.memory[g]};
    const MemoryVerdict verdict = shared_memory_verdict(needs, *cluster.memory[g]);
    if (!verdict.fits && (!worst || verdict.needed > worst->needed)) worst = verdict;
  }
  return worst;
}

SharedWork work_of(const ShareJob& job, double slowdown) {
  return {.iterations = job.iterations, .alone = job.alone, .shared = slowdown * job.alone};
}

bool keeps(const PairOption& option, double confidence) {
  return std::all_of(option.p_deadline.begin(), option.p_deadline.end(),
                     [&](const auto& p) { return !p || *p >= confidence; });
}

/// Options that keep the deadlines are first, then those with the larger certain saving; ties keep
/// their order.
bool better(const PairOption& a, const PairOption& b, double confidence) {
  const bool a_keeps = keeps(a, confidence);
  if (a_keeps != keeps(b, confidence)) return a_keeps;
  return a.saved_surely() > b.saved_surely();
}

/// Rhythms to try: one turn each first. Free sharing has none.
std::vector<std::array<int, 2>> rhythms(SharingMode mode, int turns_max) {
  std::vector<std::array<int, 2>> all{{1, 1}};
  if (mode == SharingMode::kFreely) return all;
  for (int turns = 2; turns <= turns_max; ++turns) {
    all.push_back({turns, 1});
    all.push_back({1, turns});
  }
  return all;
}

std::optional<PairOption> best_of(SharingMode mode, const ShareJob& first, const ShareJob& second,
                                  const PairTerms& terms) {
  std::optional<PairOption> best;
  for (const auto& turns : rhythms(mode, terms.turns_max)) {
    auto option = pair_option({first, second, mode, turns}, terms);
    if (option && (!best || better(*option, *best, terms.confidence))) best = option;
  }
  return best;
}

std::string late_reason(const ShareJob& first, const ShareJob& second, const PairOption& option,
                        double confidence) {
  const std::array jobs{&first, &second};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& p = option.p_deadline[i];
    if (!p || *p >= confidence) continue;
    return fmt::format("Together, {} would meet its deadline with a probability of only {:.2f}.",
                       jobs[i]->name, *p);
  }
  return {};
}

}  // namespace

PairOutcome pair_outcome(const SharedWork& first, const SharedWork& second) {
  check(first);
  check(second);
  PairOutcome it;
  it.together = std::min(first.iterations * first.shared, second.iterations * second.shared);
  it.end = {end_of(first, it.together), end_of(second, it.together)};
  it.slowdown = {slowdown_of(first, it.end[0]), slowdown_of(second, it.end[1])};
  it.makespan = std::max(it.end[0], it.end[1]);
  it.separate = first.iterations * first.alone + second.iterations * second.alone;
  return it;
}

MemoryVerdict shared_memory_verdict(std::span<const MemoryNeed> needs, Bytes memory) {
  MemoryNeed all;
  for (const MemoryNeed& need : needs) {
    all.parameters += need.parameters;
    all.gradients += need.gradients;
    all.optimizer += need.optimizer;
    all.activations += need.activations;
    all.overhead += need.overhead;
  }
  return memory_verdict(all, memory);
}

Seconds PairOption::saved_surely() const {
  return outcome.separate - std::exp(kEightInTen * pace.deviation) * outcome.makespan;
}

double time_deviation(const ShareJob& job) {
  return std::hypot(job.deviation, job.iterations_deviation);
}

std::optional<double> p_deadline(const ShareJob& job, Seconds end, double deviation) {
  if (!job.deadline) return std::nullopt;
  const double margin = std::log(*job.deadline / end);
  if (deviation <= 0) return margin >= 0 ? 1 : 0;
  return normal_distribution(margin / deviation);
}

std::optional<PairOption> pair_option(const SharingQuestion& question, const PairTerms& terms) {
  const SharingModel& model = model_of(question.mode, terms.models);
  const auto pace = model ? model(question) : std::nullopt;
  if (!pace) return std::nullopt;
  const ShareJob& first = question.first;
  const ShareJob& second = question.second;
  PairOption option{.mode = question.mode,
                    .turns = question.turns,
                    .pace = *pace,
                    .outcome = pair_outcome(work_of(first, pace->slowdown[0]),
                                            work_of(second, pace->slowdown[1]))};
  // A round has the uncertainty of the less certain of the two.
  const double common = std::hypot(std::max(first.deviation, second.deviation), pace->deviation);
  const std::array jobs{&first, &second};
  for (std::size_t i = 0; i < 2; ++i) {
    option.deviation[i] = std::hypot(common, jobs[i]->iterations_deviation);
    option.p_deadline[i] = p_deadline(*jobs[i], option.outcome.end[i], option.deviation[i]);
  }
  return option;
}

PairVerdict pair_verdict(const ShareJob& first, const ShareJob& second, const PairTerms& terms) {
  if (!same_workers(first, second)) {
    return {.refusal = PairRefusal::kWorkers,
            .reason = fmt::format(
                "{} has {} workers and {} has {}, but each accelerator needs one worker of each.",
                first.name, workers(first.setup), second.name, workers(second.setup))};
  }
  if (const auto full = too_full(first, second, terms.cluster)) {
    return {.refusal = PairRefusal::kMemory,
            .reason =
                fmt::format("Together they need {:.1f} GB of an accelerator with {:.1f} GB usable.",
                            full->needed.in(kGB), full->available.in(kGB))};
  }
  PairVerdict verdict;
  for (const SharingMode mode : kModes) {
    auto option = best_of(mode, first, second, terms);
    if (option) verdict.options.push_back(*option);
  }
  std::stable_sort(
      verdict.options.begin(), verdict.options.end(),
      [&](const PairOption& a, const PairOption& b) { return better(a, b, terms.confidence); });
  if (verdict.options.empty()) {
    return {.refusal = PairRefusal::kUnknown, .reason = "No model covers this pair."};
  }
  const PairOption& best = verdict.options.front();
  if (!keeps(best, terms.confidence)) {
    verdict.refusal = PairRefusal::kDeadline;
    verdict.reason = late_reason(first, second, best, terms.confidence);
  } else if (best.saved_surely() < kSavingMin * best.outcome.separate) {
    verdict.refusal = PairRefusal::kNoGain;
    verdict.reason = fmt::format("The speedup is not certain to exceed {:.1f} %.",
                                 100 * std::max(0.0, best.saved_surely() / best.outcome.separate));
  }
  return verdict;
}

}  // namespace stint
