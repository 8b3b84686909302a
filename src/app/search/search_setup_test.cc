#include "app/search/search_setup.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <memory>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace stint {
namespace {

class SearchSetupTest : public testing::Test {
 protected:
  static SearchRequest request() {
    SearchRequest asked{.objective = SearchObjective::kTime,
                        .steps = 400,
                        .types = {"local.large", "local.fast"},
                        .vms = {1, 2, 4},
                        .kinds_max = 1,
                        .batches = {48, 96, 192},
                        .budget = 0.5};
    asked.run = {.job = "paced-5mb", .command = {"train"}, .global_batch = 48};
    return asked;
  }

  Result<PreparedSearch> prepare(const SearchRequest& asked) {
    return prepare_search(environment_, asked);
  }

  void expect_refused(const SearchRequest& asked, const std::string& words) {
    const auto search = prepare(asked);
    ASSERT_FALSE(search.ok()) << words;
    EXPECT_EQ(search.error().kind, ErrorKind::kUsage) << search.error().message;
    EXPECT_NE(search.error().message.find(words), std::string::npos) << search.error().message;
  }

  /// As if an earlier search had ended on two fast machines.
  SearchRecord learn(const SearchRequest& asked, const std::string& objective) {
    SearchRecord record = prepare(asked)->record;
    record.objective = objective;
    record.choice = SearchChoice{.cluster = "2x local.fast", .batch = 96};
    record.probes = {{.cluster = "2x local.fast", .batch = 96, .step = 0.05 * kSecond}};
    record.probes[0].predicted = {.mean = kSecond, .p10 = kSecond, .p90 = kSecond};
    const std::string path = learned_path(environment_, record.job);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    EXPECT_TRUE(write_file(path, write_search(record)).ok());
    return record;
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  Environment environment_{.data_folder = {},
                           .state_folder = place_.path(),
                           .clock = std::make_shared<FixedClock>(1000 * kSecond)};
};

TEST_F(SearchSetupTest, BeginsSmallWithTheJobsOwnBatch) {
  const auto search = prepare(request());
  ASSERT_TRUE(search.ok()) << search.error().message;
  EXPECT_EQ(search->setups.size(), 18U);
  const LiveSetup& start = search->setups[search->start];
  EXPECT_EQ(start.choice.cluster, "1x local.large");
  EXPECT_EQ(start.choice.batch, 48);
  const RunRecord& record = search->run.record;
  EXPECT_EQ(cluster_text(record.plan), "1x local.large");
  EXPECT_EQ(record.global_batch, 48);
  ASSERT_TRUE(record.plan.training);
  EXPECT_EQ(record.plan.training->steps, 400);
  EXPECT_DOUBLE_EQ(record.plan.training->gain, 1);
  EXPECT_DOUBLE_EQ(record.plan.training->rate, 1);
  EXPECT_FALSE(record.forecast);
}

// AdaScale: both gain and rate are (Φ/B₀ + 1)/(Φ/B + 1), between one and the ratio of batches.
TEST_F(SearchSetupTest, ALargerBatchIsWorthMoreStepsAndNeedsFewer) {
  const auto search = prepare(request());
  const auto mind = search_mind(*search);
  std::size_t large = 0;
  while (search->setups[large].choice.batch != 192) ++large;
  const RunBatch training = training_of(*search, *mind, large, 100, 100);
  EXPECT_GT(training.gain, 1.2);
  EXPECT_LT(training.gain, 4);
  EXPECT_DOUBLE_EQ(training.rate, training.gain);
  EXPECT_NEAR(static_cast<double>(training.steps - 100), 300 / training.gain, 1);
}

TEST_F(SearchSetupTest, WhatWasLearnedDecidesWhereToBegin) {
  (void)learn(request(), "time");
  SearchRequest asked = request();
  asked.mode = SearchMode::kNone;
  const auto search = prepare(asked);
  ASSERT_TRUE(search.ok()) << search.error().message;
  EXPECT_EQ(search->setups[search->start].choice.cluster, "2x local.fast");
  EXPECT_EQ(search->setups[search->start].choice.batch, 96);
  EXPECT_TRUE(search->record.warnings.empty());
  asked.mode = SearchMode::kFull;
  EXPECT_EQ(prepare(asked)->setups[prepare(asked)->start].choice.cluster, "1x local.large");
}

TEST_F(SearchSetupTest, WhatRanOutOfMemoryIsNotTriedAgain) {
  SearchRecord record = learn(request(), "time");
  record.memory = {{.type = "local.fast", .samples = 12}};
  ASSERT_TRUE(write_file(learned_path(environment_, record.job), write_search(record)).ok());
  const auto search = prepare(request());
  ASSERT_TRUE(search.ok()) << search.error().message;
  for (const LiveSetup& setup : search->setups) {
    const int micro = setup.plan.machines.front().micro_batch;
    EXPECT_EQ(micro, setup.type == "local.fast" ? 12 : 64) << setup.choice.cluster;
  }
}

TEST_F(SearchSetupTest, WithoutAnythingLearnedNoneGoesByPredictions) {
  SearchRequest asked = request();
  asked.mode = SearchMode::kNone;
  const auto search = prepare(asked);
  ASSERT_TRUE(search.ok()) << search.error().message;
  ASSERT_EQ(search->record.warnings.size(), 1U);
  EXPECT_NE(search->setups[search->start].choice.cluster, "1x local.large");
}

TEST_F(SearchSetupTest, WhatWasLearnedOfAnotherJobOfThatNameIsNotUsed) {
  SearchRecord record = learn(request(), "time");
  record.gradients = 2 * record.gradients;
  ASSERT_TRUE(write_file(learned_path(environment_, record.job), write_search(record)).ok());
  EXPECT_FALSE(prepare(request())->learned);
}

TEST_F(SearchSetupTest, BeginsWhereItIsTold) {
  SearchRequest asked = request();
  asked.run.cluster = "4x local.fast";
  EXPECT_EQ(prepare(asked)->setups[prepare(asked)->start].choice.cluster, "4x local.fast");
  asked.run.cluster = "3x local.fast";
  expect_refused(asked, "not one of the clusters");
}

// Two fast machines are dearer than allowed, and one large and one fast take less time than the
// rest.
TEST_F(SearchSetupTest, StartsOnAMixedClusterWhereThatIsBest) {
  SearchRequest asked = request();
  asked.run.job = place_.path() + "/computes.json";
  ASSERT_TRUE(write_file(asked.run.job, R"({"schema": "stint.job/1", "name": "computes",
    "gradient_bytes": "100 kB", "buckets": [{"bytes": "100 kB", "ready": 1.0}],
    "compute": [{"device": "Local-1x", "batch_per_worker": 8,
                 "forward": {"median": "50 ms", "spread": "1 ms", "count": 20},
                 "backward": {"median": "100 ms", "spread": "1 ms", "count": 20},
                 "update": {"median": "1 ms", "spread": "0.1 ms", "count": 20}}]})")
                  .ok());
  asked.kinds_max = 2;
  asked.vms = {1, 2};
  asked.batches = {48};
  asked.mode = SearchMode::kNone;
  const auto all = prepare(asked);
  ASSERT_TRUE(all.ok()) << all.error().message;
  const auto outlooks = search_mind(*all)->outlooks({.now = all->start});
  std::optional<Dollars> fast;
  std::optional<Dollars> mixed;
  for (std::size_t i = 0; i < outlooks.size(); ++i) {
    const std::string& cluster = all->setups[i].choice.cluster;
    if (cluster == "2x local.fast") fast = outlooks[i].cost;
    if (cluster == "1x local.large + 1x local.fast") mixed = outlooks[i].cost;
  }
  ASSERT_TRUE(fast && mixed);
  EXPECT_GT(*fast, 1.05 * *mixed);
  asked.cost_max = 1.14 * *mixed;  // A tenth of the rest is kept free.
  const auto search = prepare(asked);
  ASSERT_TRUE(search.ok()) << search.error().message;
  EXPECT_EQ(search->setups[search->start].choice.cluster, "1x local.large + 1x local.fast");
  asked.run.cluster = "1x local.fast + 1x local.large";
  EXPECT_EQ(prepare(asked)->start, search->start);
}

TEST_F(SearchSetupTest, ForeseesProbesWithTheirPrice) {
  const auto probes = foresee(*prepare(request()));
  ASSERT_FALSE(probes.empty());
  for (const ForeseenProbe& probe : probes) {
    EXPECT_GT(probe.time, Seconds{});
    EXPECT_GT(probe.cost, Dollars{});
  }
}

TEST_F(SearchSetupTest, RefusesWhatCannotBeSearched) {
  SearchRequest asked = request();
  asked.steps.reset();
  expect_refused(asked, "--target is required");
  asked.loss_target = 0.4;
  expect_refused(asked, "--steps is required");
  asked = request();
  asked.types = {"local.cpu"};
  expect_refused(asked, "no cluster and batch size remains");
  asked = request();
  asked.budget = 1e-6;
  expect_refused(asked, "too small for one probe");
  asked.budget.reset();  // The default budget is reported, and is no error.
  EXPECT_EQ(prepare(asked)->record.warnings.size(), 1U);
  asked = request();
  asked.run.command.clear();
  expect_refused(asked, "training command is required");
}

TEST_F(SearchSetupTest, JobNamesLeadNowhereElse) {
  const std::string path = learned_path(environment_, "../../etc/passwd");
  EXPECT_EQ(path.find("/../"), std::string::npos) << path;
  EXPECT_TRUE(path.starts_with(place_.path()));
}

TEST_F(SearchSetupTest, LimitsThatNoSetupKeepsAreInfeasible) {
  SearchRequest asked = request();
  asked.cost_max = 1e-6 * kDollar;
  auto search = prepare(asked);
  ASSERT_FALSE(search.ok());
  EXPECT_EQ(search.error().kind, ErrorKind::kInfeasible);
  EXPECT_NE(search.error().message.find("no setup keeps --max-cost 1e-06 USD: the fastest takes"),
            std::string::npos)
      << search.error().message;
  asked = request();
  asked.time_max = 1 * kMillisecond;
  search = prepare(asked);
  ASSERT_FALSE(search.ok());
  EXPECT_EQ(search.error().kind, ErrorKind::kInfeasible);
  asked.time_max = 10 * kHour;
  asked.cost_max = 100 * kDollar;
  EXPECT_TRUE(prepare(asked).ok());
}

TEST_F(SearchSetupTest, MoreSetupsThanCanBeSearchedAreRefusedSoon) {
  SearchRequest asked = request();
  asked.vms.assign(401, 1);
  asked.types = {"local.large"};
  asked.batches = {48};
  asked.markets = {Market::kOnDemand};
  expect_refused(asked, "more than 400 clusters and batch sizes are too many to search");
}

}  // namespace
}  // namespace stint
