#include "app/import/import_cases.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

constexpr const char* kText =
    "#  Rank  0 Pid  11 on  node-a device  0 [0x10] NVIDIA A100\n"
    "#  Rank  1 Pid  12 on  node-b device  0 [0x10] NVIDIA A100\n"
    "1048576 262144 float sum -1 100.0 10.49 10.49 0 99.0 10.59 10.59 0\n";

TEST(ImportNccl, WritesOneTableOfAllFiles) {
  const std::string folder = testing::TempDir() + "import_nccl_test/";
  ASSERT_TRUE(write_file(folder + "a.txt", kText).ok());
  const auto table = import_nccl({.files = {folder + "a.txt", folder + "a.txt"},
                                  .vm = "p4d.24xlarge",
                                  .out = folder + "rows.csv"});
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(table->rows.size(), 2U);
  const auto text = read_file(folder + "rows.csv");
  ASSERT_TRUE(text.ok());
  const auto rows = read_collective_table(*text, "rows.csv");
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ((*rows)[1].cluster, "p4d.24xlarge");
  EXPECT_EQ((*rows)[1].vms, 2);
  std::filesystem::remove_all(folder);
}

TEST(ImportNccl, NeedsAFile) {
  EXPECT_EQ(import_nccl({}).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(import_nccl({.files = {"/nowhere"}}).error().kind, ErrorKind::kBadInput);
}

std::string path_of(const std::string& name) { return testing::TempDir() + name; }

/// What reading a file of these bytes says.
std::string error_of(const std::string& bytes) {
  const std::string path = path_of("trace_file_test.json");
  EXPECT_TRUE(write_file(path, bytes).ok());
  const auto trace = read_trace_file(path);
  std::filesystem::remove(path);
  return trace.ok() ? std::string() : trace.error().message;
}

TEST(TraceFile, ReadsEventsAndHeader) {
  const std::string path = path_of("trace_file_test_whole.json");
  ASSERT_TRUE(write_file(path, R"({"traceEvents": [
      {"name": "ProfilerStep#1", "ph": "X", "ts": 0, "dur": 9},
      {"name": "autograd::engine::evaluate_function: X", "ph": "X", "ts": 3, "dur": 4}],
      "distributedInfo": {"rank": 1, "world_size": 2}})")
                  .ok());
  const auto trace = read_trace_file(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->events, 2U);
  EXPECT_EQ(trace->header.rank, 1);
  ASSERT_EQ(trace->found.iterations.size(), 1U);
  EXPECT_NEAR(trace->found.iterations[0].backward->in(kMicrosecond), 4, 1e-9);
}

TEST(TraceFile, SaysWhatIsWrong) {
  EXPECT_NE(read_trace_file("/nowhere/t.json").error().message.find("No such file"),
            std::string::npos);
  EXPECT_NE(read_trace_file("/").error().message.find("cannot read /"), std::string::npos);
  EXPECT_NE(error_of("").find("is empty"), std::string::npos);
  EXPECT_NE(error_of("[{}").find("ends at byte 3"), std::string::npos);
  EXPECT_NE(error_of(R"([{}, {"a": tru}])").find("event 2: invalid JSON"), std::string::npos);
}

constexpr const char* kTrace = R"([
    {"name": "ProfilerStep#1", "ph": "X", "ts": 0, "dur": 100},
    {"name": "autograd::engine::evaluate_function: X", "ph": "X", "ts": 30, "dur": 40}])";

class ImportTrace : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "import_trace_test/";
    ASSERT_TRUE(write_file(file(), kTrace).ok());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file() const { return folder_ + "mlp.pt.trace.json"; }
  std::string out() const { return folder_ + "job.json"; }

 private:
  std::string folder_;
};

TEST(GpuCalled, FindsTheCataloguesName) {
  const std::vector<std::string> names{"T4",        "T4G",           "A100-40GB-SXM",
                                       "V100-PCIe", "A100-80GB-SXM", "V100-SXM2",
                                       "A10",       "V100-SXM2-32GB"};
  EXPECT_EQ(gpu_called("Tesla T4", names), "T4");
  EXPECT_EQ(gpu_called("NVIDIA A100-SXM4-40GB", names), "A100-40GB-SXM");
  EXPECT_EQ(gpu_called("Tesla V100-SXM2-16GB", names), "V100-SXM2");
  EXPECT_EQ(gpu_called("Tesla V100-SXM2-32GB", names), "V100-SXM2-32GB");
  EXPECT_EQ(gpu_called("NVIDIA H100 80GB HBM3", names), "");
  EXPECT_EQ(gpu_called("", names), "");
}

TEST_F(ImportTrace, WritesAProfileThatCanBeRead) {
  const auto profile = import_trace(
      {},
      {.files = {file()}, .hints = {.batch_per_worker = 8, .gradients = 4 * kMB}, .out = out()});
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  const auto text = read_file(out());
  ASSERT_TRUE(text.ok());
  const auto job = read_job(*text, out());
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->noun.name, "mlp");
  EXPECT_NEAR(job->noun.compute[0].backward.median.in(kMicrosecond), 40, 1e-9);
  EXPECT_NEAR(job->noun.compute[0].forward.median.in(kMicrosecond), 30, 1e-9);
}

TEST_F(ImportTrace, SaysWhatAProfileLacks) {
  const auto profile = import_trace({}, {.files = {file()}, .out = out()});
  ASSERT_FALSE(profile.ok());
  EXPECT_NE(profile.error().message.find("--gradients '100 MB' and --batch 32"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(out()));
  EXPECT_TRUE(import_trace({}, {.files = {file()}}).ok());
}

TEST_F(ImportTrace, NeedsAFile) {
  EXPECT_EQ(import_trace({}, {}).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(import_trace({}, {.files = {"/nowhere"}}).error().kind, ErrorKind::kBadInput);
}

}  // namespace

}  // namespace stint
