#include "optimise/plain_run.h"

#include <algorithm>
#include <cstdlib>

#include "base/check.h"

namespace stint {

int reference_choice(const PlanQuestion& question) {
  const auto& choices = question.work.choices;
  CHECK(!choices.empty());
  const auto& batch = question.context.job.batch;
  const int reference = batch ? batch->reference : choices.front().global_batch;
  const auto nearest = std::min_element(
      choices.begin(), choices.end(), [&](const BatchChoice& a, const BatchChoice& b) {
        return std::abs(a.global_batch - reference) < std::abs(b.global_batch - reference);
      });
  return static_cast<int>(nearest - choices.begin());
}

std::optional<Found> plain_run(const Evaluator& evaluator, Config config) {
  const Machine& machine = evaluator.space().machine_of(config.parts[0].rental);
  for (const Part& part : config.used()) {
    CHECK(&evaluator.space().machine_of(part.rental) == &machine);
  }
  for (auto workers = machine.worker_choices.rbegin(); workers != machine.worker_choices.rend();
       ++workers) {
    for (Part& part : config.parts) part.workers_per_vm = *workers;
    for (const int accumulation : evaluator.accumulations(config.choice)) {
      config.accumulation = accumulation;
      if (const auto found = evaluator.with_cheapest_save(config)) return found;
    }
  }
  return std::nullopt;
}

}  // namespace stint
