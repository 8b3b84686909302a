#include "app/import/import_nccl.h"

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

}  // namespace
}  // namespace stint
