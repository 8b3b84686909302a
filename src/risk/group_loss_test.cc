#include "risk/group_loss.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <numeric>

#include "base/file.h"

namespace stint {
namespace {

constexpr GroupLoss kAlone{.shared = 0, .reach = 0.5};
constexpr GroupLoss kShocks{.shared = 0.6, .reach = 0.25};  // b = 3.

// Eight machines: 8 r apart. With b = 3: 0.4·8 + 0.6·4·8/11 = 4.9455 events per loss of one.
TEST(GroupLoss, EventsAreFewerThanLosses) {
  const PerSecond rate = 0.1 / kHour;
  EXPECT_NEAR(events_rate(kAlone, 8, rate).in(1 / kHour), 0.8, 1e-12);
  EXPECT_NEAR(events_rate(kShocks, 8, rate).in(1 / kHour), 0.49454545, 1e-8);
  EXPECT_NEAR(events_rate(kShocks, 1, rate).in(1 / kHour), 0.1, 1e-12);
  EXPECT_EQ(events_rate(kShocks, 0, rate), PerSecond());
  EXPECT_NEAR(all_survive(kShocks, 8, 0.1), std::exp(-0.49454545), 1e-8);
  EXPECT_NEAR(all_survive(kAlone, 8, 0.1), std::exp(-0.8), 1e-12);
}

// Without sharing the machines left are binomial: P(2 of 3) = 3 s² (1 − s), s = e^−0.5.
TEST(GroupLoss, IndependenceIsTheBinomial) {
  const auto left = left_distribution(kAlone, 3, 0.5);
  const double s = std::exp(-0.5);
  EXPECT_NEAR(left[3], s * s * s, 1e-12);
  EXPECT_NEAR(left[2], 3 * s * s * (1 - s), 1e-12);
  EXPECT_NEAR(left[0], std::pow(1 - s, 3), 1e-12);
}

TEST(GroupLoss, SharingKeepsTheMeanAndWidensTheRest) {
  for (const int machines : {1, 2, 8, 40}) {
    for (const double amount : {0.0, 0.01, 0.5, 3.0}) {
      const auto left = left_distribution(kShocks, machines, amount);
      EXPECT_NEAR(std::accumulate(left.begin(), left.end(), 0.0), 1, 1e-9);
      EXPECT_NEAR(left.back(), all_survive(kShocks, machines, amount), 1e-9);
      EXPECT_NEAR(summary_of(left).mean, machines * std::exp(-amount), 1e-7 * machines);
    }
  }
  const MachinesLeft shared = summary_of(left_distribution(kShocks, 40, 0.5));
  const MachinesLeft alone = summary_of(left_distribution(kAlone, 40, 0.5));
  EXPECT_LT(shared.p10, alone.p10);
  EXPECT_GT(shared.p90, alone.p90);
}

// P(0) = 0.05, P(1) = 0.25, P(2) = 0.7: a tenth lies within one machine, nine tenths within two.
TEST(GroupLoss, SummaryOfAHandMadeDistribution) {
  const MachinesLeft left = summary_of({0.05, 0.25, 0.7});
  EXPECT_NEAR(left.mean, 1.65, 1e-12);
  EXPECT_EQ(left.p10, 1);
  EXPECT_EQ(left.p90, 2);
}

// The mean size of an event is losses over events: 8/4.9455 = 1.6176.
TEST(GroupLoss, SampledEventsHaveTheirMeanSize) {
  Random random(5);
  double sum = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const int size = sample_event_size(kShocks, 8, random);
    ASSERT_GE(size, 1);
    ASSERT_LE(size, 8);
    sum += size;
  }
  EXPECT_NEAR(sum / kDraws, 8 / 4.9454545, 0.02);
  EXPECT_EQ(sample_event_size(kAlone, 8, random), 1);
  EXPECT_EQ(sample_event_size(kShocks, 1, random), 1);
}

/// A pool that is filled up to 24 machines whenever it has fallen below 12.
AvailabilityTrace drawn_trace(const GroupLoss& group, std::uint64_t seed) {
  Random random(seed);
  AvailabilityTrace trace{.name = "drawn", .gap = 300 * kSecond, .counts = {}};
  int machines = 24;
  for (int tick = 0; tick < 4000; ++tick) {
    trace.counts.push_back(machines);
    if (machines < 12) {
      machines = 24;
      continue;
    }
    const auto left = left_distribution(group, machines, 0.01);
    double at = random.uniform();
    int next = machines;
    while (next > 0 && (at -= left[static_cast<std::size_t>(next)]) >= 0) --next;
    machines = next;
  }
  return trace;
}

TEST(GroupLossFit, RecoversShocks) {
  const std::vector<AvailabilityTrace> traces{drawn_trace(kShocks, 3)};
  const auto fitted = fit_group_loss(traces);
  ASSERT_TRUE(fitted.has_value());
  EXPECT_NEAR(fitted->shared, 0.6, 0.15);
  EXPECT_NEAR(fitted->reach, 0.25, 0.08);
}

TEST(GroupLossFit, RecoversIndependence) {
  const std::vector<AvailabilityTrace> traces{drawn_trace(kAlone, 4)};
  const auto fitted = fit_group_loss(traces);
  ASSERT_TRUE(fitted.has_value());
  EXPECT_NEAR(events_rate(*fitted, 16, 1 / kHour).in(1 / kHour), 16, 0.8);
}

TEST(GroupLossFit, NeedsDropsOfPools) {
  const std::vector<AvailabilityTrace> one{
      {.name = "one", .gap = kMinute, .counts = {1, 0, 1, 1, 0}}};
  EXPECT_FALSE(fit_group_loss(one).has_value());
  EXPECT_FALSE(fit_group_loss({}).has_value());
  const std::vector<AvailabilityTrace> calm{{.name = "c", .gap = kMinute, .counts = {4, 4, 6}}};
  EXPECT_FALSE(fit_group_loss(calm).has_value());
}

TEST(GroupLossFit, MachinesOfPublishedPoolsAreLostTogether) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set, so no published trace is fitted.";
  const std::string path = std::string(data) + "/spot_traces_bamboo/aws_p3_events.csv";
  const auto text = read_file(path);
  ASSERT_TRUE(text.ok()) << text.error().message;
  const auto trace = read_availability_trace(*text, path);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const std::vector<AvailabilityTrace> traces{*trace};
  const auto fitted = fit_group_loss(traces);
  ASSERT_TRUE(fitted.has_value());
  EXPECT_LT(events_rate(*fitted, 16, 1 / kHour).in(1 / kHour), 12);
}

// 512 machines through 49 and 1e300 mean lifetimes: nothing is left, and it takes no time to say
// so.
TEST(GroupLoss, NothingIsLeftOfAPoolAfterALongTime) {
  for (const double amount : {49.0, 1e300}) {
    const auto left = left_distribution(kAlone, 512, amount);
    EXPECT_NEAR(left[0], 1, 1e-9) << amount;
    EXPECT_NEAR(left[1], 0, 1e-9) << amount;
  }
}

// Of two machines with b = 1 a shock takes both with ∫ p² dp = 1/3, and one with 1/3. With half of
// the losses shared, shocks come at 0.5/0.5 = 1 per loss of a machine: events are 0.5 · 2 + 2/3 =
// 5/3, of which 1/3 take both.
TEST(GroupLoss, TellsHowOftenAllAreLost) {
  EXPECT_NEAR(all_lost_share({.shared = 0.5, .reach = 0.5}, 2), 0.2, 1e-12);
  EXPECT_EQ(all_lost_share({}, 1), 1);
  EXPECT_EQ(all_lost_share({}, 3), 0);
}

}  // namespace
}  // namespace stint
