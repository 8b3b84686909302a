#include "calibrate/space_sharing.h"

#include <cmath>
#include <gtest/gtest.h>
#include <tuple>
#include <vector>

namespace stint {
namespace {

PackedSide job(const std::string& name, int batch, double alone, double packed) {
  return {.job = {name, batch}, .alone = alone / kSecond, .packed = packed / kSecond};
}

PackedPair pair_of(PackedSide first, PackedSide second, const std::string& device = "K80") {
  return {.first = std::move(first), .second = std::move(second), .device = device, .fits = true};
}

/// A job of the world below.
struct Sized {
  std::string name;
  int batch = 1;
  double step = 1;  // Seconds alone.
};

/// Both of a pair, where log r = log ½ + 0.1 (x_a − x_b).
PackedPair by_steps(const Sized& a, const Sized& b, const std::string& device = "K80") {
  const double first = 0.5 * std::pow(a.step / b.step, 0.1);
  const double second = 0.5 * std::pow(b.step / a.step, 0.1);
  return pair_of(job(a.name, a.batch, 1 / a.step, first / a.step),
                 job(b.name, b.batch, 1 / b.step, second / b.step), device);
}

/// All pairs of some families at batches 1, 2 and 4, whose steps grow with the batch.
std::vector<PackedPair> world(const std::vector<std::string>& families) {
  std::vector<Sized> jobs;
  double step = 0.05;
  for (const std::string& name : families) {
    for (const int batch : {1, 2, 4}) jobs.push_back({name, batch, step * batch});
    step *= 1.7;
  }
  std::vector<PackedPair> pairs;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (std::size_t j = i; j < jobs.size(); ++j) pairs.push_back(by_steps(jobs[i], jobs[j]));
  }
  return pairs;
}

SharedRates rates(const std::vector<PackedPair>& train, const PackedPair& pair) {
  const auto model = SpaceSharing::fit(train);
  EXPECT_TRUE(model.ok());
  const auto predicted = model->predict(pair);
  EXPECT_TRUE(predicted.has_value());
  return *predicted;
}

double per_second(PerSecond rate) { return rate.in(1 / kSecond); }

// Everything seen ran at half its speed, so all terms are zero and log r = log ½.
TEST(SpaceSharing, IsHalfSpeedWhereNothingSaysOtherwise) {
  const SharedRates it = rates({pair_of(job("a", 1, 4, 2), job("b", 1, 10, 5))},
                               pair_of(job("new", 1, 3, 0), job("newer", 8, 8, 0)));
  EXPECT_NEAR(per_second(it.first.median), 1.5, 1e-9);
  EXPECT_NEAR(per_second(it.second.median), 4, 1e-9);
  EXPECT_LT(it.first.p10, it.first.median);
  EXPECT_GT(it.first.p90, it.first.median);
}

// Steps of 0.4 s beside 0.1 s: r = ½ · 4^0.1 = 0.574 and ½ · 4^−0.1 = 0.435, worked by hand.
TEST(SpaceSharing, LongStepsWaitLessForJobsNeverSeen) {
  const PackedPair test = by_steps({"x", 1, 0.4}, {"y", 1, 0.1});
  const SharedRates it = rates(world({"a", "b", "c", "d"}), test);
  EXPECT_NEAR(it.first.median / *test.first.alone, 0.574, 0.02);
  EXPECT_NEAR(it.second.median / *test.second.alone, 0.435, 0.02);
}

/// The width of an interval, as the ratio of its ends.
double width(const SharedRate& rate) { return rate.p90 / rate.p10; }

// On both devices all pairs of four equal jobs but the first two were measured. On the K80 all have
// half of their rate; on the V100 pairs differ by e^±0.3, which no job alone explains: each has one
// pair above and one below. The same pairing is far less certain on the V100.
TEST(SpaceSharing, PairsDifferMoreOnSomeDevicesThanOnOthers) {
  const auto pair = [](const char* a, const char* b, double share, const char* device) {
    return pair_of(job(a, 1, 10, 10 * share), job(b, 1, 10, 10 * share), device);
  };
  std::vector<PackedPair> train;
  for (const auto& [a, b, log_share] : {std::tuple("a", "c", 0.3),
                                        {"a", "d", -0.3},
                                        {"b", "c", -0.3},
                                        {"b", "d", 0.3},
                                        {"c", "d", 0.0}}) {
    train.push_back(pair(a, b, 0.5, "K80"));
    train.push_back(pair(a, b, 0.5 * std::exp(log_share), "V100"));
  }
  const double narrow = width(rates(train, pair("a", "b", 0.5, "K80")).first);
  const double wide = width(rates(train, pair("a", "b", 0.5, "V100")).first);
  EXPECT_GT(std::log(wide), 1.5 * std::log(narrow));
}

// A job whose rates cannot be repeated says nothing about how well others are predicted.
TEST(SpaceSharing, UnsteadyPairsDoNotWidenTheIntervalsOfOthers) {
  const auto width_with = [](bool unsteady) {
    auto train = world({"a", "b", "c", "d"});
    for (const double share : {0.05, 0.9}) {
      for (const char* beside : {"a", "b", "c", "d"}) {
        train.push_back(pair_of(job("u", 1, 10, 10 * share), job(beside, 1, 20, 20 * share)));
        train.back().unsteady = unsteady;
      }
    }
    return width(rates(train, by_steps({"x", 1, 0.4}, {"y", 1, 0.1})).first);
  };
  EXPECT_LT(width_with(true), width_with(false));
}

/// The world of three families, where a job that runs e^c as fast in a full server as alone keeps
/// e^0.4c of what it would keep otherwise.
std::vector<PackedPair> world_of_servers() {
  auto pairs = world({"a", "b", "c"});
  for (PackedPair& pair : pairs) {
    for (PackedSide* side : {&pair.first, &pair.second}) {
      const double c = side->job.batch == 2 ? -0.5 : 0.25;
      side->full_server = std::exp(c) * *side->alone;
      side->packed = std::exp(0.4 * c) * *side->packed;
    }
  }
  return pairs;
}

// c of −0.5 instead of 0.25 lowers the share to e^−0.3 = 0.74, worked by hand. Of a job with pairs
// these pairs say it already.
TEST(SpaceSharing, WhatAJobGetsInAFullServerSaysWhatItGetsBesideAnother) {
  const auto train = world_of_servers();
  const auto ratio = [&](const char* name) {
    PackedPair slower = by_steps({name, 1, 0.05}, {"b", 1, 0.085});
    PackedPair faster = slower;
    slower.first.full_server = std::exp(-0.5) * *slower.first.alone;
    faster.first.full_server = std::exp(0.25) * *faster.first.alone;
    return rates(train, slower).first.median / rates(train, faster).first.median;
  };
  EXPECT_NEAR(ratio("x"), 0.74, 0.05);
  EXPECT_EQ(ratio("a"), 1);
}

// On a device without pairs nothing is known of its full servers.
TEST(SpaceSharing, FullServersOfOtherDevicesSayNothing) {
  PackedPair pair = by_steps({"x", 1, 0.05}, {"y", 1, 0.085}, "V100");
  const SharedRates without = rates(world_of_servers(), pair);
  pair.first.full_server = 0.5 * *pair.first.alone;
  EXPECT_EQ(rates(world_of_servers(), pair).first.median, without.first.median);
}

TEST(SpaceSharing, PairsThatWereSeenDecide) {
  auto train = world({"a", "b", "c"});
  // A family that takes what it wants, and leaves others little.
  for (const double beside : {0.1, 0.2, 0.4}) {
    train.push_back(pair_of(job("greedy", 1, 5, 4), job("a", 1, 1 / beside, 0.2 / beside)));
  }
  const auto test = pair_of(job("greedy", 1, 5, 0), job("b", 2, 5, 0));
  const SharedRates it = rates(train, test);
  EXPECT_GT(it.first.median / *test.first.alone, 0.65);
  EXPECT_LT(it.second.median / *test.second.alone, 0.35);
}

TEST(SpaceSharing, IsTheSameWhicheverJobIsFirst) {
  const auto train = world({"a", "b", "c"});
  auto swapped = train;
  for (PackedPair& pair : swapped) std::swap(pair.first, pair.second);
  PackedPair test = by_steps({"a", 2, 0.1}, {"c", 4, 0.5});
  const SharedRates it = rates(train, test);
  std::swap(test.first, test.second);
  const SharedRates other = rates(swapped, test);
  EXPECT_NEAR(it.first.median / other.second.median, 1, 1e-9);
  EXPECT_NEAR(it.second.p90 / other.first.p90, 1, 1e-9);
}

TEST(SpaceSharing, ATableThatCutsOffIsCutOff) {
  std::vector<PackedPair> train;
  for (const char* name : {"a", "b", "c"}) {
    train.push_back(pair_of(job("idle", 1, 4, 4), job(name, 1, 10, 9)));
  }
  const auto test = pair_of(job("idle", 1, 4, 0), job("d", 1, 10, 0));
  const SharedRates it = rates(train, test);
  EXPECT_LE(it.first.p90, *test.first.alone);
  EXPECT_GT(it.first.median, 0.7 * *test.first.alone);
  // One job that gained by company is enough to let others.
  train.push_back(pair_of(job("idle", 1, 4, 6), job("e", 1, 10, 9)));
  EXPECT_GT(rates(train, test).first.p90, *test.first.alone);
}

TEST(SpaceSharing, JobsAndDevicesNeverSeenAreLessCertain) {
  const auto model = SpaceSharing::fit(world({"a", "b", "c", "d"}));
  ASSERT_TRUE(model.ok());
  const auto width = [&](const PackedPair& pair) {
    const SharedRate rate = model->predict(pair)->first;
    return rate.p90 / rate.p10;
  };
  const PackedPair seen = by_steps({"a", 2, 0.1}, {"b", 2, 0.17});
  const PackedPair unseen = by_steps({"x", 2, 0.1}, {"b", 2, 0.17});
  const PackedPair elsewhere = by_steps({"a", 2, 0.1}, {"b", 2, 0.17}, "V100");
  EXPECT_LT(width(seen), width(unseen));
  EXPECT_LT(width(seen), width(elsewhere));
  EXPECT_TRUE(model->knows_device(seen));
  EXPECT_FALSE(model->knows_device(elsewhere));
  // In this world families differ by nothing but their steps, so leaving them out shows less
  // spread than is believed of jobs at first.
  EXPECT_LT(model->unseen_factor(), 1);
}

TEST(SpaceSharing, TheLawOfStrangersIsWhatJobsNeverSeenGet) {
  auto train = world({"a", "b", "c", "d"});
  train.push_back(pair_of(job("a", 1, 20, 18), job("b", 1, 12, 10), "V100"));
  auto images = pair_of(job("a", 1, 500, 250), job("b", 1, 2, 1));
  images.in_steps = false;
  train.push_back(images);
  const auto model = SpaceSharing::fit(train);
  ASSERT_TRUE(model.ok());
  const FreeSharingLaw law = model->law_of_strangers();
  ASSERT_EQ(law.devices.size(), 2U);
  for (const char* device : {"K80", "V100", "Abacus"}) {
    const PackedPair test = by_steps({"x", 1, 0.4}, {"y", 1, 0.1}, device);
    const FreeShares shares = free_shares(law, device, {0.4 * kSecond, 0.1 * kSecond});
    const SharedRates rates = *model->predict(test);
    EXPECT_NEAR(shares.share[0], rates.first.median / *test.first.alone, 1e-9) << device;
    EXPECT_NEAR(shares.share[1], rates.second.median / *test.second.alone, 1e-9) << device;
  }
}

TEST(SpaceSharing, OtherUnitsSayNothingAboutSteps) {
  auto images = pair_of(job("a", 1, 500, 250), job("b", 1, 2, 1));
  images.in_steps = false;
  const auto model = SpaceSharing::fit(std::vector{images});
  ASSERT_TRUE(model.ok());
  EXPECT_TRUE(model->knows_device(images));
  images.in_steps = true;
  EXPECT_FALSE(model->knows_device(images));
}

TEST(SpaceSharing, OtherUnitsDoNotLiftTheCutOffElsewhere) {
  auto train = world({"a", "b", "c"});
  auto images = pair_of(job("a", 1, 500, 700), job("b", 1, 2, 1));
  images.in_steps = false;
  train.push_back(images);
  const PackedPair test = by_steps({"x", 1, 1000}, {"y", 1, 0.001}, "Abacus");
  EXPECT_LE(rates(train, test).first.p90, *test.first.alone);
}

TEST(SpaceSharing, RowsWithoutRatesTeachNothing) {
  PackedPair bare = by_steps({"a", 1, 0.1}, {"b", 1, 0.2});
  bare.first.packed.reset();
  PackedPair full = by_steps({"a", 1, 0.1}, {"b", 1, 0.2});
  full.fits = false;
  PackedPair wide = by_steps({"a", 1, 0.1}, {"b", 1, 0.2});
  wide.gpus_each = 2;
  const auto model = SpaceSharing::fit(std::vector{bare, full, wide});
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().message,
            "no pair to learn from: none has rates of both jobs, alone and together, on one GPU");
  EXPECT_FALSE(SpaceSharing::fit({}).ok());

  const auto good = SpaceSharing::fit(world({"a"}));
  ASSERT_TRUE(good.ok());
  EXPECT_TRUE(good->predict(bare).has_value());
  EXPECT_FALSE(good->predict(wide).has_value());
  bare.second.alone.reset();
  EXPECT_FALSE(good->predict(bare).has_value());
}

PackedPair pair_of(double first, double second, const std::string& device) {
  return {.first = {.job = {"a", 1}, .alone = 10 / kSecond, .packed = first / kSecond},
          .second = {.job = {"b", 1}, .alone = 1 / kSecond, .packed = second / kSecond},
          .device = device,
          .fits = true};
}

TEST(HalfSpeed, IsHalfOfEachRateAlone) {
  PackedPair pair = pair_of(9, 0.9, "K80");
  const auto rates = half_speed(pair);
  ASSERT_TRUE(rates.has_value());
  EXPECT_EQ(rates->first.median, 5 / kSecond);
  EXPECT_EQ(rates->second.median, 0.5 / kSecond);
  pair.second.alone.reset();
  EXPECT_FALSE(half_speed(pair).has_value());
}

// Shares of 0.9 and 0.4 have the geometric mean 0.6, and 0.3 and 0.3 have 0.3; all four
// √(0.6 · 0.3) = 0.424. Worked by hand.
TEST(MeanSlowdown, IsTheGeometricMeanOfTheDevice) {
  const std::vector<PackedPair> pairs{pair_of(9, 0.4, "K80"), pair_of(3, 0.3, "V100")};
  const MeanSlowdown model(pairs);
  const auto first_on = [&](const std::string& device) {
    return model.predict(pair_of(0, 0, device))->first.median.in(1 / kSecond);
  };
  EXPECT_NEAR(first_on("K80"), 6, 1e-9);
  EXPECT_NEAR(first_on("V100"), 3, 1e-9);
  EXPECT_NEAR(first_on("Abacus"), 4.24264, 1e-5);
}

TEST(MeanSlowdown, IsHalfSpeedWithoutPairs) {
  const MeanSlowdown model({});
  EXPECT_EQ(model.predict(pair_of(0, 0, "K80"))->second.median, 0.5 / kSecond);
}

}  // namespace

}  // namespace stint
