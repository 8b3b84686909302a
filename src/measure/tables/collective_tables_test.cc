#include "measure/tables/collective_tables.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

using Rows = std::vector<CollectiveMeasurement>;

Rows rows_of(CollectiveFormat format, const std::string& text) {
  const auto rows = read_collective_format(text, "t.csv", format);
  EXPECT_TRUE(rows.ok()) << rows.error().message;
  return rows.ok() ? *rows : Rows{};
}

std::string error_of(CollectiveFormat format, const std::string& text) {
  const auto rows = read_collective_format(text, "t.csv", format);
  EXPECT_FALSE(rows.ok());
  if (rows.ok()) return "";
  EXPECT_EQ(rows.error().kind, ErrorKind::kBadInput);
  return rows.error().message;
}

TEST(CollectiveTables, ReadsFractionsOfTheLineRate) {
  const Rows rows = rows_of(CollectiveFormat::kSimai,
                            "table,bytes,column_as_published,nodes_of_8,fraction_of_line_rate\n"
                            "nic_ratio,16777216,8Node-64GPU(NIC),8,0.13\n"
                            "ata_ratio,16777216,1 Node(NVLinkx),1,\n"
                            "nic_ratio,16777216,Multi 16,,0.86\n");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].system, "nic_ratio");
  EXPECT_EQ(rows[0].collective, "ring");
  EXPECT_EQ(rows[0].vms, 8);
  EXPECT_EQ(rows[0].workers_per_vm, 8);
  EXPECT_EQ(rows[0].payload, 16 * kMiB);
  EXPECT_EQ(rows[0].value, 0.13);
  EXPECT_EQ(rows[1].collective, "all_to_all");
  EXPECT_FALSE(rows[1].value.has_value());
  EXPECT_EQ(rows[2].system, "Multi 16");
  EXPECT_EQ(rows[2].collective, "point_to_point");
}

TEST(CollectiveTables, ReadsBusBandwidthsAndCountsWithRemarks) {
  const Rows rows =
      rows_of(CollectiveFormat::kMlEngineering,
              "gpu,nodes,gpus_per_node,network,collective,bytes,busbw_gb_s\n"
              "H200,1,8,NVLink 4,all_reduce,32768,1.44\n"
              "not stated,4 (from the plot's name),8,not stated,all_reduce,65536,2\n");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].gpu, "H200");
  EXPECT_EQ(rows[0].network, "NVLink 4");
  EXPECT_EQ(rows[0].quantity, CollectiveQuantity::kBusRate);
  EXPECT_EQ(rows[1].vms, 4);
  EXPECT_EQ(rows[1].workers_per_vm, 8);
}

// An all-gather of 2 MiB over 8 GPUs gives each 16 MiB; a reduce-scatter states what it starts
// with. A million seconds is Aceso's mark of what did not run.
TEST(CollectiveTables, ReadsAcesosSizesAndMarks) {
  const Rows rows = rows_of(CollectiveFormat::kAceso,
                            "collective,gpus,mb,time_s_median,samples\n"
                            "all_gather,8,2,0.000263,14\n"
                            "reduce_scatter,8,2,0.000199,6\n"
                            "all_reduce,2,0,0.000062,1\n"
                            "all_gather,8,1024,1000000.0,8\n");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].payload, 16 * kMiB);
  EXPECT_EQ(rows[0].stated, 2 * kMiB);
  EXPECT_EQ(rows[1].payload, 2 * kMiB);
  EXPECT_EQ(rows[2].payload, 0.25 * kMiB);
  EXPECT_FALSE(rows[3].value.has_value());
  EXPECT_EQ(rows[3].unusable, "did not fit into memory");
}

TEST(CollectiveTables, ReadsAcesosMessages) {
  const Rows rows = rows_of(CollectiveFormat::kAceso,
                            "where,mb,bandwidth_as_published\n"
                            "between nodes,1,3.88\n"
                            "inside a node,1,17.22\n");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].vms, 2);
  EXPECT_EQ(rows[0].quantity, CollectiveQuantity::kRate);
  EXPECT_EQ(rows[1].vms, 1);
  EXPECT_EQ(rows[1].workers_per_vm, 2);
  EXPECT_EQ(error_of(CollectiveFormat::kAceso, "where,mb\nhere,1\n"),
            "t.csv:2: column where: must be 'inside a node' or 'between nodes'");
}

TEST(CollectiveTables, ReadsTimesOfNcclTests) {
  const Rows vtrain =
      rows_of(CollectiveFormat::kVtrain, "gpu,gpus,bytes,type\nA100,3,1048576,float\n");
  ASSERT_EQ(vtrain.size(), 1U);
  EXPECT_EQ(vtrain[0].workers_per_vm, 3);
  EXPECT_FALSE(vtrain[0].value.has_value());
  const Rows nccl = rows_of(CollectiveFormat::kNccl,
                            "instance_type,nodes,ranks,collective,bytes,time_us_out_of_place\n"
                            "p5.48xlarge (instance type not stated),2,16,all_reduce,8,12.9\n");
  ASSERT_EQ(nccl.size(), 1U);
  EXPECT_EQ(nccl[0].vm_type, "p5.48xlarge");
  EXPECT_EQ(nccl[0].workers_per_vm, 8);
  EXPECT_EQ(nccl[0].value, 12.9);
}

TEST(CollectiveTables, RefusesOtherHeadersWithTheColumnsExpected) {
  EXPECT_EQ(error_of(CollectiveFormat::kVtrain, "gpu,bytes\nA100,1\n"),
            "t.csv: not a table of vtrain (gpu, gpus, bytes; measured: time_us_out_of_place)");
  const auto format = collective_format("gpu,bytes\n", "t.csv");
  ASSERT_FALSE(format.ok());
  EXPECT_NE(format.error().message.find("simai (table, bytes"), std::string::npos);
}

TEST(CollectiveTables, RefusesValuesThatCannotBe) {
  const std::string header = "instance_type,nodes,ranks,collective,bytes,time_us_out_of_place\n";
  EXPECT_EQ(error_of(CollectiveFormat::kNccl, header + "x,2,15,all_reduce,8,1\n"),
            "t.csv:2: column ranks: must be a multiple of 2");
  EXPECT_EQ(error_of(CollectiveFormat::kNccl, header + "x,0,15,all_reduce,8,1\n"),
            "t.csv:2: column nodes: must be a whole number of 1 or more");
  EXPECT_EQ(error_of(CollectiveFormat::kNccl, header + "x,1,8,all_reduce,0,1\n"),
            "t.csv:2: column bytes: must be a whole number of 1 or more");
  EXPECT_EQ(error_of(CollectiveFormat::kNccl, header + "x,1,8,all_reduce,8,-1\n"),
            "t.csv:2: column time_us_out_of_place: must be a number above zero, not '-1'");
  EXPECT_EQ(error_of(CollectiveFormat::kAceso, "collective,gpus,mb\nall_reduce,2,x\n"),
            "t.csv:2: column mb: must be a number of 0 or more");
}

TEST(CollectiveTables, TellsFormatsByTheirHeader) {
  for (const auto& [format, name] : names_of(CollectiveFormat{})) {
    for (const CollectiveColumns& columns : columns_of(format)) {
      std::string header;
      for (const std::string& column : columns.given) header += column + ",";
      const auto told = collective_format(header + columns.measured + "\n", "t.csv");
      ASSERT_TRUE(told.ok()) << name;
      EXPECT_EQ(*told, format) << name;
    }
  }
}

}  // namespace
}  // namespace stint
