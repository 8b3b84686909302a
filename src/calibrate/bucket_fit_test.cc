#include "calibrate/bucket_fit.h"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.h"
#include "predict/predictor_fixture.h"

namespace stint {
namespace {

Seconds at(double log) { return std::exp(log) * kSecond; }

// Two rounds of ±0.01 around 0: each has a variance of 2 · 0.01² over one degree of freedom, so the
// deviation is 0.01 √2. The means of the rounds agree, so nothing is left for time.
TEST(ReductionSpread, RepeatsAreWhatVariesInsideARound) {
  const ReductionSpread spread = spread_of(
      {{.rounds = {{at(0.01), at(-0.01)}, {at(-0.01), at(0.01)}}, .expected = 1 * kSecond}});
  EXPECT_NEAR(*spread.repeats, 0.01 * std::sqrt(2), 1e-12);
  EXPECT_NEAR(*spread.time, 0, 1e-12);
  EXPECT_FALSE(spread.pairs.has_value());
}

// Round means of 0.02 and −0.02 and nothing inside: a deviation of 0.02 √2.
TEST(ReductionSpread, TimeIsWhatVariesFromRoundToRound) {
  const ReductionSpread spread = spread_of(
      {{.rounds = {{at(0.02), at(0.02)}, {at(-0.02), at(-0.02)}}, .expected = 1 * kSecond}});
  EXPECT_NEAR(*spread.repeats, 0, 1e-9);
  EXPECT_NEAR(*spread.time, 0.02 * std::sqrt(2), 1e-9);
}

// A pair with a slower NIC is expected to be slower: compared with that, the pairs differ by 0.1.
TEST(ReductionSpread, PairsAreComparedWithWhatTheyShouldTake) {
  const ReductionSpread spread =
      spread_of({{.rounds = {{at(0)}}, .expected = 1 * kSecond, .pair = true},
                 {.rounds = {{2 * at(0.1)}}, .expected = 2 * kSecond, .pair = true},
                 {.rounds = {{at(5)}}, .expected = 1 * kSecond}});
  EXPECT_FALSE(spread.repeats.has_value());
  EXPECT_FALSE(spread.time.has_value());
  EXPECT_NEAR(*spread.pairs, 0.05 * std::sqrt(2), 1e-9);
}

// Drawn with 1 % from repeat to repeat, 3 % from round to round and 5 % from pair to pair.
TEST(ReductionSpread, FindsTheDeviationsThatMadeTheTimes) {
  Random random(7);
  std::vector<ReductionTimes> sums;
  for (int pair = 0; pair < 300; ++pair) {
    ReductionTimes& sum = sums.emplace_back();
    sum.expected = 1 * kSecond;
    sum.pair = true;
    const double of_pair = 0.05 * random.normal();
    for (int round = 0; round < 4; ++round) {
      const double of_round = of_pair + 0.03 * random.normal();
      auto& times = sum.rounds.emplace_back();
      for (int i = 0; i < 3; ++i) times.push_back(at(of_round + 0.01 * random.normal()));
    }
  }
  const ReductionSpread spread = spread_of(sums);
  EXPECT_NEAR(*spread.repeats, 0.01, 0.001);
  EXPECT_NEAR(*spread.time, 0.03, 0.003);
  EXPECT_NEAR(*spread.pairs, 0.05, 0.006);
}

TEST(ReductionSpread, OfNothingNothingIsKnown) { EXPECT_FALSE(spread_of({}).repeats.has_value()); }

/// The prior: a payload of 0.95, hardly any other cost.
Calibration priors() {
  Calibration calibration{.name = "priors"};
  const BucketLaw law{.payload = std::log(0.95),
                      .vm_cost = -4,
                      .latency = -7,
                      .latency_growth = 1.5,
                      .overhead = -7,
                      .jitter = -6};
  for (const auto& [name, field] : law_names(law)) {
    calibration.constants.push_back({.name = name,
                                     .scope = "buckets",
                                     .value = law.*field,
                                     .unit = "1",
                                     .prior_mean = law.*field,
                                     .prior_deviation = name == std::string("payload") ? 0.1 : 1,
                                     .identified = false});
  }
  for (const char* name : {"noise_floor", "noise_exposed"}) {
    calibration.constants.push_back(
        {.name = name, .scope = "noise", .value = 0.003, .unit = "1", .identified = false});
  }
  return calibration;
}

/// Rows of clusters of several sizes whose times are those of `truth`, times `factor`.
std::vector<BucketRow> rows_of(const PredictFixture& fixture, const BucketLaw& truth,
                               const std::vector<std::string>& clusters, double factor = 1) {
  std::vector<BucketRow> rows;
  for (const std::string& cluster : clusters) {
    auto resolved = fixture.resolved(cluster, {.batch_per_worker = 16});
    EXPECT_TRUE(resolved.ok());
    BucketRow row{.job = &fixture.job, .resolved = std::move(*resolved)};
    row.time = factor * bucket_time(row, truth);
    rows.push_back(std::move(row));
  }
  return rows;
}

const std::vector<std::string> kClusters = {
    "2x slow.1", "3x slow.1", "4x slow.1", "2x slow.1 + 2x fast.1", "6x slow.1", "8x slow.1"};

PredictFixture slow_network() {
  PredictFixture fixture;
  fixture.law = *calibrated_law(priors());
  for (VmType& type : fixture.catalog.types) {
    if (type.network) type.network->baseline = 1 * kGbit / kSecond;
  }
  return fixture;
}

TEST(BucketFit, FindsTheLawThatMadeTheRows) {
  const PredictFixture fixture = slow_network();
  const BucketLaw truth{.payload = std::log(0.9),
                        .vm_cost = -4,
                        .latency = -6,
                        .latency_growth = 1.5,
                        .overhead = -7,
                        .jitter = -6};
  const auto rows = rows_of(fixture, truth, kClusters);
  const auto fit = fit_buckets({.runs = rows}, priors());
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  EXPECT_TRUE(fit->solution.identified[0]);
  for (const BucketRow& row : rows) {
    EXPECT_NEAR(bucket_time(row, fit->law) / row.time, 1, 0.003);
  }
  EXPECT_EQ(fit->errors.size(), rows.size());
  EXPECT_LT(fit->noise_exposed, 0.01);
}

// Every second row is a tenth slower than the law can express.
TEST(BucketFit, NoiseIsWhatSizesLeftOutAreOff) {
  const PredictFixture fixture = slow_network();
  const BucketLaw truth = (*calibrated_buckets(priors()))->law;
  auto rows = rows_of(fixture, truth, kClusters);
  for (std::size_t i = 0; i < rows.size(); i += 2) rows[i].time = 1.1 * rows[i].time;
  const auto fit = fit_buckets({.runs = rows}, priors());
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  EXPECT_GT(fit->noise_exposed, 0.03);
  EXPECT_LT(fit->noise_exposed, 0.2);
}

TEST(BucketFit, GoesThroughADocumentUnchanged) {
  const PredictFixture fixture = slow_network();
  const auto rows = rows_of(fixture, (*calibrated_buckets(priors()))->law, kClusters, 1.02);
  const auto fit = fit_buckets({.runs = rows}, priors());
  ASSERT_TRUE(fit.ok());
  Calibration calibration = to_calibration(*fit, priors());
  calibration.name = "lab";
  calibration.date = {.year = 2026, .month = 1, .day = 1};
  ASSERT_TRUE(validate(calibration).ok()) << validate(calibration).error().message;
  const auto again = calibrated_buckets(calibration);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->law.payload, fit->law.payload);
  EXPECT_EQ((*again)->noise_exposed, fit->noise_exposed);
  EXPECT_DOUBLE_EQ((*again)->covariance[0][0], fit->solution.covariance[0][0]);
}

/// Sums over two, four and eight VMs with NICs of 1 Gbit/s under a law.
std::vector<ReductionRow> probe_of(const BucketLaw& truth) {
  std::vector<ReductionRow> rows;
  for (const int vms : {2, 4, 8}) {
    for (const double megabytes : {1.0, 5.0, 25.0}) {
      ReductionRow row{.vms = vms,
                       .slowest = 1 * kGbit / kSecond,
                       .total = vms * kGbit / kSecond,
                       .bytes = megabytes * kMB};
      row.time = reduction_time(row, truth);
      rows.push_back(row);
    }
  }
  return rows;
}

TEST(BucketFit, AProbeTellsWhatTheNetworkCosts) {
  BucketLaw truth = (*calibrated_buckets(priors()))->law;
  truth.payload = std::log(0.8);
  truth.latency = -5;
  const auto fit = fit_buckets({.reductions = probe_of(truth)}, priors());
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  EXPECT_NEAR(fit->law.payload, truth.payload, 0.02);
  EXPECT_NEAR(fit->law.latency, truth.latency, 0.1);
  // The data do not determine the other costs of an iteration.
  EXPECT_FALSE(fit->solution.identified[4]);
  EXPECT_EQ(fit->errors.size(), 9U);
  EXPECT_DOUBLE_EQ(fit->total_rate.in(kGbit / kSecond), 8);
}

// The same rows in two steps: the second starts from what the first left, so both agree as far as
// the law is straight near the answer.
TEST(BucketFit, FoldingInLaterIsLikeFittingAllAtOnce) {
  BucketLaw truth = (*calibrated_buckets(priors()))->law;
  truth.payload = std::log(0.9);
  truth.latency = -6.5;
  const auto rows = probe_of(truth);
  const auto half = static_cast<std::ptrdiff_t>(rows.size() / 2);
  const std::vector<ReductionRow> first(rows.begin(), rows.begin() + half);
  const std::vector<ReductionRow> second(rows.begin() + half, rows.end());
  const auto together = fit_buckets({.reductions = rows}, priors());
  const auto begun = fit_buckets({.reductions = first}, priors());
  ASSERT_TRUE(together.ok() && begun.ok());
  Calibration kept = to_calibration(*begun, priors());
  kept.data.push_back({.name = "first", .rows = static_cast<int>(first.size())});
  const auto folded = fit_buckets({.reductions = second}, kept);
  ASSERT_TRUE(folded.ok()) << folded.error().message;
  for (const ReductionRow& row : rows) {
    EXPECT_NEAR(reduction_time(row, folded->law) / reduction_time(row, together->law), 1, 0.01);
  }
  const double once = std::sqrt(together->solution.covariance[0][0]);
  EXPECT_NEAR(std::sqrt(folded->solution.covariance[0][0]) / once, 1, 0.3);
}

// A network that has become a fifth slower: as many new rows as old ones pull the law over, but
// what was known holds on.
TEST(BucketFit, ANetworkThatChangedIsFollowed) {
  BucketLaw truth = (*calibrated_buckets(priors()))->law;
  const auto before = fit_buckets({.reductions = probe_of(truth)}, priors());
  ASSERT_TRUE(before.ok());
  Calibration kept = to_calibration(*before, priors());
  kept.data.push_back({.name = "before", .rows = 9});
  truth.payload += std::log(0.8);
  const auto rows = probe_of(truth);
  const auto after = fit_buckets({.reductions = rows}, kept);
  ASSERT_TRUE(after.ok());
  for (const ReductionRow& row : rows) {
    const double was = std::abs(reduction_time(row, before->law) / row.time - 1);
    const double is = std::abs(reduction_time(row, after->law) / row.time - 1);
    EXPECT_LT(is, 0.8 * was);
  }
}

TEST(BucketFit, NeedsRowsAndPriors) {
  EXPECT_FALSE(fit_buckets({}, priors()).ok());
  const PredictFixture fixture = slow_network();
  const auto rows = rows_of(fixture, ring_formula(), {"2x slow.1"});
  EXPECT_FALSE(fit_buckets({.runs = rows}, round_calibration()).ok());
}

}  // namespace

}  // namespace stint
