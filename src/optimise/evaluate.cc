#include "optimise/evaluate.h"

#include <cmath>

#include "base/check.h"
#include "base/normal.h"
#include "predict/cluster_step.h"

namespace stint {
Evaluator::Evaluator(const PlanQuestion& question, const Space& space)
    : question_(question), space_(space), known_(question.context.known()), own_(law_of(known_)) {
  for (const BatchChoice& choice : question.work.choices) {
    auto& steps = accumulations_.emplace_back();
    for (int m = 1; m <= std::min(kAccumulationMax, choice.global_batch); ++m) {
      if (choice.global_batch % m == 0) steps.push_back(m);
    }
  }
}

Workers Evaluator::workers(const Config& config, Groups& groups) const {
  const PredictContext& context = question_.context;
  for (std::size_t i = 0; i < config.used().size(); ++i) {
    const Part& part = config.parts[i];
    const ResolvedGroup& figures = space_.machine_of(part.rental).figures;
    groups[i] = {.times = &figures.times,
                 .jitter = figures.jitter,
                 .network = figures.network,
                 .inside_link = figures.inside_link,
                 .efa = figures.efa,
                 .vms = part.vms,
                 .workers_per_vm = part.workers_per_vm};
  }
  const Workers cluster{.groups = std::span(groups.data(), config.used().size()),
                        .collective = config.collective,
                        .accumulation = config.accumulation,
                        .reference_network = context.law.reference_network};
  const int samples = choice_of(config).global_batch / config.accumulation;
  if (samples < cluster.workers()) return {};
  std::array<KindShare, 2> shares;
  // The batch is shared out by what is believed, whatever turns out to be true.
  share_out(context.job, context.law.fabric, own_, cluster, samples,
            std::span(shares.data(), cluster.groups.size()));
  return cluster;
}

std::optional<Outcome> Evaluator::outcome(const Config& config) const {
  CHECK(choice_of(config).global_batch % config.accumulation == 0);
  const PredictContext& context = question_.context;
  Groups groups;
  const Workers cluster = workers(config, groups);
  if (cluster.groups.empty()) return std::nullopt;
  for (std::size_t i = 0; i < cluster.groups.size(); ++i) {
    const int most = space_.machine_of(config.parts[i].rental).batch_max;
    if (cluster.groups[i].batch > most) return std::nullopt;
  }
  const Seconds iteration =
      total(step_parts(step_setup(context.job, cluster, context.law.fabric, own_)));
  const Seconds time = choice_of(config).iterations * iteration;
  return Outcome{.iteration = iteration, .time = time, .cost = rate(config) * time};
}

Seconds Evaluator::iteration(const Config& config, const FabricLaw& fabric,
                             const JobLaw& own) const {
  Groups groups;
  const Workers cluster = workers(config, groups);
  return total(step_parts(step_setup(question_.context.job, cluster, fabric, own)));
}

double Evaluator::deviation(const Config& config, const Outcome& outcome) const {
  const PredictContext& context = question_.context;
  Groups groups;
  const Workers cluster = workers(config, groups);
  return std::hypot(time_deviation(context.job, context.law, known_, cluster, outcome.iteration),
                    choice_of(config).deviation);
}

double Evaluator::deviation_min(int choice) const {
  const double noise = known_ == nullptr ? 1 : known_->noise;
  return std::hypot(noise * question_.context.law.noise_floor, choice_at(choice).deviation);
}

double Evaluator::deviation_min(const Config& config, const Outcome& outcome) const {
  Groups groups;
  const Workers cluster = workers(config, groups);
  return std::hypot(deviation_min(config.choice), compute_deviation(cluster, outcome.iteration));
}

double Evaluator::deviation_part(const Config& config, const Outcome& outcome) const {
  const PredictContext& context = question_.context;
  Groups groups;
  const Workers cluster = workers(config, groups);
  return std::hypot(deviation_min(config.choice), compute_deviation(cluster, outcome.iteration),
                    cost_deviation(context.job, context.law, known_, cluster));
}

DollarsPerSecond Evaluator::rate(const Config& config) const {
  DollarsPerSecond sum;
  for (const Part& part : config.used()) {
    sum += part.vms * space_.rentals[static_cast<std::size_t>(part.rental)].price;
  }
  return sum;
}

double probability_within(double limit_over_mean, double deviation) {
  if (limit_over_mean <= 0) return 0;
  if (deviation <= 0) return limit_over_mean >= 1 ? 1 : 0;
  return normal_distribution(std::log(limit_over_mean) / deviation);
}

}  // namespace stint
