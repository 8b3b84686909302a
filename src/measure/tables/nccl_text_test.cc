#include "measure/tables/nccl_text.h"

#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace stint {
namespace {

constexpr const char* kHeader = "instance_type,nodes,ranks,collective,bytes,time_us_out_of_place\n";

std::string error_of(const std::string& row) {
  const auto rows = read_collective_table(kHeader + row + "\n", "a.csv");
  return rows.ok() ? "" : rows.error().message;
}

TEST(CollectiveTable, ReadsRows) {
  const auto rows =
      read_collective_table(std::string(kHeader) + "big.vm,2,16,all_reduce,4096,250\n", "a.csv");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ((*rows)[0].cluster, "big.vm");
  EXPECT_EQ((*rows)[0].vms, 2);
  EXPECT_EQ((*rows)[0].workers, 16);
  EXPECT_EQ((*rows)[0].collective, "all_reduce");
  EXPECT_EQ((*rows)[0].payload, 4 * kKiB);
  EXPECT_DOUBLE_EQ((*rows)[0].time->in(kMicrosecond), 250);
}

TEST(CollectiveTable, TheTimeMayBeMissingOrBlank) {
  const auto missing = read_collective_table(
      "instance_type,nodes,ranks,collective,bytes\na,1,8,all_reduce,8\n", "a.csv");
  ASSERT_TRUE(missing.ok()) << missing.error().message;
  EXPECT_FALSE((*missing)[0].time.has_value());
  EXPECT_EQ(error_of("a,1,8,all_reduce,8,"), "");
}

TEST(CollectiveTable, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(error_of("a,0,8,all_reduce,8,1"),
            "a.csv:2: column nodes: must be a whole number of 1 or more");
  EXPECT_EQ(error_of("a,4,2,all_reduce,8,1"),
            "a.csv:2: column ranks: must be a whole number of 4 or more");
  EXPECT_EQ(error_of("a,1,2,all_reduce,-8,1"),
            "a.csv:2: column bytes: must be a whole number of 1 or more");
  EXPECT_EQ(
      error_of("a,1,2,all_reduce,8,0"),
      "a.csv:2: column time_us_out_of_place: must be above zero, not '0'; a duration is zero or "
      "from 1e-12 s to 3650000 d");
  EXPECT_FALSE(read_collective_table("nodes,ranks\n1,1\n", "a.csv").ok());
}

TEST(CollectiveTable, ReadsThePublishedTable) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set";
  const std::string path = std::string(data) + "/nccl_aws/all_reduce.csv";
  const auto rows = read_collective_table(*read_file(path), path);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows->size(), 61U);
}

constexpr const char* kRanks = R"(# nThread 1 nGpus 1 minBytes 8 maxBytes 1048576 step: 2(factor)
#
# Using devices
#  Rank  0 Group  0 Pid  11 on     node-a device  0 [0x10] NVIDIA A100-SXM4-40GB
#  Rank  1 Group  0 Pid  12 on     node-a device  1 [0x20] NVIDIA A100-SXM4-40GB
#  Rank  2 Group  0 Pid  13 on     node-b device  0 [0x10] NVIDIA A100-SXM4-40GB
#  Rank  3 Group  0 Pid  14 on     node-b device  1 [0x20] NVIDIA A100-SXM4-40GB
#
#                                                 out-of-place            in-place
#       size   count  type  redop  root   time  algbw  busbw #wrong   time  algbw  busbw #wrong
#        (B)    (elements)               (us)  (GB/s)  (GB/s)          (us)  (GB/s)  (GB/s)
)";
// 1 MiB in 100 µs are 10.49 GB/s, and 2 · 3 / 4 of it on the bus.
constexpr const char* kLines =
    "           8       2   float   sum   -1   38.46   0.00   0.00   0   37.62   0.00   0.00   0\n"
    "     1048576  262144   float   sum   -1  100.00  10.49  15.73   0   99.00  10.59  15.89   0\n"
    "# Out of bounds values : 0 OK\n";

TEST(NcclText, ReadsATable) {
  const auto table = read_nccl_text(std::string(kRanks) + kLines, "t.txt", "p4d.24xlarge");
  ASSERT_TRUE(table.ok()) << table.error().message;
  ASSERT_EQ(table->rows.size(), 2U);
  const CollectiveRow& row = table->rows[1].row;
  EXPECT_EQ(row.cluster, "p4d.24xlarge");
  EXPECT_EQ(row.vms, 2);
  EXPECT_EQ(row.workers, 4);
  EXPECT_EQ(row.collective, "all_reduce");
  EXPECT_EQ(row.payload, 1 * kMiB);
  EXPECT_NEAR(row.time->in(kMicrosecond), 100, 1e-9);
  EXPECT_NEAR(table->rows[1].in_place->in(kMicrosecond), 99, 1e-9);
  EXPECT_TRUE(table->notes.empty());
}

TEST(NcclText, ComesBackFromTheTableItIsWrittenTo) {
  const auto table = read_nccl_text(std::string(kRanks) + kLines, "t.txt", "");
  ASSERT_TRUE(table.ok());
  const auto rows = read_collective_table(write_collective_table(table->rows), "rows.csv");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ((*rows)[0].cluster, "NVIDIA A100-SXM4-40GB");
  EXPECT_NEAR((*rows)[0].time->in(kMicrosecond), 38.46, 1e-9);
}

TEST(NcclText, ReadsLinesThatMpirunTagged) {
  std::string tagged;
  for (const std::string& line : {std::string(kRanks), std::string(kLines)}) {
    std::size_t begin = 0;
    while (begin < line.size()) {
      const std::size_t end = line.find('\n', begin);
      tagged += "[1,0]<stdout>:" + line.substr(begin, end - begin + 1);
      begin = end + 1;
    }
  }
  const auto table = read_nccl_text(tagged, "t.txt", "x");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->rows.size(), 2U);
}

// (n - 1) / n of 10 GB/s over four ranks are 7.5: half an all-reduce.
TEST(NcclText, TellsOtherCollectives) {
  const auto first = [&](const std::string& line) {
    const auto table = read_nccl_text(kRanks + line, "t.txt", "x");
    return table.ok() ? table->rows[0].row.collective : table.error().message;
  };
  EXPECT_EQ(first("1024 256 float none -1 9 10.00 7.50 0 9 10.00 7.50 0\n"), "all_gather");
  EXPECT_EQ(first("1024 256 float sum -1 9 10.00 7.50 0 9 10.00 7.50 0\n"), "reduce_scatter");
  EXPECT_EQ(first("1024 256 float none 0 9 10.00 10.00 0 9 10.00 10.00 0\n"), "unknown");
  EXPECT_EQ(first("# Collective test starting: broadcast_perf\n"
                  "1024 256 float none 0 9 10.00 10.00 0 9 10.00 10.00 0\n"),
            "broadcast");
}

TEST(NcclText, CountsWrongResultsAndLeavesThemOut) {
  const auto table = read_nccl_text(
      std::string(kRanks) + kLines + "16 4 float sum -1 40 0.00 0.00 3 40 0.00 0.00 N/A\n", "t.txt",
      "x");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->rows.size(), 2U);
  EXPECT_EQ(table->wrong, 1);
}

TEST(NcclText, ReadsSeveralRunsOfOneText) {
  const std::string run = std::string(kRanks) + kLines;
  const auto table = read_nccl_text(run + run, "t.txt", "x");
  ASSERT_TRUE(table.ok());
  ASSERT_EQ(table->rows.size(), 4U);
  EXPECT_EQ(table->rows[3].row.workers, 4);
}

TEST(NcclText, SaysWhatIsWrong) {
  const auto error = [](const std::string& text) {
    const auto table = read_nccl_text(text, "t.txt", "x");
    return table.ok() ? std::string() : table.error().message;
  };
  EXPECT_NE(error("").find("no line of results"), std::string::npos);
  EXPECT_NE(error("hello\n").find("no line of results"), std::string::npos);
  EXPECT_NE(error(kLines).find("t.txt:1: there is no '# Rank' line"), std::string::npos);
  EXPECT_NE(error(std::string(kRanks) + "8 2 float sum -1 38.46 0.00").find("it may be truncated"),
            std::string::npos);
  EXPECT_NE(error(std::string(kRanks) + "8 2 float sum -1 fast 0 0 0 1 0 0 0\n").find("the time"),
            std::string::npos);
}

}  // namespace

}  // namespace stint
