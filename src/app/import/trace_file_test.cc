#include "app/import/trace_file.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

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
  EXPECT_NE(error_of("[{}").find("breaks off at byte 3"), std::string::npos);
  EXPECT_NE(error_of(R"([{}, {"a": tru}])").find("event 2: it is no good JSON"), std::string::npos);
}

}  // namespace
}  // namespace stint
