#include "measure/tables/collective_table.h"

#include <cstdlib>
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
  EXPECT_EQ(error_of("a,1,2,all_reduce,8,0"),
            "a.csv:2: column time_us_out_of_place: must be more than zero, not '0'");
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

}  // namespace
}  // namespace stint
