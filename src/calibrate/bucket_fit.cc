#include "calibrate/bucket_fit.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace stint {
namespace {

// Deviation of log time that a row is weighed with: about how far medians of a setup scatter.
constexpr double kRowDeviation = 0.01;
constexpr double kRobustBeyond = 3;

std::vector<Unknown> unknowns_of(const CalibratedBuckets& prior) {
  std::vector<Unknown> unknowns;
  for (const auto& [name, field] : law_names(prior.law)) {
    const std::size_t i = unknowns.size();
    const double mean = prior.law.*field;
    unknowns.push_back(
        {.prior_mean = mean, .prior_deviation = std::sqrt(prior.covariance[i][i]), .start = mean});
  }
  return unknowns;
}

BucketLaw law_at(std::span<const double> values) {
  BucketLaw law;
  std::size_t i = 0;
  for (const auto& [name, field] : law_names(law)) law.*field = values[i++];
  return law;
}

double log_error(const BucketRow& row, const BucketLaw& law) {
  return std::log(bucket_time(row, law) / row.time);
}

Result<Fitted> fit_rows(const std::vector<const BucketRow*>& rows, const CalibratedBuckets& prior) {
  return fit({.unknowns = unknowns_of(prior),
              .rows = rows.size(),
              .residuals =
                  [&](std::span<const double> x, std::span<double> residuals) {
                    const BucketLaw law = law_at(x);
                    for (std::size_t i = 0; i < rows.size(); ++i) {
                      residuals[i] = log_error(*rows[i], law) / kRowDeviation;
                    }
                  },
              .robust_beyond = kRobustBeyond});
}

/// The errors of all rows, each under a law that was fitted without the clusters of its size.
Result<std::vector<double>> errors_left_out(const std::vector<BucketRow>& rows,
                                            const CalibratedBuckets& prior) {
  std::set<int> sizes;
  for (const BucketRow& row : rows) sizes.insert(row.resolved.vms());
  std::vector<double> errors(rows.size());
  for (const int size : sizes) {
    std::vector<const BucketRow*> train;
    for (const BucketRow& row : rows) {
      if (sizes.size() == 1 || row.resolved.vms() != size) train.push_back(&row);
    }
    const auto fitted = fit_rows(train, prior);
    if (!fitted.ok()) return fitted.error();
    const BucketLaw law = law_at(fitted->values);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].resolved.vms() == size) errors[i] = log_error(rows[i], law);
    }
  }
  return errors;
}

double exposed_share(const BucketRow& row, const BucketLaw& law) {
  const ClusterView view(row.resolved);
  const IterationParts parts = step_parts(bucket_setup(*row.job, view.workers(), law));
  return parts.exposed_communication / total(parts);
}

BytesPerSecond total_rate(const ResolvedJob& resolved) {
  BytesPerSecond sum;
  for (const ResolvedGroup& group : resolved.groups) {
    sum += group.vms * group.network * resolved.reference_network;
  }
  return sum;
}

}  // namespace

Seconds bucket_time(const BucketRow& row, const BucketLaw& law) {
  const ClusterView view(row.resolved);
  return total(step_parts(bucket_setup(*row.job, view.workers(), law)));
}

Result<BucketFit> fit_buckets(const std::vector<BucketRow>& rows, const Calibration& priors) {
  if (rows.empty()) return bad_input("there is no measured run with several workers to learn from");
  const auto prior = calibrated_buckets(priors);
  if (!prior.ok()) return prior.error();
  if (!*prior) return bad_input("the calibration " + priors.name + " has no constants of buckets");
  std::vector<const BucketRow*> all;
  for (const BucketRow& row : rows) all.push_back(&row);
  auto solution = fit_rows(all, **prior);
  if (!solution.ok()) return solution.error();
  auto errors = errors_left_out(rows, **prior);
  if (!errors.ok()) return errors.error();

  BucketFit fit{.law = law_at(solution->values), .noise_floor = (*prior)->noise_floor};
  const double floor = fit.noise_floor * fit.noise_floor;
  double beyond = 0;
  double exposed = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double share = exposed_share(rows[i], fit.law);
    beyond += (*errors)[i] * (*errors)[i] - floor;
    exposed += share * share;
    fit.total_rate = std::max(fit.total_rate, total_rate(rows[i].resolved));
  }
  fit.noise_exposed = std::sqrt(std::max(floor, exposed > 0 ? beyond / exposed : 0));
  fit.solution = std::move(*solution);
  fit.errors = std::move(*errors);
  return fit;
}

Calibration to_calibration(const BucketFit& fit, const Calibration& priors) {
  Calibration calibration;
  calibration.constants = priors.constants;
  std::vector<std::size_t> kept;  // Those in the covariance.
  std::size_t i = 0;
  for (const auto& [name, field] : law_names(fit.law)) {
    const auto constant = std::find_if(calibration.constants.begin(), calibration.constants.end(),
                                       [&, wanted = name](const Constant& it) {
                                         return it.scope == "buckets" && it.name == wanted;
                                       });
    constant->value = fit.law.*field;
    constant->deviation = std::sqrt(fit.solution.covariance[i][i]);
    constant->identified = fit.solution.identified[i];
    if (constant->identified) kept.push_back(i);
    ++i;
  }
  for (Constant& constant : calibration.constants) {
    if (constant.name == "noise_exposed") constant.value = fit.noise_exposed;
    if (constant.name == "total_rate") constant.value = fit.total_rate.in(kGbit / kSecond);
  }
  for (const std::size_t row : kept) {
    auto& line = calibration.covariance.emplace_back();
    for (const std::size_t column : kept) line.push_back(fit.solution.covariance[row][column]);
  }
  return calibration;
}

}  // namespace stint
