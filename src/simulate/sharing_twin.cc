#include "simulate/sharing_twin.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

#include "base/check.h"
#include "simulate/step_simulation.h"
#include "simulate/turn_simulation.h"

namespace stint {
namespace {

/// Adds events to the processes of a trace.
class Drawing {
 public:
  Drawing(const std::vector<std::string>& jobs, const std::vector<std::string>& groups)
      : jobs_(jobs), groups_(groups.size()) {
    for (const std::string& group : groups) picture.rows.push_back("turn on " + group);
    for (const std::string& job : jobs) {
      for (const std::string& group : groups) {
        picture.rows.push_back(fmt::format("{} on {}", job, group));
      }
    }
  }

  void add(const TurnEvent& event) {
    CHECK(event.job < jobs_.size());
    switch (event.kind) {
      case TurnEvent::Kind::kTurn:
        put(event, jobs_[event.job], event.group, false);
        put(event, fmt::format("iteration {}", event.number + 1), process(event), false);
        return;
      case TurnEvent::Kind::kUpdate:
        for (std::size_t g = 0; g < groups_; ++g) {
          put(event, "update", first_process(event) + g, false);
        }
        return;
      case TurnEvent::Kind::kBucket:
        for (std::size_t g = 0; g < groups_; ++g) {
          put(event, fmt::format("bucket {}", event.number + 1), first_process(event) + g, true);
        }
        return;
    }
    CHECK(false);
  }

  TurnTimeline picture;

 private:
  std::size_t first_process(const TurnEvent& event) const { return groups_ * (1 + event.job); }
  std::size_t process(const TurnEvent& event) const {
    CHECK(event.group < groups_);
    return first_process(event) + event.group;
  }

  void put(const TurnEvent& event, std::string name, std::size_t row, bool network) {
    if (event.end <= event.start) return;
    picture.events.push_back({.name = std::move(name),
                              .group = static_cast<int>(row),
                              .network = network,
                              .start = event.start,
                              .duration = event.end - event.start});
  }

  const std::vector<std::string>& jobs_;
  std::size_t groups_;
};

/// Slowdowns of both jobs when the second starts this much later.
std::array<double, 2> slowdowns(const SharingQuestion& question, const TurnTerms& terms,
                                Seconds start, int rounds) {
  const std::vector<SharedStepJob> jobs{
      {.setup = question.first.setup, .turns = question.turns[0]},
      {.setup = question.second.setup, .turns = question.turns[1], .start = start}};
  const auto times = shared_iteration_times(jobs, terms, rounds);
  return {times[0] / total(simulate_step(question.first.setup)),
          times[1] / total(simulate_step(question.second.setup))};
}

TurnTerms terms_of(const SharingQuestion& question, const TwinOptions& options) {
  TurnTerms terms = terms_of(question.mode);
  terms.compute_slowdown = options.compute_slowdown;
  terms.hand_over = options.hand_over;
  terms.sharing = options.sharing;
  return terms;
}

std::optional<SharedPace> pace_by_turns(const SharingQuestion& question,
                                        const TwinOptions& options) {
  return SharedPace{.slowdown =
                        slowdowns(question, terms_of(question, options), {}, kSharedRounds)};
}

std::optional<SharedPace> pace_freely(const SharingQuestion& question, const TwinOptions& options) {
  constexpr int kStarts = 4;
  constexpr int kRounds = 48;
  constexpr double kSlices = 100;  // Slices per iteration; finer ones change little and take long.
  constexpr double kSlicesMax = 2000;  // Of the longer iteration.
  // Beyond this ratio of iterations the simulation takes minutes.
  constexpr double kLongerMax = 200;
  const Seconds iteration = total(simulate_step(question.second.setup));
  const Seconds first = total(simulate_step(question.first.setup));
  const Seconds shorter = std::min(iteration, first);
  const Seconds longer = std::max(iteration, first);
  if (longer > kLongerMax * shorter) return std::nullopt;
  TurnTerms terms = terms_of(question, options);
  terms.slice = std::max({terms.slice, shorter / kSlices, longer / kSlicesMax});
  SharedPace pace{.slowdown = {0, 0}};
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kStarts; ++i) {
    const auto slowdown = slowdowns(question, terms, iteration * i / kStarts, kRounds);
    for (std::size_t k = 0; k < 2; ++k) pace.slowdown[k] += slowdown[k] / kStarts;
    const double logarithm = std::log(slowdown[0] * slowdown[1]) / 2;
    sum += logarithm / kStarts;
    squares += logarithm * logarithm / kStarts;
  }
  pace.deviation = std::sqrt(std::max(0.0, squares - sum * sum));
  return pace;
}

}  // namespace

TurnTimeline turn_timeline(const SharedRun& run, const std::vector<std::string>& jobs,
                           const std::vector<std::string>& groups) {
  Drawing drawing(jobs, groups);
  for (const TurnEvent& event : run.events) drawing.add(event);
  return std::move(drawing.picture);
}

SharingModels twin_models(const TwinOptions& options) {
  return {.turns = [options](const SharingQuestion& it) { return pace_by_turns(it, options); },
          .freely = [options](const SharingQuestion& it) { return pace_freely(it, options); }};
}

}  // namespace stint
