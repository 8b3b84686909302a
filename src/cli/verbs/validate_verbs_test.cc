#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "cli/parse.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"
#include "measure/tables/step_formats.h"
#include "plan/validation.h"

namespace stint::cli {
namespace {

struct Answer {
  int code = 0;
  std::string out;
  std::string err;
};

/// What a memory stream holds once it is closed.
class Paper {
 public:
  Paper() : stream_(open_memstream(&bytes_, &size_)) {}
  std::FILE* stream() const { return stream_; }
  std::string close() {
    std::fclose(stream_);
    std::string text(bytes_, size_);
    std::free(bytes_);
    return text;
  }

 private:
  char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_;
};

/// A folder of its own with a small table of two jobs, in which verbs are run.
class Session {
 public:
  Session()
      : folder_(std::filesystem::path(testing::TempDir()) / "stint_validate_verbs_test" /
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::string text = "model,gpus_per_node,num_nodes,num_gpus,batch_per_gpu,step_time_s\n";
    for (const char* job : {"a", "b"}) {
      for (const auto& [vms, workers] : {std::pair{1, 1}, {1, 4}, {2, 2}, {2, 8}, {4, 16}}) {
        const double time = 0.08 + 0.002 * (workers - 1) + 0.04 * (vms - 1);
        text += fmt::format("{},,{},{},32,{:.4f}\n", job, vms, workers, time);
      }
    }
    table_ = file("table.csv", text);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string file(const std::string& name, std::string_view bytes) const {
    EXPECT_TRUE(write_file(path(name), bytes).ok());
    return path(name);
  }

  /// `stint PATH… --format pollux --train table.csv` with more words.
  Answer answer(std::vector<std::string> path, const std::vector<std::string>& more) const {
    path.insert(path.end(), {"--format", "pollux", "--train", table_});
    path.insert(path.end(), more.begin(), more.end());
    return run(path);
  }

  static Answer run(const std::vector<std::string>& words) {
    const std::vector<Verb> verbs = validate_verbs();
    auto parsed = parse(verbs, words);
    if (!parsed.ok()) return {.code = exit_code(parsed.error()), .err = parsed.error().message};
    Paper out;
    Paper err;
    parsed->invocation.out = out.stream();
    parsed->invocation.err = err.stream();
    const int code = parsed->verb->run(parsed->invocation);
    return {.code = code, .out = out.close(), .err = err.close()};
  }

  const std::string& table() const { return table_; }

 private:
  std::filesystem::path folder_;
  std::string table_;
};

const std::vector<std::string> kIteration = {"validate", "iteration"};

TEST(Choices, AreTheNamesOfAnEnumeration) {
  EXPECT_EQ(choices_of<StepFormat>(),
            (std::vector<std::string>{"pollux", "gavel", "nvidia", "cmdare", "stint"}));
  for (const std::string& name : choices_of<StepFormat>()) {
    EXPECT_EQ(name_of(enumerator<StepFormat>(name)), name);
  }
}

TEST(ValidateIterationVerb, PrintsATableAndSaysWhatAnErrorIs) {
  const Session session;
  const Answer answer = session.answer(kIteration, {"--split", "max-gpus=4"});
  EXPECT_EQ(answer.code, kExitOk) << answer.err;
  EXPECT_TRUE(answer.out.starts_with("job ")) << answer.out;
  EXPECT_NE(answer.out.find("\nall rows "), std::string::npos) << answer.out;
  EXPECT_TRUE(answer.err.starts_with("Error = ")) << answer.err;
}

TEST(ValidateIterationVerb, QuietPrintsOnlyTheTable) {
  const Session session;
  EXPECT_EQ(session.answer(kIteration, {"--split", "leave-one-job-out", "-q"}).err, "");
}

TEST(ValidateIterationVerb, JsonIsAValidationOfOurs) {
  const Session session;
  const Answer answer = session.answer(kIteration, {"--split", "max-gpus=4", "-o", "json"});
  const auto read = read_validation(answer.out, "output");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->noun.overall.n, 4);
  EXPECT_EQ(read->noun.split, "max-gpus=4");
  EXPECT_FALSE(read->noun.baseline.has_value());
  EXPECT_EQ(answer.err, "");
}

TEST(ValidateIterationVerb, JsonIsOfTheFirstBaselineWhenThereIsOne) {
  const Session session;
  const Answer answer = session.answer(
      kIteration, {"--split", "max-gpus=4", "--baseline", "perfect,scavenger", "-o", "json"});
  const auto read = read_validation(answer.out, "output");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->noun.baseline, "perfect");
}

TEST(ValidateIterationVerb, SaysWhereThePredictionsAre) {
  const Session session;
  const std::string path = session.path("out.csv");
  const Answer answer =
      session.answer(kIteration, {"--test", session.table(), "--predictions", path});
  EXPECT_EQ(answer.code, kExitOk);
  EXPECT_NE(answer.err.find("Wrote the predictions to " + path + "."), std::string::npos)
      << answer.err;
  EXPECT_TRUE(read_file(path)->starts_with("row,predicted,p10,p90,note\n0,"));
}

TEST(ValidateIterationVerb, TakesSeveralFiles) {
  const Session session;
  const Answer answer = session.answer(
      kIteration, {session.table(), "--test", session.table(), session.table(), "-o", "json"});
  const auto read = read_validation(answer.out, "output");
  ASSERT_TRUE(read.ok()) << answer.err;
  EXPECT_EQ(read->noun.overall.n, 20);
}

TEST(ValidateIterationVerb, OptionsOfOtherFormatsAreRefused) {
  const Session session;
  const auto complaint = [&](const std::string& option, const std::string& value) {
    return Session::run({"validate", "iteration", "--format", "mlperf", "--train", session.table(),
                         "--split", "smallest=1", option, value})
        .err;
  };
  EXPECT_EQ(complaint("--probes", "4"),
            "stint validate iteration: --probes does not apply to --format mlperf\n");
  EXPECT_EQ(complaint("--baseline", "scavenger"),
            "stint validate iteration: --baseline scavenger does not apply to --format mlperf; it "
            "has perfect, constant-step, amdahl\n");
}

TEST(ValidateIterationVerb, ErrorsHaveTheirExitCodes) {
  const Session session;
  const auto code = [&](const std::vector<std::string>& more) {
    return session.answer(kIteration, more).code;
  };
  EXPECT_EQ(code({}), kExitUsage);
  EXPECT_EQ(code({"--split", "half"}), kExitUsage);
  EXPECT_EQ(code({"--split", "max-gpus=4", "--test", session.table()}), kExitUsage);
  EXPECT_EQ(code({"--split", "max-gpus=4", "--probes", "some"}), kExitUsage);
  EXPECT_EQ(code({"--split", "max-gpus=4", "--baseline", "magic"}), kExitUsage);
  EXPECT_EQ(code({"--test", session.path("none.csv")}), kExitBadInput);
  EXPECT_EQ(code({"--test", session.table(), "--predictions", "/proc/none/out.csv"}), kExitFailed);
  EXPECT_EQ(
      Session::run({"validate", "iteration", "--train", session.table()}).err,
      "stint validate iteration: --format is required: the format of the tables, one of "
      "pollux, gavel, nvidia, cmdare, stint, mlperf, dgxc, vtrain, llm-foundry, lucie, bloom, "
      "nanotron, fsdp-tables, morphling, sailor, nemo\n");
}

TEST(ProbesVerb, NamesRowsAndHowTheyArePlaced) {
  const Session session;
  const Answer answer = session.answer({"probes"}, {"--configs", session.table(), "-k", "5"});
  EXPECT_EQ(answer.code, kExitOk) << answer.err;
  EXPECT_EQ(answer.out,
            "job  row  workers by VM  batch per worker\n"
            "a      0  1                            32\n"
            "a      1  4                            32\n"
            "a      2  1-1                          32\n"
            "a      3  4-4                          32\n"
            "a      4  4-4-4-4                      32\n"
            "b      5  1                            32\n"
            "b      6  4                            32\n"
            "b      7  1-1                          32\n"
            "b      8  4-4                          32\n"
            "b      9  4-4-4-4                      32\n");
  EXPECT_TRUE(answer.err.starts_with("Measure these rows of ")) << answer.err;
}

TEST(ProbesVerb, JsonHasTheRowsByJob) {
  const Session session;
  const Answer answer =
      session.answer({"probes"}, {"--configs", session.table(), "--count", "2", "-o", "json"});
  const auto json = parse_json(answer.out, "output");
  ASSERT_TRUE(json.ok()) << answer.err;
  EXPECT_EQ(*json->find("schema")->as<std::string>(), "stint.probes/1");
  for (const char* job : {"a", "b"}) {
    EXPECT_EQ(json->find("rows")->find(job)->as<Json::Array>()->size(), 2U);
  }
}

TEST(ProbesVerb, SaysWhyAJobHasNone) {
  const Session session;
  const std::string configs = session.file(
      "configs.csv", "model,gpus_per_node,num_nodes,num_gpus,batch_per_gpu\nz,1-1,2,2,32\n");
  const Answer answer = session.answer({"probes"}, {"--configs", configs});
  EXPECT_EQ(answer.code, kExitOk);
  EXPECT_EQ(
      answer.err,
      "Note: no row of z was chosen: z was not measured on one worker of T4.\nThere is no setup to "
      "choose from in " +
          configs + ".\n");
}

TEST(ProbesVerb, ErrorsHaveTheirExitCodes) {
  const Session session;
  const auto code = [&](const std::vector<std::string>& more) {
    return session.answer({"probes"}, more).code;
  };
  EXPECT_EQ(code({}), kExitUsage);
  EXPECT_EQ(code({"--configs", session.table(), "-k", "0"}), kExitUsage);
  EXPECT_EQ(code({"--configs", session.table(), "-k", "two"}), kExitUsage);
  EXPECT_EQ(code({"--configs", session.path("none.csv")}), kExitBadInput);
  EXPECT_EQ(Session::run({"probes", "--format", "pollux", "--configs", session.table()}).code,
            kExitUsage);
}

}  // namespace
}  // namespace stint::cli
