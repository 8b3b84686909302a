#include "calibrate/law_calibration.h"

#include <cmath>
#include <map>
#include <vector>

namespace stint {
namespace {

// As in solver/least_squares.h; the priors of jobs are not the solver's, so that they are computed
// again here.
constexpr double kIdentifiedBelow = 0.9;

/// Collects constants and the index of each in the solution.
class Writer {
 public:
  Writer(const FittedLaw& law, const Calibration& priors) : law_(law) {
    for (const Constant& constant : priors.constants) units_[constant.name] = constant.unit;
  }

  void add_fitted(Constant constant, std::size_t unknown) {
    constant.deviation = std::sqrt(law_.solution.covariance[unknown][unknown]);
    constant.identified = *constant.deviation < kIdentifiedBelow * *constant.prior_deviation;
    if (in_covariance(constant)) unknowns_.push_back(unknown);
    add(std::move(constant));
  }

  void add(Constant constant) {
    const auto unit = units_.find(constant.name);
    constant.unit = unit == units_.end() ? "1" : unit->second;
    if (constant.name == "gradient_bytes") constant.unit = "byte";
    if (constant.scope == "fabric_reference") constant.unit = "Gbit/s";
    calibration_.constants.push_back(std::move(constant));
  }

  Calibration finish() {
    for (const std::size_t i : unknowns_) {
      auto& row = calibration_.covariance.emplace_back();
      for (const std::size_t k : unknowns_) row.push_back(law_.solution.covariance[i][k]);
    }
    return std::move(calibration_);
  }

 private:
  const FittedLaw& law_;
  std::map<std::string, std::string> units_;
  std::vector<std::size_t> unknowns_;
  Calibration calibration_;
};

void add_job(Writer& writer, const std::string& name, const JobFit& job, const LawPriors& priors) {
  const std::string scope = "job:" + name;
  std::size_t unknown = job.first_unknown;
  for (const auto& [constant, field] : law_names(JobLaw{})) {
    writer.add_fitted({.name = constant,
                       .scope = scope,
                       .value = job.law.*field,
                       .prior_mean = 0,
                       .prior_deviation = priors.job_deviation.*field},
                      unknown++);
  }
  writer.add({.name = "noise", .scope = scope, .value = job.noise, .identified = false});
  writer.add({.name = "gradient_bytes",
              .scope = scope,
              .value = job.gradients.in(kByte),
              .identified = false});
}

}  // namespace

Calibration to_calibration(const FittedLaw& law, const Calibration& priors,
                           BytesPerSecond reference) {
  Writer writer(law, priors);
  std::size_t unknown = 0;
  for (const auto& [constant, field] : law_names(FabricLaw{})) {
    writer.add_fitted({.name = constant,
                       .scope = "fabric",
                       .value = law.fabric.*field,
                       .prior_mean = law.priors.fabric.*field,
                       .prior_deviation = law.priors.fabric_deviation.*field},
                      unknown++);
  }
  for (const auto& [constant, field] : law_names(JobLaw{})) {
    writer.add({.name = constant,
                .scope = "job",
                .prior_mean = 0,
                .prior_deviation = law.priors.job_deviation.*field,
                .identified = false});
  }
  const auto add_noise = [&](const char* name, double value) {
    writer.add({.name = name, .scope = "noise", .value = value, .identified = false});
  };
  add_noise("noise_floor", law.priors.noise_floor);
  add_noise("noise_exposed", law.priors.noise_exposed);
  add_noise("dispersion", law.dispersion);
  add_noise("unseen_below", law.unseen.below);
  add_noise("unseen_above", law.unseen.above);
  writer.add({.name = "network",
              .scope = "fabric_reference",
              .value = reference.in(kGbit / kSecond),
              .identified = false});
  for (const auto& [name, job] : law.jobs) add_job(writer, name, job, law.priors);
  return writer.finish();
}

}  // namespace stint
