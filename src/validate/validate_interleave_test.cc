#include "validate/validate_interleave.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>

#include "base/file.h"

namespace stint {
namespace {

MixRow row(const std::string& job, std::vector<int> workers, double time, double sync) {
  return {.job = job,
          .workers_by_vm = std::move(workers),
          .measured = time * kSecond,
          .synchronised = sync * kSecond};
}

MixTable table() {
  return {{{4}, {row("a", {4}, 1, 0.1), row("b", {4}, 1, 0.1)}},
          {{1, 1}, {row("a", {1, 1}, 1, 0.1)}},
          {{2, 2}, {row("a", {2, 2}, 0.9, 0.3), row("b", {2, 2}, 1, 0.5)}}};
}

TEST(JobMix, IsOfOnePlacementThatSeveralJobsHave) {
  constexpr int kSeed = 75;
  Random random(kSeed);
  const MixTable rows = table();
  std::set<std::string> names;
  for (int trial = 0; trial < 20; ++trial) {
    const JobMix mix = draw_mix(rows, 5, random);
    EXPECT_EQ(mix.vms, 2);
    ASSERT_EQ(mix.jobs.size(), 5U);
    for (const MixJob& job : mix.jobs) {
      EXPECT_EQ(job.row->workers_by_vm, (std::vector<int>{2, 2}));
      const double hours = (job.iterations * job.row->measured).in(kHour);
      EXPECT_GE(hours, 1 - 1e-9);
      EXPECT_LE(hours, 10 + 1e-9);
      names.insert(job.row->job);
    }
  }
  EXPECT_EQ(names.size(), 2U);
}

TEST(JobMix, NeedsAPlacementOfSeveralVms) {
  MixTable rows = table();
  EXPECT_TRUE(has_mixes(rows));
  rows.erase({2, 2});
  EXPECT_FALSE(has_mixes(rows));
}

// 0.6 s of computing and 0.3 s of synchronisation: alone it takes what was measured, whether the
// network was idle before or busy for the 0.4 s of backward.
TEST(MeasuredJob, TakesAloneWhatWasMeasured) {
  const MixRow measured = row("a", {2, 2}, 0.9, 0.3);
  for (const NetworkWhile network : {NetworkWhile::kIdle, NetworkWhile::kBusy}) {
    const ShareJob job = measured_job({.row = &measured, .iterations = 7}, network);
    EXPECT_NEAR(total(step_parts(job.setup)).in(kSecond), 0.9, 1e-9);
    EXPECT_NEAR(job.alone.in(kSecond), 0.9, 1e-9);
    EXPECT_EQ(job.iterations, 7);
    const double sync = bucket_time(job.setup.buckets[0].bytes, job.setup).in(kSecond);
    EXPECT_NEAR(sync, network == NetworkWhile::kBusy ? 0.7 : 0.3, 1e-9);
  }
}

TEST(PredictedJob, IsWhatTheLawSays) {
  MixRow it = row("a", {2, 2}, 0.9, 0.3);
  it.alone = 0.8 * kSecond;
  it.deviation = 0.1;
  const ShareJob job = predicted_job({.row = &it, .iterations = 7});
  EXPECT_EQ(job.alone, 0.8 * kSecond);
  EXPECT_EQ(job.deviation, 0.1);
}

constexpr const char* kHeader =
    "model,gpus_per_node,num_nodes,num_gpus,batch_per_gpu,step_time_s,sync_time_s\n";

std::string file(const std::string& name, std::string_view bytes) {
  const auto path =
      std::filesystem::path(testing::TempDir()) / ("stint_validate_interleave_" + name);
  EXPECT_TRUE(write_file(path.string(), bytes).ok());
  return path.string();
}

/// `compute` seconds alone, and `sync` more with each VM beyond the first.
std::string lines_of(const std::string& job, double compute, double sync) {
  std::string lines = fmt::format("{},1,1,1,32,{},0\n", job, compute);
  for (const int vms : {2, 3, 4}) {
    lines += fmt::format("{},,{},{},32,{:.5f},{:.5f}\n", job, vms, vms, compute + sync * (vms - 1),
                         sync * (vms - 1));
  }
  return lines;
}

std::string table_file() {
  return file("good.csv", kHeader + lines_of("a", 0.08, 0.04) + lines_of("b", 0.05, 0.05));
}

TEST(ValidateInterleave, ScoresEveryPolicyInBothWorlds) {
  const auto found = validate_interleave(
      {.train = {table_file()}, .test = {table_file()}, .mixes = 3, .jobs_per_mix = 4});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->what, "interleave");
  ASSERT_EQ(found->worlds.size(), 2U);
  for (const auto& [name, world] : found->worlds) {
    SCOPED_TRACE(name);
    const auto& policies = world.policies;
    EXPECT_EQ(policies.at("separately").saved, 0);
    EXPECT_EQ(policies.at("random").pairs, 3 * 2);
    EXPECT_GT(policies.at("stint").saved, 0);
    // No policy beats hindsight, except by less than what is worth pairing.
    EXPECT_GE(policies.at("hindsight").saved, policies.at("stint").saved - 0.01);
    EXPECT_EQ(world.chosen.n, policies.at("stint").pairs);
    EXPECT_EQ(world.chosen.lost_beyond, 0);
  }
  EXPECT_GT(found->worlds.at("idle").policies.at("stint").saved,
            found->worlds.at("busy").policies.at("stint").saved);
}

TEST(ValidateInterleave, TheSameTwiceIsTheSame) {
  const ValidateInterleaveRequest request{
      .train = {table_file()}, .test = {table_file()}, .mixes = 2, .jobs_per_mix = 3};
  EXPECT_EQ(write_interleave_validation(*validate_interleave(request)),
            write_interleave_validation(*validate_interleave(request)));
}

TEST(ValidateInterleave, NeedsTwoJobsOnOnePlacement) {
  const std::string lonely = file("lonely.csv", kHeader + lines_of("a", 0.08, 0.04));
  const auto found = validate_interleave({.train = {lonely}, .test = {lonely}});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, ErrorKind::kBadInput);
}

TEST(ValidateInterleave, WrongRequestsAreUsageErrors) {
  const auto kind = [](const ValidateInterleaveRequest& request) {
    return validate_interleave(request).error().kind;
  };
  EXPECT_EQ(kind({.train = {table_file()}}), ErrorKind::kUsage);
  EXPECT_EQ(kind({.train = {table_file()}, .test = {table_file()}, .mixes = 0}), ErrorKind::kUsage);
  EXPECT_EQ(kind({.train = {table_file()}, .test = {table_file()}, .jobs_per_mix = 1}),
            ErrorKind::kUsage);
}

}  // namespace

}  // namespace stint
