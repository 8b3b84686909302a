#include "calibrate/bucket_fit.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/check.h"
#include "predict/calibrated_law.h"
#include "predict/collective.h"

namespace stint {
namespace {

double mean_of(const std::vector<double>& values) {
  CHECK(!values.empty());
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// A variance pooled over groups that each have their own mean.
class Pooled {
 public:
  void add(const std::vector<double>& group) {
    const double mean = mean_of(group);
    for (const double value : group) squares_ += (value - mean) * (value - mean);
    freedom_ += static_cast<double>(group.size()) - 1;
  }

  std::optional<double> variance() const {
    if (freedom_ <= 0) return std::nullopt;
    return squares_ / freedom_;
  }

 private:
  double squares_ = 0;
  double freedom_ = 0;
};

std::optional<double> deviation(std::optional<double> variance, double below) {
  if (!variance) return std::nullopt;
  return std::sqrt(std::max(0.0, *variance - below));
}

// Deviation of log time for the weight of a row: about the scatter of medians of a setup.
constexpr double kRowDeviation = 0.01;
constexpr double kRobustBeyond = 3;
constexpr double kIdentifiedBelow = 0.9;  // Relative to the prior deviation, see Fitted.

BucketLaw law_at(std::span<const double> values) {
  BucketLaw law;
  std::size_t i = 0;
  for (const auto& [name, field] : law_names(law)) law.*field = values[i++];
  return law;
}

/// A row of either kind, and the fit's own view of it.
struct Observation {
  const BucketRow* run = nullptr;           // Either this,
  const ReductionRow* reduction = nullptr;  // or this.

  int vms() const { return run != nullptr ? run->resolved.vms() : reduction->vms; }

  double repeats() const { return run != nullptr ? 0 : reduction->deviation; }

  double log_error(const BucketLaw& law) const {
    if (run != nullptr) return std::log(bucket_time(*run, law) / run->time);
    return std::log(reduction_time(*reduction, law) / reduction->time);
  }
};

std::vector<Observation> observations_of(const BucketRows& rows) {
  std::vector<Observation> all;
  for (const BucketRow& row : rows.runs) all.push_back({.run = &row});
  for (const ReductionRow& row : rows.reductions) all.push_back({.reduction = &row});
  return all;
}

/// A prior in standard form: x = mean + root · z, with every z of mean 0 and deviation 1.
class Belief {
 public:
  explicit Belief(const CalibratedBuckets& prior) : root_(lower_root(prior.covariance)) {
    for (const auto& [name, field] : law_names(prior.law)) mean_.push_back(prior.law.*field);
  }

  std::size_t size() const { return mean_.size(); }

  std::vector<double> at(std::span<const double> z) const {
    std::vector<double> x = mean_;
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t k = 0; k <= i; ++k) x[i] += root_[i][k] * z[k];
    }
    return x;
  }

  /// Converts a fit of z to one of x.
  Fitted of_x(Fitted fitted) const {
    const std::size_t n = size();
    std::vector<std::vector<double>> covariance(n, std::vector<double>(n, 0));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t a = 0; a <= i; ++a) {
          for (std::size_t b = 0; b <= k; ++b) {
            covariance[i][k] += root_[i][a] * fitted.covariance[a][b] * root_[k][b];
          }
        }
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      double before = 0;
      for (const double it : root_[i]) before += it * it;
      fitted.identified[i] = covariance[i][i] < kIdentifiedBelow * kIdentifiedBelow * before;
    }
    fitted.values = at(fitted.values);
    fitted.covariance = std::move(covariance);
    return fitted;
  }

 private:
  std::vector<double> mean_;
  std::vector<std::vector<double>> root_;
};

Result<Fitted> fit_rows(const std::vector<Observation>& rows, const Belief& belief) {
  auto fitted = fit({.unknowns = std::vector<Unknown>(belief.size()),
                     .rows = rows.size(),
                     .residuals =
                         [&](std::span<const double> z, std::span<double> residuals) {
                           const BucketLaw law = law_at(belief.at(z));
                           for (std::size_t i = 0; i < rows.size(); ++i) {
                             residuals[i] = rows[i].log_error(law) /
                                            std::hypot(kRowDeviation, rows[i].repeats());
                           }
                         },
                     .robust_beyond = kRobustBeyond});
  if (!fitted.ok()) return fitted.error();
  return belief.of_x(std::move(*fitted));
}

/// The errors of all rows, each under a law that was fitted without the clusters of its size.
Result<std::vector<double>> errors_left_out(const std::vector<Observation>& rows,
                                            const Belief& belief) {
  std::set<int> sizes;
  for (const Observation& row : rows) sizes.insert(row.vms());
  std::vector<double> errors(rows.size());
  for (const int size : sizes) {
    std::vector<Observation> train;
    for (const Observation& row : rows) {
      if (sizes.size() == 1 || row.vms() != size) train.push_back(row);
    }
    const auto fitted = fit_rows(train, belief);
    if (!fitted.ok()) return fitted.error();
    const BucketLaw law = law_at(fitted->values);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].vms() == size) errors[i] = rows[i].log_error(law);
    }
  }
  return errors;
}

/// The share of exposed communication in a row's time.
double exposed_share(const Observation& row, const BucketLaw& law) {
  if (row.run == nullptr) return 1;
  const ClusterView view(row.run->resolved);
  const IterationParts parts = step_parts(bucket_setup(*row.run->job, view.workers(), law));
  return parts.exposed_communication / total(parts);
}

BytesPerSecond total_rate(const Observation& row) {
  if (row.run == nullptr) return row.reduction->total;
  BytesPerSecond sum;
  for (const ResolvedGroup& group : row.run->resolved.groups) {
    sum += group.vms * group.network * row.run->resolved.reference_network;
  }
  return sum;
}

/// Number of rows that a calibration was fitted to.
int rows_behind(const Calibration& calibration) {
  int rows = 0;
  for (const FittedData& data : calibration.data) rows += data.rows;
  return rows;
}

}  // namespace

ReductionSpread spread_of(const std::vector<ReductionTimes>& sums) {
  Pooled repeats;
  Pooled rounds;
  std::vector<double> pairs;
  double times = 0;
  double round_count = 0;
  for (const ReductionTimes& sum : sums) {
    std::vector<double> means;
    for (const auto& round : sum.rounds) {
      std::vector<double> logs;
      for (const Seconds time : round) logs.push_back(std::log(time / sum.expected));
      repeats.add(logs);
      means.push_back(mean_of(logs));
      times += static_cast<double>(logs.size());
    }
    rounds.add(means);
    round_count += static_cast<double>(means.size());
    if (sum.pair) pairs.push_back(mean_of(means));
  }
  ReductionSpread spread{.repeats = deviation(repeats.variance(), 0)};
  if (sums.empty()) return spread;
  const double within = spread.repeats.value_or(0) * spread.repeats.value_or(0);
  const double per_round = times / round_count;
  const double per_sum = round_count / static_cast<double>(sums.size());
  spread.time = deviation(rounds.variance(), within / per_round);
  const double between = spread.time.value_or(0) * spread.time.value_or(0);
  Pooled of_pairs;
  if (!pairs.empty()) of_pairs.add(pairs);
  spread.pairs = deviation(of_pairs.variance(), between / per_sum + within / (per_sum * per_round));
  return spread;
}

Seconds bucket_time(const BucketRow& row, const BucketLaw& law) {
  const ClusterView view(row.resolved);
  return total(step_parts(bucket_setup(*row.job, view.workers(), law)));
}

Seconds reduction_time(const ReductionRow& row, const BucketLaw& law) {
  return ring_allreduce_time(row.bytes, row.vms, bucket_link(law, row.slowest, row.vms));
}

Result<BucketFit> fit_buckets(const BucketRows& rows, const Calibration& priors) {
  if (rows.size() == 0) {
    return bad_input("there is no measured run with several workers, and no probe, to learn from");
  }
  const auto prior = calibrated_buckets(priors);
  if (!prior.ok()) return prior.error();
  if (!*prior) return bad_input("the calibration " + priors.name + " has no bucket constants");
  const std::vector<Observation> all = observations_of(rows);
  const Belief belief(**prior);
  auto solution = fit_rows(all, belief);
  if (!solution.ok()) return solution.error();
  auto errors = errors_left_out(all, belief);
  if (!errors.ok()) return errors.error();

  BucketFit fit{.law = law_at(solution->values), .noise_floor = (*prior)->noise_floor};
  const double floor = fit.noise_floor * fit.noise_floor;
  double beyond = 0;
  double exposed = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double share = exposed_share(all[i], fit.law);
    beyond += (*errors)[i] * (*errors)[i] - floor - all[i].repeats() * all[i].repeats();
    exposed += share * share;
    fit.total_rate = std::max(fit.total_rate, total_rate(all[i]));
  }
  const double ours = std::max(floor, exposed > 0 ? beyond / exposed : 0);
  const double before = (*prior)->noise_exposed * (*prior)->noise_exposed;
  const double old_rows = rows_behind(priors);
  const double new_rows = static_cast<double>(all.size());
  if (old_rows > 0)
    fit.total_rate = std::max(fit.total_rate, (*prior)->total_rate.value_or(BytesPerSecond{}));
  fit.noise_exposed = std::sqrt((old_rows * before + new_rows * ours) / (old_rows + new_rows));
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
    constant->identified = constant->identified || fit.solution.identified[i];
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
