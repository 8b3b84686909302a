#include "app/calibrate/calibrate_collectives.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>

#include "base/file.h"
#include "load/predict_inputs.h"
#include "predict/collective_law.h"

namespace stint {
namespace {

std::string file(const std::string& name, const std::string& bytes) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_calibrate_collectives";
  std::string path = (folder / name).string();
  EXPECT_TRUE(write_file(path, bytes).ok());
  return path;
}

/// 1.75 S at 220 GB/s after 40 µs.
std::string table(const std::string& header, const std::string& begin) {
  std::string text = header;
  for (double bytes = 1 << 20; bytes <= 1 << 30; bytes *= 8) {
    text += fmt::format("{}{},{}\n", begin, bytes, 40 + 1.75 * bytes / 220e3);
  }
  return text;
}

Environment environment() {
  Environment it;
  it.clock = std::make_shared<FixedClock>(0 * kSecond);
  return it;
}

TEST(CalibrateCollectives, TellsTablesByTheirHeaders) {
  const CalibrateRequest request{
      .train = {file("v.csv", table("gpu,gpus,bytes,time_us_out_of_place\n", "A100,8,")),
                file("n.csv", table("instance_type,nodes,ranks,collective,bytes,"
                                    "time_us_out_of_place\n",
                                    "p4d.24xlarge,1,8,all_reduce,"))},
      .name = "mine",
      .out = file("mine.json", "")};
  const auto calibration = calibrate_collectives(environment(), request);
  ASSERT_TRUE(calibration.ok()) << calibration.error().message;
  ASSERT_EQ(calibration->data.size(), 2U);
  EXPECT_EQ(calibration->data[0].rows, 4);
  ASSERT_EQ(calibration->accuracy.size(), 3U);
  EXPECT_EQ(calibration->accuracy.back().n, 8);
  EXPECT_EQ(calibration->accuracy.back().split, "leave-one-table-out");
  const auto kept = load_calibration(request.out);
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_TRUE(collective_law(kept->noun).ok());
}

TEST(CalibrateCollectives, RefusesOtherTables) {
  const auto other = calibrate_collectives(
      environment(), {.train = {file("other.csv", "a,b\n1,2\n")}, .name = "mine"});
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().kind, ErrorKind::kBadInput);
  const auto empty = calibrate_collectives(
      environment(), {.train = {file("empty.csv", "gpu,gpus,bytes\nA100,8,1\n")}, .name = "mine"});
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().message, "no row to learn from: the tables have no measured values");
  EXPECT_EQ(calibrate_collectives(environment(), {.name = "mine"}).error().kind, ErrorKind::kUsage);
}

// The constants that travel with the program are physical for every kind of link.
TEST(CalibrateCollectives, ShippedConstantsArePhysical) {
  const auto shipped = load_calibration("collectives");
  ASSERT_TRUE(shipped.ok()) << shipped.error().message;
  const auto law = collective_law(shipped->noun);
  ASSERT_TRUE(law.ok()) << law.error().message;
  for (const LinkLaw& link : {law->switched, law->mesh, law->pcie, law->tcp, law->rdma}) {
    EXPECT_GT(link.latency, 0.3 * kMicrosecond);
    EXPECT_LT(link.latency, 200 * kMicrosecond);
    EXPECT_GT(link.efficiency, 0.4);
    EXPECT_LE(link.efficiency, 1.1);
    EXPECT_GE(link.blend, 0.4);
    EXPECT_LE(link.blend, 1);
    EXPECT_GT(link.efficiency_deviation, 0.05);
    EXPECT_LE(link.efficiency_deviation, 1);
    EXPECT_LT(link.latency_deviation, 1.2);
  }
  EXPECT_LE(law->tree_efficiency, 1);
  EXPECT_LT(law->loss_per_doubling, 0.2);
}

}  // namespace
}  // namespace stint
