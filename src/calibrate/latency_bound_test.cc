// A job that waits for messages rather than for bytes, on a cluster played by hand. Only jobs with
// large gradients have been seen there, and the job itself on one worker.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "calibrate/forecast.h"
#include "calibrate/law_fit.h"
#include "calibrate/one_worker.h"
#include "calibrate/priors_fixture.h"

namespace stint {
namespace {

constexpr double kNoise = 0.03;
constexpr Seconds kMessage = 0.5 * kMillisecond;  // Per bucket and doubling; also the prior.
constexpr SecondsPerByte kNetwork = 0.3e-9 * kSecond / kByte;
constexpr SecondsPerByte kInside = 0.2e-9 * kSecond / kByte;

struct Job {
  std::string name;
  Bytes gradients;
  int buckets = 1;
  Seconds floor;  // Time of a step alone, and the time of each sample.
  Seconds per_sample;
};

// At a batch of 16 a step takes 7 ms; over 16 VMs its bytes take 3.4 ms and its messages 4 ms, of
// which backward hides 5 ms.
const Job kLatencyBound{"latency bound", 6 * kMB, 2, 3 * kMillisecond, 0.25 * kMillisecond};
const Job kMiddle{"middle", 100 * kMB, 5, 20 * kMillisecond, 3 * kMillisecond};
const Job kLarge{"large", 400 * kMB, 17, 50 * kMillisecond, 8 * kMillisecond};

struct Place {
  int vms = 1;
  int per_vm = 1;
  double batch = 1;  // Batch of a worker.
};

/// A third of compute hides nothing; the all-reduce runs beside the rest of it.
Seconds played_time(const Job& job, const Place& place, Seconds message) {
  const auto& [vms, per_vm, batch] = place;
  const Seconds alone = job.floor + batch * job.per_sample;
  const int workers = vms * per_vm;
  if (workers == 1) return alone;
  const double doublings = std::log2(workers);
  const Seconds compute = (1 + 0.02 * doublings) * alone;
  const double hops = vms > 1 ? vms : per_vm;
  const Seconds bytes = 2 * (hops - 1) / hops * job.gradients * (vms > 1 ? kNetwork : kInside);
  const Seconds messages = vms > 1 ? doublings * job.buckets * message : Seconds{};
  return compute / 3 + std::max(compute * 2 / 3, bytes + messages);
}

struct Rows {
  std::vector<StepRow> one_worker;
  std::vector<StepRow> several;
};

Rows play(const Job& job, Seconds message, Random& random) {
  Rows rows;
  for (const int vms : {1, 2, 3, 4, 8, 16}) {
    for (const int per_vm : {1, 4}) {
      for (const double batch : {16.0, 32.0}) {
        const Seconds time = played_time(job, {vms, per_vm, batch}, message);
        StepRow row{.job = job.name,
                    .workers_by_vm = std::vector<int>(static_cast<std::size_t>(vms), per_vm),
                    .batch_per_worker = batch,
                    .time = std::exp(kNoise * random.normal()) * time,
                    .gradient_bytes = job.gradients};
        (vms * per_vm == 1 ? rows.one_worker : rows.several).push_back(row);
      }
    }
  }
  return rows;
}

/// The three jobs as the law sees them.
struct Cluster {
  std::vector<LawRow> seen;    // Rows of the jobs with large gradients.
  std::vector<LawRow> unseen;  // Rows of the latency-bound job, on several workers.
};

Cluster played_cluster(std::uint64_t seed, Seconds message) {
  Random random(seed);
  const Rows middle = play(kMiddle, message, random);
  const Rows large = play(kLarge, message, random);
  const Rows bound = play(kLatencyBound, message, random);
  std::vector<StepRow> one_worker;
  for (const Rows* rows : {&middle, &large, &bound}) {
    one_worker.insert(one_worker.end(), rows->one_worker.begin(), rows->one_worker.end());
  }
  const OneWorkerTimes alone(one_worker);
  Cluster cluster;
  for (const Rows* rows : {&middle, &large}) {
    for (const StepRow& row : rows->several) cluster.seen.push_back(*law_row(row, alone, {}));
  }
  for (const StepRow& row : bound.several) cluster.unseen.push_back(*law_row(row, alone, {}));
  return cluster;
}

FittedLaw fitted(std::span<const LawRow> rows) {
  auto law = fit_law(rows, bundled_priors());
  CHECK(law.ok());
  CHECK(measure_dispersion(*law, rows).ok());
  return *law;
}

struct Score {
  double error = 0;     // Mean of |predicted/measured − 1|.
  double coverage = 0;  // Share of rows within their 80 % interval.
};

Score score(const FittedLaw& law, std::span<const LawRow> rows) {
  Score sum;
  for (const LawRow& row : rows) {
    const LawEstimate estimate = law.predict(row.job, true, row.input);
    sum.error += std::abs(estimate.time / row.time - 1);
    sum.coverage += estimate.p10() <= row.time && row.time <= estimate.p90() ? 1 : 0;
  }
  const auto count = static_cast<double>(rows.size());
  return {.error = sum.error / count, .coverage = sum.coverage / count};
}

/// Every sixth row of the job, from the fourth on: four rows, on 2, 3, 8 and 16 VMs.
bool is_moved(std::size_t row) { return row % 6 == 3; }

struct TrainAndTest {
  std::vector<LawRow> train;
  std::vector<LawRow> test;
};

TrainAndTest four_moved(const Cluster& cluster) {
  TrainAndTest split{.train = cluster.seen, .test = {}};
  for (std::size_t i = 0; i < cluster.unseen.size(); ++i) {
    (is_moved(i) ? split.train : split.test).push_back(cluster.unseen[i]);
  }
  return split;
}

// Measured over twelve seeds: errors of 3.5 to 8.1 %, and 73 to 100 % of rows covered, 91 % on
// average. Noise alone makes an error of 3 % · √(2/π) = 2.4 %, and the noise of the two rows on one
// worker is shared by all rows of a batch, so coverage comes in lumps.
TEST(LatencyBound, IsPredictedFromLargeGradientsAndOneWorker) {
  const auto seeds = {101U, 103U, 104U};
  double coverage = 0;
  for (const std::uint64_t seed : seeds) {
    SCOPED_TRACE(seed);
    const Cluster cluster = played_cluster(seed, kMessage);
    const Score unseen = score(fitted(cluster.seen), cluster.unseen);
    EXPECT_LT(unseen.error, 0.10);
    coverage += unseen.coverage / static_cast<double>(seeds.size());
  }
  EXPECT_GE(coverage, 0.8);
}

// The errors of the rows that stay behind fell from 3.7–8.0 % to 2.5–4.3 % over twelve seeds.
TEST(LatencyBound, IsPredictedBetterWithFourOfItsRows) {
  constexpr std::uint64_t kSeed = 107;
  SCOPED_TRACE(kSeed);
  const Cluster cluster = played_cluster(kSeed, kMessage);
  const TrainAndTest split = four_moved(cluster);
  ASSERT_EQ(split.train.size(), cluster.seen.size() + 4);
  const Score before = score(fitted(cluster.seen), split.test);
  const Score after = score(fitted(split.train), split.test);
  EXPECT_LT(after.error, before.error);
  EXPECT_LT(after.error, 0.05);
  EXPECT_GE(after.coverage, 0.7);
}

// Jobs with large gradients say next to nothing of messages. Where these take twice as long as
// believed, which is 1.4 deviations of the prior, times err by 15 to 17 % and hardly four in ten
// lie in their interval; four rows bring that to 2.5 to 5.1 %.
TEST(LatencyBound, LearnsFromFourRowsThatMessagesAreSlow) {
  constexpr std::uint64_t kSeed = 103;
  SCOPED_TRACE(kSeed);
  const Cluster cluster = played_cluster(kSeed, 2 * kMessage);
  const TrainAndTest split = four_moved(cluster);
  const Score before = score(fitted(cluster.seen), split.test);
  const Score after = score(fitted(split.train), split.test);
  EXPECT_LT(before.error, 0.20);
  EXPECT_LT(after.error, 0.06);
  EXPECT_GE(after.coverage, 0.7);
}

TEST(LatencyBound, IsPredictedWithoutALookAtWhatWasMeasured) {
  constexpr std::uint64_t kSeed = 105;
  SCOPED_TRACE(kSeed);
  const Cluster cluster = played_cluster(kSeed, kMessage);
  auto law = fit_law(cluster.seen, bundled_priors());
  ASSERT_TRUE(law.ok());
  Random random(kSeed);
  const Rows rows = play(kLatencyBound, kMessage, random);
  const OneWorkerTimes alone(rows.one_worker);
  for (StepRow row : rows.several) {
    const auto whole = law_row(row, alone, {});
    row.time.reset();
    row.synchronisation = 1 * kHour;
    row.repeat = 1 * kHour;
    const auto blank = law_row(row, alone, {});
    const LawEstimate one = law->predict(whole->job, true, whole->input);
    const LawEstimate other = law->predict(blank->job, true, blank->input);
    EXPECT_EQ(one.time, other.time);
    EXPECT_EQ(one.spread.above, other.spread.above);
  }
}

}  // namespace
}  // namespace stint
