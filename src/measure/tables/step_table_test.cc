#include "measure/tables/step_table.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <set>

#include "base/file.h"

namespace stint {
namespace {

constexpr const char* kHeader =
    "model,table,gpus_per_node,num_nodes,num_gpus,batch_per_gpu,step_time_s,sync_time_s\n";

StepRow row_of(const std::string& line) {
  const auto rows = read_pollux_steps(kHeader + line, "a.csv");
  EXPECT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows->size(), 1U);
  return rows->front();
}

TEST(PolluxSteps, ReadsPlacements) {
  const auto rows = read_pollux_steps(
      std::string(kHeader) + "net,placements,1-2-4,3,7,32,0.5,0.1\nnet,scalability,,3,8,32,,\n",
      "a.csv");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ((*rows)[0].workers_by_vm, (std::vector<int>{1, 2, 4}));
  EXPECT_EQ(workers((*rows)[0]), 7);
  EXPECT_EQ(workers_on_fullest_vm((*rows)[0]), 4);
  EXPECT_EQ((*rows)[0].time, 0.5 * kSecond);
  EXPECT_EQ((*rows)[1].workers_by_vm, (std::vector<int>{3, 3, 2}));
  EXPECT_FALSE((*rows)[1].time.has_value());
}

TEST(PolluxSteps, MeasuredColumnsMayBeMissing) {
  const auto rows = read_pollux_steps(
      "model,gpus_per_node,num_nodes,num_gpus,batch_per_gpu\nnet,2,1,2,32\n", "a.csv");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_FALSE((*rows)[0].time.has_value());
}

TEST(PolluxSteps, ATimeThatCannotBeLeavesTheRowToBePredicted) {
  const auto reason = [](const std::string& times) {
    const StepRow row = row_of("net,x,1,1,1,32," + times + "\n");
    EXPECT_EQ(row.unusable, "");
    EXPECT_FALSE(row.time.has_value());
    return row.unmeasured;
  };
  EXPECT_EQ(reason("0,0"), "column step_time_s: must be above zero, not 0");
  EXPECT_EQ(reason("-1,0"), "column step_time_s: must be above zero, not -1");
  EXPECT_EQ(reason("nan,0"), "column step_time_s: must be a number of seconds, not 'nan'");
  EXPECT_EQ(reason("1,-1"), "column sync_time_s: must be zero or more, not -1");
  EXPECT_EQ(reason(","), "");
}

TEST(PolluxSteps, SaysWhyARowIsOfNoUse) {
  const auto reason = [](const std::string& line) { return row_of(line).unusable; };
  EXPECT_EQ(reason("net,x,1-1,1,1,32,1,0\n"),
            "column gpus_per_node: '1-1' is not 1 GPUs on 1 nodes");
  EXPECT_EQ(reason("net,x,1-x,2,2,32,1,0\n"),
            "column gpus_per_node: '1-x' is not of the form 1-2-4");
  EXPECT_NE(reason("net,x,2147483647-2147483647-3,3,1,32,1,0\n"), "");
  EXPECT_EQ(reason("net,x,,4,2,32,1,0\n"), "column num_nodes: 4 nodes cannot hold 2 GPUs");
  EXPECT_EQ(reason("net,x,1,1,1,0,1,0\n"),
            "column batch_per_gpu: must be a whole number from 1 to 16777216, not '0'");
  EXPECT_EQ(reason(",x,1,1,1,32,1,0\n"), "column model: must not be empty");
}

TEST(PolluxSteps, RowsKnowTheirLine) {
  const auto rows =
      read_pollux_steps(std::string(kHeader) + "\na,x,1,1,1,32,1,0\nb,x,1,1,1,32,1,0\n", "a.csv");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ((*rows)[0].line, 3);
  EXPECT_EQ((*rows)[1].line, 4);
}

TEST(PolluxSteps, ReadsThePublishedTable) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set";
  const std::string path = std::string(data) + "/pollux/step_times.csv";
  const auto rows = read_pollux_steps(*read_file(path), path);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  std::set<std::string> jobs;
  for (const StepRow& row : *rows) {
    EXPECT_EQ(row.unusable + row.unmeasured, "") << row.line;
    jobs.insert(row.job);
  }
  EXPECT_GT(rows->size(), 2000U);
  EXPECT_EQ(jobs.size(), 6U);
}

}  // namespace
}  // namespace stint
