#include "validate/validate_iteration.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"
#include "measure/measurement.h"

namespace stint {
namespace {

constexpr const char* kHeader =
    "model,gpus_per_node,num_nodes,num_gpus,batch_per_gpu,step_time_s\n";

/// A folder of its own for each test.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::path(testing::TempDir()) / "stint_validate_iteration_test" /
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }

  std::string path(const std::string& name) const { return (path_ / name).string(); }

  std::string file(const std::string& name, std::string_view bytes) const {
    EXPECT_TRUE(write_file(path(name), bytes).ok());
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

/// A line of a job that computes for 20 ms and 2 ms a sample and exchanges gradients for `exchange`
/// seconds more with each VM beyond the first.
std::string line(const std::string& job, int vms, int per_vm, double exchange) {
  const double time = (0.02 + 0.002 * 32) * (1 + 0.03 * (per_vm - 1)) + exchange * (vms - 1);
  return fmt::format("{},,{},{},32,{:.5f}\n", job, vms, vms * per_vm, time);
}

/// Rows 0 to 5 of each job: alone, on one VM, and four on several.
std::string lines_of(const std::string& job, double exchange) {
  return line(job, 1, 1, exchange) + line(job, 1, 4, exchange) + line(job, 2, 1, exchange) +
         line(job, 3, 1, exchange) + line(job, 2, 4, exchange) + line(job, 4, 4, exchange);
}

std::string two_jobs() { return kHeader + lines_of("a", 0.03) + lines_of("b", 0.05); }

ValidateAnswer answer_to(const ValidateRequest& request) {
  auto answer = validate_iteration(request);
  EXPECT_TRUE(answer.ok()) << answer.error().message;
  return answer.ok() ? std::move(*answer) : ValidateAnswer{};
}

Csv predictions_of(const std::string& path) {
  const auto text = read_file(path);
  CHECK(text.ok());
  auto csv = Csv::parse(*text, path);
  CHECK(csv.ok());
  return std::move(*csv);
}

TEST(ValidateIteration, WrongRequestsAreUsageErrors) {
  const Folder folder;
  const std::string table = folder.file("a.csv", two_jobs());
  const auto complaint = [](const ValidateRequest& request) {
    const auto answer = validate_iteration(request);
    EXPECT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().kind, ErrorKind::kUsage);
    return answer.error().message;
  };
  EXPECT_EQ(complaint({.split = "max-gpus=2"}), "--train FILE is required: the rows to learn from");
  EXPECT_NE(complaint({.train = {table}}).find("--split"), std::string::npos);
  EXPECT_NE(complaint({.train = {table}, .test = {table}, .split = "gpu=T4"}).find("--test"),
            std::string::npos);
  EXPECT_NE(complaint({.train = {table}, .split = "half"}).find("'half'"), std::string::npos);
  EXPECT_EQ(complaint({.train = {table}, .split = "gpu=T4", .probes = 2}),
            "--probes needs --split leave-one-job-out");
}

TEST(ValidateIteration, BadFilesAreBadInputAndNothingIsWritten) {
  const Folder folder;
  const std::string good = folder.file("good.csv", two_jobs());
  const auto expect_bad = [&](ValidateRequest request, const std::string& part) {
    request.predictions = folder.path("out.csv");
    const auto answer = validate_iteration(request);
    ASSERT_FALSE(answer.ok()) << part;
    EXPECT_EQ(answer.error().kind, ErrorKind::kBadInput);
    EXPECT_NE(answer.error().message.find(part), std::string::npos) << answer.error().message;
    EXPECT_FALSE(std::filesystem::exists(request.predictions));
  };
  expect_bad({.train = {folder.path("none.csv")}, .split = "max-gpus=2"}, "none.csv");
  expect_bad({.train = {good}, .test = {folder.path("none.csv")}}, "none.csv");
  expect_bad({.train = {good}, .test = {good}, .jobs = folder.path("none.json")}, "none.json");
  const std::string object = folder.file("object.json", "{}");
  expect_bad({.train = {good}, .test = {good}, .jobs = object}, "array of job profiles");
  for (const char* time : {"0", "-1", "nan", "inf", "fast"}) {
    const std::string bad =
        folder.file("bad.csv", std::string(kHeader) + "a,1-1,2,2,32," + time + "\n");
    expect_bad({.train = {good, bad}, .test = {good}}, "bad.csv:2: column step_time_s");
  }
  const std::string three = folder.file("three.csv", std::string(kHeader) + "a,1-1,2,3,32,1\n");
  expect_bad({.train = {good, three}, .test = {good}},
             "three.csv:2: column gpus_per_node: '1-1' is not 3 GPUs on 2 nodes");
  expect_bad({.train = {good}, .split = "max-gpus=16"}, "--split max-gpus=16");
}

// Of 16, 8 and 4 workers and fewer, two jobs have one row each with more than 8.
TEST(ValidateIteration, ASplitBySizeScoresTheLargeRowsOfEveryModel) {
  const Folder folder;
  const auto answer = answer_to(
      {.train = {folder.file("a.csv", two_jobs())},
       .split = "max-gpus=4",
       .baselines = {BaselineKind::kPerfect, BaselineKind::kPollux, BaselineKind::kScavenger}});
  EXPECT_EQ(answer.ours.what, "iteration");
  EXPECT_EQ(answer.ours.split, "max-gpus=4");
  EXPECT_FALSE(answer.ours.baseline.has_value());
  EXPECT_EQ(answer.ours.overall.n, 4);
  EXPECT_EQ(answer.ours.overall.skipped, 0);
  EXPECT_TRUE(answer.ours.overall.coverage80.has_value());
  ASSERT_EQ(answer.baselines.size(), 3U);
  EXPECT_EQ(answer.baselines[0].baseline, "perfect");
  EXPECT_EQ(answer.baselines[1].baseline, "pollux");
  EXPECT_EQ(answer.baselines[2].baseline, "scavenger");
  for (const Validation& it : answer.baselines) {
    EXPECT_EQ(it.overall.n, 4);
    EXPECT_FALSE(it.overall.coverage80.has_value());
  }
  EXPECT_LT(answer.ours.overall.mape, answer.baselines[0].overall.mape);
}

// Perfect scaling says the 84 ms of one worker for all rows. The two rows of a with 8 and 16
// workers take 84 · 1.09 + 30 = 121.56 ms and 84 · 1.09 + 90 = 181.56 ms, those of b 141.56 ms and
// 241.56 ms: errors 0.30898, 0.53734, 0.40661 and 0.65226, mean 0.47630.
TEST(ValidateIteration, ScoresMatchAHandComputedCase) {
  const Folder folder;
  const auto answer = answer_to({.train = {folder.file("a.csv", two_jobs())},
                                 .split = "max-gpus=4",
                                 .baselines = {BaselineKind::kPerfect}});
  EXPECT_NEAR(answer.baselines.front().overall.mape, 0.47630, 1e-4);
  EXPECT_NEAR(answer.baselines.front().jobs.at("a").mape, (0.30898 + 0.53734) / 2, 1e-4);
}

TEST(ValidateIteration, LeavingJobsOutTestsTheirRowsOnSeveralVms) {
  const Folder folder;
  const auto answer =
      answer_to({.train = {folder.file("a.csv", two_jobs())}, .split = "leave-one-job-out"});
  EXPECT_EQ(answer.ours.overall.n, 8);
  EXPECT_EQ(answer.ours.jobs.at("a").n, 4);
  EXPECT_EQ(answer.ours.jobs.at("b").n, 4);
  EXPECT_TRUE(answer.ours.groups.empty());  // All on several VMs.
}

TEST(ValidateIteration, ACalibrationGetsTheErrorOfEachJobLeftOutAndTheirMean) {
  const Folder folder;
  const auto records =
      left_out_accuracy({.train = {folder.file("a.csv", two_jobs())}, .name = "mine"});
  ASSERT_TRUE(records.ok()) << records.error().message;
  ASSERT_EQ(records->size(), 3U);
  EXPECT_EQ(records->at(0).name, "a");
  EXPECT_EQ(records->at(0).n, 4);
  EXPECT_EQ(records->at(2).name, "mean over jobs");
}

// Four test rows for each job, of which two are measured first.
TEST(ValidateIteration, ProbesMoveFromTestToTraining) {
  const Folder folder;
  const auto answer = answer_to({.train = {folder.file("a.csv", two_jobs())},
                                 .split = "leave-one-job-out",
                                 .predictions = folder.path("out.csv"),
                                 .probes = 2});
  EXPECT_EQ(answer.ours.jobs.at("a").n, 2);
  EXPECT_EQ(answer.ours.jobs.at("b").n, 2);
  EXPECT_EQ(predictions_of(folder.path("out.csv")).rows(), 4U);
}

// Of the four test rows of a job only the last, on 16 workers, has a time, so that it must be the
// probe; three are left, without anything to score.
TEST(ValidateIteration, ARowWithoutATimeIsNoProbe) {
  const Folder folder;
  std::string text = kHeader + lines_of("b", 0.05) + line("a", 1, 1, 0.03);
  text += "a,,2,2,32,\na,,3,3,32,\na,,2,8,32,\n" + line("a", 4, 4, 0.03);
  answer_to({.train = {folder.file("a.csv", text)},
             .split = "leave-one-job-out",
             .predictions = folder.path("out.csv"),
             .probes = 1});
  const Csv csv = predictions_of(folder.path("out.csv"));
  ASSERT_EQ(csv.rows(), 6U);
  EXPECT_EQ(csv.cell(3, "row"), "7");
  EXPECT_EQ(csv.cell(5, "row"), "9");
}

// Rows count from 0 in the test file; the last job was never measured on one worker.
TEST(ValidateIteration, WritesAPredictionForEveryTestRow) {
  const Folder folder;
  const std::string test = std::string(
                               "model,gpus_per_node,num_nodes,num_gpus,batch_per_gpu\n"
                               "b,2-2,2,4,32\n") +
                           "a,1,1,1,32\nz,2-2,2,4,32\na,1-1,2,2,500\n";
  const auto answer = answer_to({.train = {folder.file("a.csv", two_jobs())},
                                 .test = {folder.file("test.csv", test)},
                                 .predictions = folder.path("out.csv")});
  EXPECT_EQ(answer.ours.overall.n, 0);
  EXPECT_FALSE(answer.ours.split.has_value());
  ASSERT_EQ(answer.ours.notes.size(), 1U);
  EXPECT_EQ(answer.ours.notes.front(),
            "the test rows have no measured times, so there is no score");
  const Csv csv = predictions_of(folder.path("out.csv"));
  EXPECT_EQ(csv.header(), (std::vector<std::string>{"row", "predicted", "p10", "p90", "note"}));
  ASSERT_EQ(csv.rows(), 4U);
  for (std::size_t i = 0; i < csv.rows(); ++i) EXPECT_EQ(csv.cell(i, "row"), fmt::to_string(i));
  const double predicted = parse_double(csv.cell(0, "predicted")).value_or(0);
  EXPECT_GT(predicted, parse_double(csv.cell(0, "p10")).value_or(0));
  EXPECT_LT(predicted, parse_double(csv.cell(0, "p90")).value_or(0));
  EXPECT_EQ(csv.cell(0, "note"), "");
  EXPECT_EQ(csv.cell(2, "predicted"), "");
  EXPECT_EQ(csv.cell(2, "note"), "z was not measured on one worker of T4");
  EXPECT_EQ(csv.cell(3, "note"), "the batch is far from those measured on one worker");
}

/// A table to learn from and two rows to predict, with a question mark for each measured cell.
struct MeasuredCells {
  StepFormat format;
  std::string train;
  std::string test;
};

std::vector<MeasuredCells> measured_cells() {
  const std::string pollux =
      "model,gpus_per_node,num_nodes,num_gpus,batch_per_gpu,step_time_s,sync_time_s\n";
  const std::string gavel =
      "gpu,consolidated,model,batch_per_gpu,num_gpus,steps_per_s_all_gpus,"
      "steps_per_s_all_gpus_repeat\n";
  const std::string nvidia =
      "example,heading,gpu,num_gpus,batch,batch_column,precision,throughput_column,throughput\n";
  const std::string cmdare = "model,gpu,num_workers,num_param_servers,cluster_steps_per_s_mean\n";
  return {
      {StepFormat::kPollux, two_jobs(), pollux + "a,2-2,2,4,32,?,?\nb,1-1,2,2,32,?,?\n"},
      {StepFormat::kGavel, gavel + "P100,1,LM,8,1,10,\nP100,1,LM,8,4,30,\nP100,0,LM,8,4,20,\n",
       gavel + "P100,0,LM,8,2,?,?\nP100,1,LM,8,2,?,?\n"},
      {StepFormat::kNvidia,
       nvidia +
           "net,DGX-1,V100,1,32,Batch,FP32,img/s,400\nnet,DGX-1,V100,4,32,Batch,FP32,img/s,1500\n",
       nvidia + "net,DGX-1,V100,8,32,Batch,FP32,img/s,?\nnet,DGX-1,V100,1,32,Batch,FP32,img/s,?\n"},
      {StepFormat::kCmdare, cmdare + "net,K80,1,1,10\nnet,K80,2,1,19\nnet,K80,4,1,35\n",
       cmdare + "net,K80,8,1,?\nnet,K80,3,1,?\n"},
  };
}

std::string with_cells(std::string text, const std::string& cell) {
  for (std::size_t i = text.find('?'); i != std::string::npos; i = text.find('?', i)) {
    text.replace(i, 1, cell);
  }
  return text;
}

TEST(ValidateIteration, WhatWasMeasuredOfTheTestMovesNoPrediction) {
  const Folder folder;
  for (const MeasuredCells& it : measured_cells()) {
    const std::string train = folder.file("train.csv", it.train);
    Score score;
    const auto predictions = [&](const std::string& cell) {
      score = answer_to({.format = it.format,
                         .train = {train},
                         .test = {folder.file("test.csv", with_cells(it.test, cell))},
                         .predictions = folder.path("out.csv")})
                  .ours.overall;
      return *read_file(folder.path("out.csv"));
    };
    const std::string blank = predictions("");
    EXPECT_EQ(score.n + score.skipped, 0);
    const Csv csv = predictions_of(folder.path("out.csv"));
    ASSERT_EQ(csv.rows(), 2U);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_NE(csv.cell(i, "predicted"), "") << blank;
    EXPECT_EQ(predictions("9"), blank);
    EXPECT_EQ(score.n, 2);
    EXPECT_EQ(score.skipped, 0);
    for (const char* cell : {"nan", "0", "-3", "inf", "n/a", "1e300", "1e-300"}) {
      EXPECT_EQ(predictions(cell), blank) << name_of(it.format) << " " << cell;
      EXPECT_EQ(score.n, 0) << name_of(it.format) << " " << cell;
      EXPECT_EQ(score.skipped, 2) << name_of(it.format) << " " << cell;
    }
  }
}

std::string recorded_run(const std::string& run, const std::string& cluster,
                         std::optional<Seconds> time) {
  const Layout layout{.cluster = *parse_cluster(cluster), .setups = {{.batch_per_worker = 8}}};
  std::string text =
      write_measurement({.run = run, .start = RunStart{.job = "net", .layout = layout}});
  if (!time) return text;
  return text +
         write_measurement({.run = run, .iteration = IterationRecord{.number = 1, .time = *time}});
}

// There are no data of one worker on a p3.2xlarge.
TEST(ValidateIteration, OurOwnRecordsArePredictedWithoutTheirTimesAndByVmType) {
  const Folder folder;
  const std::string train =
      folder.file("train.jsonl", recorded_run("a", "g4dn.xlarge", 1 * kSecond) +
                                     recorded_run("b", "2x g4dn.xlarge", 1.2 * kSecond));
  const auto predictions = [&](std::optional<Seconds> time) {
    const std::string test =
        recorded_run("c", "4x g4dn.xlarge", time) + recorded_run("d", "4x p3.2xlarge", time);
    answer_to({.format = StepFormat::kStint,
               .train = {train},
               .test = {folder.file("test.jsonl", test)},
               .predictions = folder.path("out.csv")});
    return *read_file(folder.path("out.csv"));
  };
  EXPECT_EQ(predictions(std::nullopt), predictions(9 * kSecond));
  const Csv csv = predictions_of(folder.path("out.csv"));
  EXPECT_NE(csv.cell(0, "predicted"), "");
  EXPECT_EQ(csv.cell(1, "note"), "net was not measured on one worker of p3.2xlarge");
}

TEST(ValidateIteration, AnUnusableTestRowKeepsItsLine) {
  const Folder folder;
  const std::string test =
      std::string(kHeader) + "a,1-1,2,3,32,0.1\na,1-1,2,2,32,0.1\na,1-1,2,2,0,0.1\n";
  const auto answer = answer_to({.train = {folder.file("a.csv", two_jobs())},
                                 .test = {folder.file("test.csv", test)},
                                 .predictions = folder.path("out.csv")});
  const Csv csv = predictions_of(folder.path("out.csv"));
  ASSERT_EQ(csv.rows(), 3U);
  EXPECT_EQ(csv.cell(0, "predicted"), "");
  EXPECT_EQ(csv.cell(0, "note"), "column gpus_per_node: '1-1' is not 3 GPUs on 2 nodes");
  EXPECT_NE(csv.cell(1, "predicted"), "");
  EXPECT_EQ(csv.cell(2, "note"),
            "column batch_per_gpu: must be a whole number from 1 to 16777216, not '0'");
  EXPECT_EQ(answer.ours.overall.n, 1);
  EXPECT_EQ(answer.ours.overall.skipped, 2);
}

TEST(ValidateIteration, SaysMostlyWhyRowsWereSkipped) {
  const Folder folder;
  const std::string train = folder.file("a.csv", two_jobs());
  const auto skipped = [&](const std::string& lines) {
    return answer_to({.train = {train}, .test = {folder.file("b.csv", kHeader + lines)}}).skipped;
  };
  EXPECT_EQ(skipped("a,1-1,2,2,32,0.1\nz,1-1,2,2,32,\n"), "");
  EXPECT_EQ(skipped("z,1-1,2,2,32,1\n"),
            "1 row was skipped: z was not measured on one worker of T4 (1).");
  EXPECT_EQ(
      skipped("z,1-1,2,2,32,1\na,1-1,2,2,32,0\nb,1-1,2,2,32,0\n"),
      "3 rows were skipped: column step_time_s: must be above zero, not 0 (2) and 1 other reason.");
}

TEST(ValidateIteration, PredictionsOfABaselineHaveNoInterval) {
  const Folder folder;
  answer_to({.train = {folder.file("a.csv", two_jobs())},
             .split = "max-gpus=8",
             .predictions = folder.path("out.csv"),
             .baselines = {BaselineKind::kPerfect}});
  const Csv csv = predictions_of(folder.path("out.csv"));
  // Row 5 is the last of the first job: 84 ms, as alone.
  EXPECT_EQ(csv.cell(0, "row"), "5");
  EXPECT_EQ(csv.cell(0, "predicted"), "0.084");
  EXPECT_EQ(csv.cell(0, "p10"), "");
}

// Such figures are errors of the table, and would make errors that JSON cannot hold.
TEST(ValidateIteration, TimesThatNoStepTakesAreNotLearnedFrom) {
  const Folder folder;
  const std::string train = folder.file("a.csv", two_jobs());
  for (const char* time : {"1e-308", "1e+300"}) {
    const std::string odd = folder.file(
        "b.csv", std::string(kHeader) + "a,1-1,2,2,32,0.1\na,1-1,2,2,32," + time + "\n");
    const auto answer = validate_iteration({.train = {odd}, .test = {train}});
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().kind, ErrorKind::kBadInput);
    EXPECT_EQ(answer.error().message,
              fmt::format("{}:3: column step_time_s: must be from 1e-12 to 315360000000, not {}",
                          odd, time));
  }
}

// Gavel's publishers warn of Recommendation and of several V100 in one server.
TEST(ValidateIteration, RowsThatTheirPublisherWarnsOfAreScoredApart) {
  const Folder folder;
  std::string text = "gpu,consolidated,model,batch_per_gpu,num_gpus,steps_per_s_all_gpus\n";
  for (const char* model : {"LM", "Recommendation"}) {
    for (const char* gpu : {"V100", "P100"}) {
      text += fmt::format("{0},1,{1},8,1,10\n{0},1,{1},8,4,30\n{0},0,{1},8,4,20\n", gpu, model);
    }
  }
  const std::string path = folder.file("gavel.csv", text);
  const auto answer =
      answer_to({.format = StepFormat::kGavel, .train = {path}, .split = "leave-one-job-out"});
  EXPECT_FALSE(answer.ours.jobs.contains("Recommendation"));
  EXPECT_EQ(answer.ours.groups.at("apart: Recommendation").n, 4);
  EXPECT_EQ(answer.ours.groups.at("apart: V100 on one server").n, 1);
  EXPECT_EQ(answer.ours.overall.n, 3);
}

TEST(ChooseProbes, NamesRowsOfEachJob) {
  const Folder folder;
  const auto answer = choose_probes(ProbesRequest{.train = {folder.file("a.csv", two_jobs())},
                                                  .configs = folder.file("b.csv", two_jobs()),
                                                  .count = 3});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->configs.size(), 12U);
  ASSERT_EQ(answer->rows.size(), 2U);
  for (const auto& [job, rows] : answer->rows) {
    EXPECT_EQ(std::set<std::size_t>(rows.begin(), rows.end()).size(), 3U);
    for (const std::size_t row : rows) EXPECT_EQ(answer->configs[row].job, job);
  }
}

TEST(ChooseProbes, WrongRequestsAreRefused) {
  const Folder folder;
  const std::string table = folder.file("a.csv", two_jobs());
  const auto kind = [](const ProbesRequest& request) {
    const auto answer = choose_probes(request);
    EXPECT_FALSE(answer.ok());
    return answer.error().kind;
  };
  EXPECT_EQ(kind({.configs = table}), ErrorKind::kUsage);
  EXPECT_EQ(kind({.train = {table}, .configs = table, .count = 0}), ErrorKind::kUsage);
  EXPECT_EQ(kind({.train = {folder.path("none.csv")}, .configs = table}), ErrorKind::kBadInput);
  EXPECT_EQ(kind({.train = {table}, .configs = folder.path("none.csv")}), ErrorKind::kBadInput);
}

/// The bounds that we set ourselves on the published table of Pollux (OSDI'21): small errors, and
/// smaller ones than those of the models that others fit to the same rows.
TEST(ValidateIteration, ThePublishedTableIsPredictedWithinItsBounds) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set";
  ValidateRequest request{.train = {std::string(data) + "/pollux/step_times.csv"},
                          .split = "max-gpus=6",
                          .baselines = {BaselineKind::kPollux, BaselineKind::kScavenger}};
  const auto expect_better = [](const ValidateAnswer& answer) {
    for (const Validation& other : answer.baselines) {
      EXPECT_LT(answer.ours.mean_over_jobs.mape, other.mean_over_jobs.mape) << *other.baseline;
    }
  };
  const auto larger = answer_to(request);
  EXPECT_LE(larger.ours.mean_over_jobs.mape, 0.065);
  expect_better(larger);
  for (const auto& [job, score] : larger.ours.jobs) {
    ASSERT_TRUE(score.coverage80.has_value());
    EXPECT_GE(*score.coverage80, 0.72) << job;
    EXPECT_LE(*score.coverage80, 0.88) << job;
  }
  request.split = "leave-one-job-out";
  const auto unseen = answer_to(request);
  EXPECT_LE(unseen.ours.mean_over_jobs.mape, 0.06);
  expect_better(unseen);
}

}  // namespace
}  // namespace stint
