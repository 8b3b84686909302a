#include "calibrate/collective_fit.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "calibrate/law_posterior.h"
#include "predict/law.h"

namespace stint {
namespace {

// A hop costs from a microsecond (NVLink) to tens (a network), 0.2 to 60 at two deviations.
constexpr double kLatency = 3e-6;
constexpr double kLatencyDeviation = 1.5;

// Bus bandwidths lie between 1 GB/s (an ordinary network) and 500 GB/s (NVLink).
constexpr double kInverseBandwidth = 1 / 30e9;
constexpr double kInverseBandwidthDeviation = 1.5;

// The law was chosen with knowledge of the published sizes, over sums with a term in √S or S^h
// whose errors are 5.8 and 7.4 % (p4de) and 13.4 and 14.6 % (p5), against its 5.9 and 10.9 %. One
// deviation reaches a half, the perfect pipeline, and one, no pipeline; the mean is between.
constexpr double kBlend = 0.7071;
constexpr double kBlendDeviation = 0.3466;

// Repeats of a benchmark differ by about this much.
constexpr double kRowDeviation = 0.05;
constexpr double kRowDeviationRows = 5;
constexpr double kRobustBeyond = 2;  // Deviations.

// Protocols leave up to half the bandwidth unused, so that between measured sizes the error of time
// is up to ±½ ln 2, with the deviation ln 2/√12. Within a few doublings of a measured size the same
// protocol is in use. This, too, was set with knowledge of the published residuals, of up to 0.2.
constexpr double kProtocolDeviation = 0.2;
constexpr double kProtocolDoublings = 3;

// Spread of clusters: a factor of 1.35 between sizes of one type, 2.2 between types, and 4.5
// between networks and links inside a VM.
constexpr double kOtherSizeDeviation = 0.3;
constexpr double kOtherTypeDeviation = 0.8;
constexpr double kOtherKindDeviation = 1.5;

CollectiveConstants constants_of(std::span<const double> x) {
  return {.link = {.inverse_bandwidth = std::exp(x[1]) * kSecond / kByte,
                   .latency = std::exp(x[0]) * kSecond},
          .blend = std::exp(x[2])};
}

double log_time(std::span<const double> x, Bytes payload, int workers) {
  return std::log(collective_time(payload, workers, constants_of(x)).in(kSecond));
}

bool same_cluster(const CollectiveRow& a, const CollectiveRow& b) {
  return a.cluster == b.cluster && a.vms == b.vms && a.workers == b.workers;
}

bool counts(const CollectiveRow& row) { return row.time && is_modelled(row); }

std::vector<CollectiveRow> rows_of(std::span<const CollectiveRow> rows,
                                   const CollectiveRow& cluster) {
  std::vector<CollectiveRow> its;
  for (const CollectiveRow& row : rows) {
    if (counts(row) && same_cluster(row, cluster)) its.push_back(row);
  }
  return its;
}

/// Deviation of sizes far from all measured ones.
double protocol_deviation(Bytes payload, const std::vector<Bytes>& sizes) {
  double nearest = kProtocolDoublings;
  for (const Bytes size : sizes) {
    nearest = std::min(nearest, std::abs(std::log2(payload / size)));
  }
  return kProtocolDeviation * nearest / kProtocolDoublings;
}

CollectiveEstimate around(double logarithm, double deviation) {
  const double reach = kEightInTen * deviation;
  return {.mean = std::exp(logarithm) * kSecond,
          .p10 = std::exp(logarithm - reach) * kSecond,
          .p90 = std::exp(logarithm + reach) * kSecond};
}

}  // namespace

bool is_modelled(const CollectiveRow& row) {
  return row.collective == "all_reduce" && row.workers >= 2;
}

Seconds collective_time(Bytes payload, int workers, const CollectiveConstants& constants) {
  CHECK(workers >= 2);
  const Seconds latency = ring_allreduce_time(Bytes{}, workers, constants.link);
  const Seconds moving = ring_allreduce_time(payload, workers, constants.link) - latency;
  const double p = constants.blend;
  return std::pow(std::pow(latency.in(kSecond), p) + std::pow(moving.in(kSecond), p), 1 / p) *
         kSecond;
}

Result<CollectiveModel::Cluster> CollectiveModel::fit_cluster(
    const std::vector<CollectiveRow>& rows) {
  const auto unknown = [](double mean, double deviation) {
    const double logarithm = std::log(mean);
    return Unknown{.prior_mean = logarithm, .prior_deviation = deviation, .start = logarithm};
  };
  const LeastSquares problem{
      .unknowns = {unknown(kLatency, kLatencyDeviation),
                   unknown(kInverseBandwidth, kInverseBandwidthDeviation),
                   unknown(kBlend, kBlendDeviation)},
      .rows = rows.size(),
      .residuals =
          [&](std::span<const double> x, std::span<double> residuals) {
            for (std::size_t i = 0; i < rows.size(); ++i) {
              const double measured = std::log(rows[i].time->in(kSecond));
              residuals[i] =
                  (log_time(x, rows[i].payload, rows[i].workers) - measured) / kRowDeviation;
            }
          },
      .robust_beyond = kRobustBeyond};
  auto fitted = stint::fit(problem);
  if (!fitted.ok()) return fitted.error();
  const CollectiveRow& first = rows.front();
  Cluster cluster{.type = first.cluster,
                  .vms = first.vms,
                  .workers = first.workers,
                  .fitted = std::move(*fitted)};
  std::vector<double> residuals;
  for (const CollectiveRow& row : rows) {
    residuals.push_back(log_time(cluster.fitted.values, row.payload, row.workers) -
                        std::log(row.time->in(kSecond)));
    cluster.sizes.push_back(row.payload);
  }
  cluster.row_deviation = row_deviation(residuals, kRowDeviation, kRowDeviationRows);
  return cluster;
}

Result<CollectiveModel> CollectiveModel::fit(std::span<const CollectiveRow> rows) {
  CollectiveModel model;
  for (const CollectiveRow& row : rows) {
    const bool known =
        std::any_of(model.clusters_.begin(), model.clusters_.end(), [&](const Cluster& cluster) {
          return cluster.type == row.cluster && cluster.vms == row.vms &&
                 cluster.workers == row.workers;
        });
    if (known || !counts(row)) continue;
    auto cluster = fit_cluster(rows_of(rows, row));
    if (!cluster.ok()) return cluster.error();
    model.clusters_.push_back(std::move(*cluster));
  }
  if (model.clusters_.empty()) {
    return bad_input(
        "no row to learn from: there is no all_reduce over two ranks or more with a time");
  }
  return model;
}

CollectiveEstimate CollectiveModel::estimate(const CollectiveRow& row) const {
  CHECK(is_modelled(row));
  const auto inside = [](int vms) { return vms == 1; };
  struct Match {
    int rank;
    double deviation;
  };
  const auto match = [&](const Cluster& it) -> Match {
    if (inside(it.vms) != inside(row.vms)) return {3, kOtherKindDeviation};
    if (it.type != row.cluster) return {2, kOtherTypeDeviation};
    if (it.vms != row.vms || it.workers != row.workers) return {1, kOtherSizeDeviation};
    return {0, 0};
  };
  int best = 3;
  for (const Cluster& cluster : clusters_) best = std::min(best, match(cluster).rank);
  double sum = 0;
  double variance = 0;
  int n = 0;
  for (const Cluster& cluster : clusters_) {
    const Match it = match(cluster);
    if (it.rank != best) continue;
    const auto value = [&](std::span<const double> x) {
      return log_time(x, row.payload, row.workers);
    };
    const double deviation =
        std::hypot(posterior_deviation(cluster.fitted, value), cluster.row_deviation,
                   protocol_deviation(row.payload, cluster.sizes));
    sum += value(cluster.fitted.values);
    variance += deviation * deviation + it.deviation * it.deviation;
    ++n;
  }
  return around(sum / n, std::sqrt(variance / n));
}

std::optional<Seconds> alpha_beta_time(std::span<const CollectiveRow> train,
                                       const CollectiveRow& row) {
  // Minimises Σ ((a + b S)/T − 1)²: normal equations with weights 1/T², sizes relative to the row's
  // so that the numbers stay near one.
  double w = 0;
  double ws = 0;
  double wss = 0;
  Seconds wt;
  Seconds wst;
  for (const CollectiveRow& it : rows_of(train, row)) {
    const double size = it.payload / row.payload;
    const double weight = 1 / (it.time->in(kSecond)*it.time->in(kSecond));
    w += weight;
    ws += weight * size;
    wss += weight * size * size;
    wt += weight * *it.time;
    wst += weight * size * *it.time;
  }
  const double determinant = w * wss - ws * ws;
  // Rounding leaves this much of a determinant that is zero.
  constexpr double kSingular = 1e-12;
  if (determinant <= kSingular * w * wss) return std::nullopt;
  return (wss * wt - ws * wst + w * wst - ws * wt) / determinant;
}

std::optional<Seconds> perfect_bandwidth_time(std::span<const CollectiveRow> train,
                                              const CollectiveRow& row) {
  const std::vector<CollectiveRow> rows = rows_of(train, row);
  if (rows.empty()) return std::nullopt;
  const auto largest = std::max_element(
      rows.begin(), rows.end(),
      [](const CollectiveRow& a, const CollectiveRow& b) { return a.payload < b.payload; });
  return row.payload / largest->payload * *largest->time;
}

}  // namespace stint
