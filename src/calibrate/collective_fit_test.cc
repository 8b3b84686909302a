#include "calibrate/collective_fit.h"

#include <cmath>
#include <gtest/gtest.h>

namespace stint {
namespace {

constexpr Link kLink{.inverse_bandwidth = 1 / (10 * kGB / kSecond), .latency = 2 * kMicrosecond};

CollectiveRow row(const char* cluster, int vms, int workers, Bytes payload,
                  std::optional<Seconds> time = std::nullopt) {
  return {.cluster = cluster,
          .vms = vms,
          .workers = workers,
          .collective = "all_reduce",
          .payload = payload,
          .time = time};
}

/// Sizes 8 B to 1 GiB, each four times the last, by the law.
std::vector<CollectiveRow> law_rows(const char* cluster, int vms, int workers,
                                    const CollectiveConstants& constants) {
  std::vector<CollectiveRow> rows;
  for (Bytes size = 8 * kByte; size <= 1 * kGiB; size = 4 * size) {
    rows.push_back(row(cluster, vms, workers, size, collective_time(size, workers, constants)));
  }
  return rows;
}

// Five workers: L = 8 · 2 µs = 16 µs; 1 MB through 10 GB/s is B = 2 · 4/5 · 100 µs = 160 µs.
// p = 1 adds: 176 µs. p = 1/2: (4 + √160)² = 16 + 160 + 2 · 4 · 12.6491 = 277.19 µs.
TEST(CollectiveTime, MatchesHandComputedCases) {
  EXPECT_NEAR(collective_time(1 * kMB, 5, {kLink, 1}).in(kMicrosecond), 176, 1e-6);
  EXPECT_NEAR(collective_time(1 * kMB, 5, {kLink, 0.5}).in(kMicrosecond), 277.193, 1e-3);
}

TEST(CollectiveTime, WithoutBendIsTheRing) {
  for (const int workers : {2, 7, 64}) {
    EXPECT_NEAR(collective_time(3 * kMB, workers, {kLink, 1}).in(kMicrosecond),
                ring_allreduce_time(3 * kMB, workers, kLink).in(kMicrosecond), 1e-6);
  }
}

TEST(CollectiveModel, FindsTheLawBehindItsRows) {
  const CollectiveConstants law{kLink, 0.6};
  const auto model = CollectiveModel::fit(law_rows("a", 2, 16, law));
  ASSERT_TRUE(model.ok()) << model.error().message;
  for (const Bytes size : {100 * kByte, 300 * kKB, 20 * kMB, 4 * kGB}) {
    const CollectiveEstimate it = model->estimate(row("a", 2, 16, size));
    const Seconds truth = collective_time(size, 16, law);
    EXPECT_NEAR(it.mean / truth, 1, 0.01);
    EXPECT_LT(it.p10, truth);
    EXPECT_GT(it.p90, truth);
  }
}

TEST(CollectiveModel, OneOutlierHardlyMatters) {
  const CollectiveConstants law{kLink, 0.6};
  auto rows = law_rows("a", 2, 16, law);
  rows[3].time = 5 * *rows[3].time;
  const auto model = CollectiveModel::fit(rows);
  ASSERT_TRUE(model.ok());
  EXPECT_NEAR(model->estimate(row("a", 2, 16, 30 * kMB)).mean / collective_time(30 * kMB, 16, law),
              1, 0.03);
}

TEST(CollectiveModel, IsLessSureOfClustersItHasNotSeen) {
  auto rows = law_rows("a", 2, 16, {kLink, 0.6});
  for (const auto& it : law_rows("b", 1, 8, {kLink, 0.7})) rows.push_back(it);
  const auto model = CollectiveModel::fit(rows);
  ASSERT_TRUE(model.ok());
  const auto width = [&](const CollectiveRow& it) {
    const CollectiveEstimate estimate = model->estimate(it);
    return std::log(estimate.p90 / estimate.p10);
  };
  const double known = width(row("a", 2, 16, 2 * kMB));
  const double other_size = width(row("a", 4, 32, 2 * kMB));
  const double other_type = width(row("c", 4, 32, 2 * kMB));
  EXPECT_LT(known, other_size);
  EXPECT_LT(other_size, other_type);
  // 2 · 1.2816 · 0.8 is what types differ by alone.
  EXPECT_GT(other_type, 2.05);
}

TEST(CollectiveModel, IsLessSureBetweenSizesFarApart) {
  std::vector<CollectiveRow> rows;
  for (const CollectiveRow& it : law_rows("a", 2, 16, {kLink, 0.6})) {
    if (it.payload < 1 * kMiB || it.payload >= 64 * kMiB) rows.push_back(it);
  }
  const auto model = CollectiveModel::fit(rows);
  ASSERT_TRUE(model.ok());
  const auto between = model->estimate(row("a", 2, 16, 8 * kMiB));
  const auto measured = model->estimate(row("a", 2, 16, 128 * kMiB));
  EXPECT_GT(between.p90 / between.p10, 1.3 * (measured.p90 / measured.p10));
}

TEST(CollectiveModel, NeedsARowToLearnFrom) {
  const std::vector<CollectiveRow> rows{row("a", 1, 1, 1 * kMB, 1 * kSecond),
                                        row("a", 1, 8, 1 * kMB)};
  const auto model = CollectiveModel::fit(rows);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().kind, ErrorKind::kBadInput);
}

// 10 µs at 0 MB… 1 MB takes 30 µs and 2 MB 50 µs: 10 + 20 · S, so 4 MB take 90 µs.
TEST(CollectiveBaselines, AlphaBetaIsALine) {
  const std::vector<CollectiveRow> train{row("a", 1, 8, 1 * kMB, 30 * kMicrosecond),
                                         row("a", 1, 8, 2 * kMB, 50 * kMicrosecond),
                                         row("b", 1, 8, 1 * kMB, 99 * kMicrosecond)};
  const auto time = alpha_beta_time(train, row("a", 1, 8, 4 * kMB));
  ASSERT_TRUE(time.has_value());
  EXPECT_NEAR(time->in(kMicrosecond), 90, 1e-6);
  EXPECT_FALSE(alpha_beta_time(train, row("b", 1, 8, 4 * kMB)).has_value());
  EXPECT_FALSE(alpha_beta_time(train, row("c", 1, 8, 4 * kMB)).has_value());
}

// The largest, 2 MB in 50 µs, is 40 GB/s: 1 MB takes 25 µs.
TEST(CollectiveBaselines, PerfectBandwidthIsThatOfTheLargest) {
  const std::vector<CollectiveRow> train{row("a", 1, 8, 2 * kMB, 50 * kMicrosecond),
                                         row("a", 1, 8, 1 * kMB, 30 * kMicrosecond)};
  const auto time = perfect_bandwidth_time(train, row("a", 1, 8, 1 * kMB));
  ASSERT_TRUE(time.has_value());
  EXPECT_NEAR(time->in(kMicrosecond), 25, 1e-9);
  EXPECT_FALSE(perfect_bandwidth_time(train, row("b", 1, 8, 1 * kMB)).has_value());
}

}  // namespace
}  // namespace stint
