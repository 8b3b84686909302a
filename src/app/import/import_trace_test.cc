#include "app/import/import_trace.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

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
