#include "validate/validate_interleave.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

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

std::string table() {
  return file("good.csv", kHeader + lines_of("a", 0.08, 0.04) + lines_of("b", 0.05, 0.05));
}

TEST(ValidateInterleave, ScoresEveryPolicyInBothWorlds) {
  const auto found =
      validate_interleave({.train = {table()}, .test = {table()}, .mixes = 3, .jobs_per_mix = 4});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->what, "interleave");
  ASSERT_EQ(found->worlds.size(), 2U);
  for (const auto& [name, world] : found->worlds) {
    SCOPED_TRACE(name);
    const auto& policies = world.policies;
    EXPECT_EQ(policies.at("separately").saved, 0);
    EXPECT_EQ(policies.at("random").pairs, 3 * 2);
    EXPECT_GT(policies.at("stint").saved, 0);
    // Nobody does better than who knows it all, up to what is not worth pairing.
    EXPECT_GE(policies.at("hindsight").saved, policies.at("stint").saved - 0.01);
    EXPECT_EQ(world.chosen.n, policies.at("stint").pairs);
    EXPECT_EQ(world.chosen.lost_beyond, 0);
  }
  EXPECT_GT(found->worlds.at("idle").policies.at("stint").saved,
            found->worlds.at("busy").policies.at("stint").saved);
}

TEST(ValidateInterleave, TheSameTwiceIsTheSame) {
  const ValidateInterleaveRequest request{
      .train = {table()}, .test = {table()}, .mixes = 2, .jobs_per_mix = 3};
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
  EXPECT_EQ(kind({.train = {table()}}), ErrorKind::kUsage);
  EXPECT_EQ(kind({.train = {table()}, .test = {table()}, .mixes = 0}), ErrorKind::kUsage);
  EXPECT_EQ(kind({.train = {table()}, .test = {table()}, .jobs_per_mix = 1}), ErrorKind::kUsage);
}

}  // namespace
}  // namespace stint
