#include "calibrate/scaling/scaling_priors.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"

namespace stint {
namespace {

constexpr const char* kCommon = "scaling";
constexpr std::string_view kJob = "job:";

/// Takes constants out of a calibration, and remembers the first that is wrong.
class Reader {
 public:
  explicit Reader(const Calibration& calibration) : calibration_(calibration) {}

  ScalingBelief belief(std::string_view scope, const char* name) {
    const Constant* it = find(scope, name);
    if (it != nullptr && it->prior_mean && it->prior_deviation.value_or(0) > 0) {
      return {*it->prior_mean, *it->prior_deviation};
    }
    complain(scope, name, "with a prior");
    return {};
  }

  double deviation(std::string_view scope, const char* name) {
    return belief(scope, name).deviation;
  }

  double positive(std::string_view scope, const char* name) {
    const Constant* it = find(scope, name);
    if (it != nullptr && it->value > 0) return it->value;
    complain(scope, name, "above zero");
    return 1;
  }

  const Status& status() const { return status_; }

 private:
  const Constant* find(std::string_view scope, std::string_view name) const {
    const auto& all = calibration_.constants;
    const auto found = std::find_if(all.begin(), all.end(), [&](const Constant& it) {
      return it.scope == scope && it.name == name;
    });
    return found == all.end() ? nullptr : &*found;
  }

  void complain(std::string_view scope, const char* name, const char* kind) {
    if (!status_.ok()) return;
    status_ =
        bad_input(fmt::format("the calibration '{}' needs a constant '{}' {} of the scope '{}'",
                              printable(calibration_.name), name, kind, scope));
  }

  const Calibration& calibration_;
  Status status_ = {};
};

}  // namespace

Result<ScalingPriors> scaling_priors(const Calibration& calibration, std::string_view format) {
  Reader read(calibration);
  ScalingPriors priors{.floor = read.belief(format, "floor"),
                       .exposed = read.belief(format, "exposed"),
                       .crossing = read.belief(format, "crossing"),
                       .growth = read.belief(format, "growth"),
                       .wire_growth = read.belief(format, "wire_growth"),
                       .family = read.deviation(format, "family"),
                       .device = read.deviation(format, "device"),
                       .owner = read.deviation(format, "owner"),
                       .edition = read.deviation(format, "edition"),
                       .owner_exposed = read.deviation(format, "owner_exposed"),
                       .owner_crossing = read.deviation(format, "owner_crossing"),
                       .noise = read.positive(format, "noise"),
                       .floor_by_speed = read.positive(kCommon, "floor_by_speed"),
                       .gradient_bytes = read.positive(kCommon, "gradient_bytes") * kByte,
                       .state_bytes = read.positive(kCommon, "state_bytes") * kByte,
                       .memory = read.positive(kCommon, "memory") * kByte,
                       .network = read.positive(kCommon, "network") * kGbit / kSecond,
                       .parameters = read.positive(kCommon, "parameters"),
                       .jobs = {}};
  for (const Constant& constant : calibration.constants) {
    if (!constant.scope.starts_with(kJob)) continue;
    auto& job = priors.jobs[constant.scope.substr(kJob.size())];
    if (constant.name == "parameters") job.parameters = constant.value;
    if (constant.name == "exchange") job.exchange = constant.value * kByte;
  }
  if (!read.status().ok()) return read.status().error();
  return priors;
}

BytesPerSecond network_of(const ScalingRow& row, const ScalingPriors& priors) {
  return row.network.value_or(row.workers_per_vm * priors.network);
}

ScalingSetup scaling_setup(const ScalingRow& row, const ScalingPriors& priors) {
  const auto known = priors.jobs.find(row.job);
  const auto job = known == priors.jobs.end() ? ScalingPriors::JobTraffic{} : known->second;
  const double parameters =
      row.parameters.value_or(job.parameters > 0 ? job.parameters : priors.parameters);
  const double held_by = parameters * priors.state_bytes / priors.memory;
  const ScalingWires wires{.workers_per_vm = row.workers_per_vm,
                           .degree = std::max(row.degree, held_by),
                           .network = network_of(row, priors)};
  // Gradients are sent once in each direction.
  const ScalingTraffic traffic{.synchronised = 2 * parameters * priors.gradient_bytes,
                               .per_sample = job.exchange};
  ScalingSetup setup{.samples = samples_per_worker(row),
                     .micro_steps = row.micro_steps,
                     .workers = row.workers,
                     .vms = row.vms};
  setup.wire = wire_time(traffic, setup.samples, wires);
  return setup;
}

}  // namespace stint
