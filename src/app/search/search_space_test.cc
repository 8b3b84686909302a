#include "app/search/search_space.h"

#include <gtest/gtest.h>

#include "load/environment.h"
#include "load/predict_inputs.h"

namespace stint {
namespace {

class SearchSpaceTest : public testing::Test {
 protected:
  SearchSpaceTest() {
    auto loaded = load_predict_inputs(environment_, "paced-5mb", "", std::string("local"));
    EXPECT_TRUE(loaded.ok());
    inputs_.emplace(std::move(*loaded));
    // Computes nearly all the time.
    inputs_->job.gradient_bytes = inputs_->job.gradient_bytes / 100;
    for (auto& bucket : inputs_->job.buckets) bucket.bytes = bucket.bytes / 100;
  }

  static SearchRequest request() {
    return {.objective = SearchObjective::kTime,
            .types = {"local.large", "local.fast"},
            .vms = {1, 2},
            .batches = {48, 96}};
  }

  void give_accelerators(const std::string& type, int count) {
    for (VmType& one : inputs_->catalog.types) {
      if (one.name == type) one.accelerator->count = count;
    }
  }

  std::vector<LiveSetup> space(const SearchRequest& asked) {
    auto found = search_space(asked, *inputs_, 48);
    EXPECT_TRUE(found.ok()) << found.error().message;
    return found.ok() ? std::move(*found) : std::vector<LiveSetup>{};
  }

  static const LiveSetup* find(const std::vector<LiveSetup>& setups, const SearchChoice& choice) {
    for (const LiveSetup& setup : setups) {
      if (same_cluster(setup.choice.cluster, choice.cluster) &&
          setup.choice.workers_per_vm == choice.workers_per_vm &&
          setup.choice.batch == choice.batch) {
        return &setup;
      }
    }
    return nullptr;
  }

  Environment environment_{.data_folder = {}, .state_folder = {}};
  std::optional<PredictInputs> inputs_;
};

// Two types, one or two VMs, two batches; and one of each type, which is faster than two of
// local.large and cheaper than two of local.fast.
TEST_F(SearchSpaceTest, HasEqualAndMixedVms) {
  const auto setups = space(request());
  EXPECT_EQ(setups.size(), 10U);
  const LiveSetup* mixed = find(setups, {.cluster = "1x local.fast + 1x local.large", .batch = 48});
  ASSERT_NE(mixed, nullptr);
  EXPECT_EQ(mixed->vms, 2);
  EXPECT_EQ(mixed->type, "local.large + local.fast");
  EXPECT_NEAR(mixed->rate.in(kDollar / kHour), 0.7, 1e-12);
  EXPECT_TRUE(uses(*mixed, "local.fast"));
  EXPECT_FALSE(uses(*mixed, "local.small"));
  EXPECT_EQ(worker_shares(*mixed, {"local.fast", "local.small"}), (std::vector{0.5, 0.0}));
  // local.fast computes twice as fast and gets two thirds of the samples.
  EXPECT_EQ(shares_of(mixed->plan, std::vector{0, 1}, 48), (std::vector{16, 32}));
}

TEST_F(SearchSpaceTest, HasEqualVmsOnlyWhereASingleKindIsAskedFor) {
  SearchRequest asked = request();
  asked.kinds_max = 1;
  EXPECT_EQ(space(asked).size(), 8U);
}

// One spot and one on-demand machine of a type cost less than two on demand, and are as fast; two
// spot machines are as fast for less.
TEST_F(SearchSpaceTest, LeavesMixedVmsOutThatEqualOnesBeat) {
  SearchRequest asked = request();
  asked.types = {"local.large"};
  asked.markets = {Market::kOnDemand, Market::kSpot};
  for (const LiveSetup& setup : space(asked)) {
    EXPECT_EQ(setup.plan.machines.size(), 1U) << setup.choice.cluster;
  }
}

TEST_F(SearchSpaceTest, HasOneToAllWorkersOnAVm) {
  give_accelerators("local.large", 3);
  SearchRequest asked = request();
  asked.types = {"local.large"};
  asked.vms = {2};
  asked.batches = {48};
  const auto setups = space(asked);
  ASSERT_EQ(setups.size(), 3U);
  EXPECT_EQ(setups[0].choice.workers_per_vm, std::nullopt);
  EXPECT_EQ(setups[1].choice.workers_per_vm, 2);
  EXPECT_EQ(setups[2].choice.workers_per_vm, 3);
  EXPECT_EQ(workers_of(setups[2].plan), 6);
  // Six workers of 8 samples; on the first VM alone three of 16.
  EXPECT_EQ(shares_of(setups[2].plan, std::vector{0, 1}, 48), std::vector(6, 8));
  EXPECT_EQ(shares_of(setups[2].plan, std::vector{0}, 48), std::vector(3, 16));
  EXPECT_LT(setups[2].plan.steps.back().mean, setups[0].plan.steps.back().mean);
  asked.workers_per_vm = {2, 4};
  EXPECT_EQ(space(asked).size(), 1U);
}

// One worker on local.fast, and one for each of the two accelerators of local.large.
TEST_F(SearchSpaceTest, MixedVmsHaveAWorkerOnEachAccelerator) {
  give_accelerators("local.large", 2);
  const auto setups = space(request());
  const LiveSetup* mixed =
      find(setups, {.cluster = "1x local.large + 1x local.fast", .workers_per_vm = 2, .batch = 48});
  ASSERT_NE(mixed, nullptr);
  EXPECT_EQ(workers_of(mixed->plan), 3);
  EXPECT_EQ(shares_of(mixed->plan, std::vector{0, 1}, 48), (std::vector{12, 12, 24}));
}

TEST_F(SearchSpaceTest, IsTheSameWhenASearchIsResumed) {
  give_accelerators("local.large", 2);
  const auto setups = space(request());
  SearchRecord record;
  for (const LiveSetup& setup : setups) {
    record.surface.push_back({.cluster = setup.choice.cluster,
                              .type = setup.type,
                              .vms = setup.vms,
                              .workers_per_vm = setup.choice.workers_per_vm,
                              .batch = setup.choice.batch});
  }
  const auto again = search_space_again(*inputs_, record);
  ASSERT_TRUE(again.ok());
  ASSERT_EQ(again->size(), setups.size());
  for (std::size_t i = 0; i < setups.size(); ++i) {
    EXPECT_EQ((*again)[i].choice, setups[i].choice);
    EXPECT_EQ((*again)[i].type, setups[i].type);
    EXPECT_EQ(write_run_plan((*again)[i].plan), write_run_plan(setups[i].plan));
  }
}

TEST_F(SearchSpaceTest, LimitsTheMicroBatchOfOneTypeOnly) {
  auto setups = space(request());
  LiveSetup mixed = *find(setups, {.cluster = "1x local.large + 1x local.fast", .batch = 48});
  const int before = mixed.plan.machines[0].micro_batch;
  limit_memory(mixed, "local.fast", 4);
  EXPECT_EQ(mixed.plan.machines[0].micro_batch, before);
  EXPECT_EQ(mixed.plan.machines[1].micro_batch, 4);
}

TEST(SameCluster, DoesNotMindTheOrder) {
  EXPECT_TRUE(same_cluster("1x a + 2x b:spot", "2x b:spot + 1x a"));
  EXPECT_FALSE(same_cluster("1x a + 2x b", "1x a + 2x b:spot"));
  EXPECT_FALSE(same_cluster("1x a", "1x a + 1x a"));
}

}  // namespace
}  // namespace stint
