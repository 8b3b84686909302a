#include "calibrate/scaling/scaling_transfer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "calibrate/scaling/scaling_fit.h"
#include "predict/law.h"

namespace stint {
namespace {

/// The same job on one of the row's VMs, with as many samples per worker.
ScalingRow on_one_vm(ScalingRow row) {
  row.global_batch = samples_per_worker(row) * row.workers_per_vm;
  row.vms = 1;
  row.workers = row.workers_per_vm;
  row.degree = std::min(row.degree, static_cast<double>(row.workers_per_vm));
  row.time.reset();
  return row;
}

std::string owner_and_device(const ScalingRow& row) {
  return row.owner + " | " + row.job + " | " + row.device;
}

LawInput law_input(const ScalingRow& row, const ScalingPriors& priors, Seconds one_vm) {
  const BytesPerSecond network = network_of(row, priors);
  return {.alone = one_vm,
          .batch_per_worker = samples_per_worker(row),
          .gradients = scaling_setup(row, priors).wire * network / 2,
          .vms = row.vms,
          .workers = row.workers,
          .workers_on_fullest_vm = row.workers_per_vm,
          .network = 1,
          .reference = network};
}

/// The deviation of the logarithm of a time, by its interval.
double log_deviation(const Forecast& it) { return std::log(*it.p90 / *it.p10) / (2 * kEightInTen); }

Forecast on_cluster(const ScalingRow& row, const ScalingPriors& priors, const FittedLaw& law,
                    const Forecast& one_vm) {
  const LawInput there = law_input(row, priors, *one_vm.time);
  const LawInput here = law_input(on_one_vm(row), priors, *one_vm.time);
  const bool size_known = row.parameters || priors.jobs.contains(row.job);
  LawEstimate estimate = law.predict(row.job, size_known, there);
  const Seconds law_here = law_time(law.fabric, law.job_law(row.job), here);
  estimate.time = (*one_vm.time / law_here) * estimate.time;
  estimate.spread = estimate.spread.with(log_deviation(one_vm));
  return {.time = estimate.time, .p10 = estimate.p10(), .p90 = estimate.p90(), .note = one_vm.note};
}

/// The law of each network, without rows.
class Laws {
 public:
  explicit Laws(const NetworkPriors& networks) : networks_(networks) {}

  Result<const FittedLaw*> of(BytesPerSecond network) {
    const auto found = laws_.find(network);
    if (found != laws_.end()) return &found->second;
    const auto priors = networks_(network);
    if (!priors.ok()) return priors.error();
    auto law = fit_law({}, *priors);
    if (!law.ok()) return law.error();
    return &laws_.emplace(network, std::move(*law)).first->second;
  }

 private:
  const NetworkPriors& networks_;
  std::map<BytesPerSecond, FittedLaw> laws_;
};

}  // namespace

Result<std::vector<Forecast>> forecast_by_network(std::span<const ScalingRow> train,
                                                  std::span<const ScalingRow> test,
                                                  const ScalingPriors& priors,
                                                  const NetworkPriors& networks) {
  std::vector<ScalingRow> single;
  for (const ScalingRow& row : train) {
    if (row.vms == 1) single.push_back(row);
  }
  const auto model = ScalingModel::fit(single, priors);
  if (!model.ok()) return model.error();
  Laws laws(networks);
  std::vector<Forecast> forecasts;
  for (const ScalingRow& row : test) {
    const Forecast one_vm = model->estimate(row.vms == 1 ? row : on_one_vm(row));
    if (!one_vm.time || row.vms == 1) {
      forecasts.push_back(one_vm);
      continue;
    }
    const auto law = laws.of(network_of(row, priors));
    if (!law.ok()) return law.error();
    forecasts.push_back(on_cluster(row, priors, **law, one_vm));
  }
  return forecasts;
}

Result<std::vector<LawRow>> network_rows(std::span<const ScalingRow> rows,
                                         const ScalingPriors& priors, const LawPriors& law,
                                         BytesPerSecond reference) {
  std::vector<ScalingRow> single;
  std::set<std::string> known;  // Who ran what on one VM of which device.
  for (const ScalingRow& row : rows) {
    if (row.vms != 1 || !row.time || !row.unusable.empty()) continue;
    single.push_back(row);
    known.insert(owner_and_device(row));
  }
  const auto model = ScalingModel::fit(single, priors);
  if (!model.ok()) return model.error();
  std::vector<LawRow> of_network;
  for (const ScalingRow& row : rows) {
    const bool usable = row.vms > 1 && row.time && row.unusable.empty();
    if (!usable || !known.contains(owner_and_device(row))) continue;
    const Forecast one_vm = model->estimate(on_one_vm(row));
    if (!one_vm.time) continue;
    LawRow it{.job = row.job,
              .size_known = row.parameters || priors.jobs.contains(row.job),
              .input = law_input(row, priors, *one_vm.time)};
    it.input.network = it.input.reference / reference;
    it.input.reference = reference;
    const LawInput here = law_input(on_one_vm(row), priors, *one_vm.time);
    it.time = (law_time(law.fabric, {}, here) / *one_vm.time) * *row.time;
    of_network.push_back(std::move(it));
  }
  return of_network;
}

}  // namespace stint
