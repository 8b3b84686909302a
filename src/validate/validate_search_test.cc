#include "validate/validate_search.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

std::string file(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_validate_search_test";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

/// Clusters of one to eight GPUs; exchange costs the more the more nodes there are.
std::string steps_of(const std::string& job, double exchange) {
  std::string lines;
  for (const int nodes : {1, 2, 3, 4}) {
    for (const int each : {1, 2}) {
      for (const int batch : {4, 8, 16, 32, 64}) {
        lines += fmt::format("{},,{},{},{},{:.5f}\n", job, nodes, nodes * each, batch,
                             0.02 + 0.004 * batch + exchange * (nodes - 1) + 0.01 * (each - 1));
      }
    }
  }
  return lines;
}

/// Forty epochs; noise is 9 times the initial batch of 16.
std::string epochs_of(const std::string& job, int batch) {
  const double gain = 10 / (144.0 / batch + 1);
  std::string text;
  for (int i = 1; i <= 40; ++i) {
    text += fmt::format("{},{},{},{},{},{},1,9\n", job, batch, i - 1, 500 * i, 500 * i / gain,
                        0.02 * i);
  }
  return text;
}

ValidateSearchRequest request_of(const char* name) {
  std::string steps = "model,gpus_per_node,num_nodes,num_gpus,batch_per_gpu,step_time_s\n";
  std::string epochs =
      "model,batch_total,epoch,progress_in_initial_batch_steps,iteration,metric,grad_sqr,"
      "grad_var\n";
  for (const auto& [job, exchange] : {std::pair{"a", 0.02}, {"b", 0.05}, {"c", 0.1}}) {
    steps += steps_of(job, exchange);
    for (const int batch : {16, 32, 64, 128}) epochs += epochs_of(job, batch);
  }
  return {.steps = {file(std::string(name) + "_steps.csv", steps)},
          .convergence = {file(std::string(name) + "_epochs.csv", epochs)},
          .seeds = 10};
}

TEST(ValidateSearch, ComesNearerToTheOracleThanOthers) {
  for (const SearchObjective objective : {SearchObjective::kTime, SearchObjective::kCost}) {
    ValidateSearchRequest request = request_of("near");
    request.objective = objective;
    const auto found = validate_search(request);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found->jobs.size(), 3U);
    const auto score = [&](const SearchScore& it) {
      return objective == SearchObjective::kTime ? it.time_over_oracle : it.cost_over_oracle;
    };
    for (const auto& [job, searched] : found->jobs) {
      const double ours = score(searched.policies.at("stint"));
      EXPECT_GE(ours, 1 - 1e-9) << job << ": nobody is better than the oracle";
      EXPECT_LT(ours, 1.2) << job;
      for (const char* other : {"scavenger", "random"}) {
        EXPECT_GT(score(searched.policies.at(other)), ours) << job << other;
      }
    }
    EXPECT_EQ(found->policies.at("default").moves, 0);
    EXPECT_GE(found->policies.at("random").probes, 5);
  }
}

TEST(ValidateSearch, TheSameSeedsGiveTheSameScores) {
  const auto once = validate_search(request_of("same"));
  const auto again = validate_search(request_of("same"));
  ASSERT_TRUE(once.ok() && again.ok());
  EXPECT_EQ(write_search_validation(*once), write_search_validation(*again));
}

TEST(ValidateSearch, BadInputIsSaid) {
  const auto message = [](const ValidateSearchRequest& request, ErrorKind kind) {
    const auto found = validate_search(request);
    EXPECT_FALSE(found.ok());
    EXPECT_EQ(found.error().kind, kind);
    return found.error().message;
  };
  ValidateSearchRequest request = request_of("bad");
  request.seeds = 0;
  EXPECT_EQ(message(request, ErrorKind::kUsage), "--seeds must be 1 or more");
  request = request_of("bad");
  request.steps.clear();
  EXPECT_NE(message(request, ErrorKind::kUsage).find("--steps is required"), std::string::npos);
  request = request_of("bad");
  request.steps = {file("few.csv",
                        "model,gpus_per_node,num_nodes,num_gpus,batch_per_gpu,step_time_s\n"
                        "a,1,1,1,16,0.1\n")};
  EXPECT_NE(message(request, ErrorKind::kBadInput).find("no job has 20 setups"), std::string::npos);
}

}  // namespace
}  // namespace stint
