#include "risk/save_cost.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/file.h"

namespace stint {
namespace {

// Four VMs at 1 GB/s with 8 GB of state that is copied in 2 s.
SaveSetup setup_to(CheckpointPlace place) {
  return {.bytes = 8 * kGB,
          .senders = 4,
          .workers = 4,
          .sender_nic = 1 * kGB / kSecond,
          .place = place,
          .store = {.latency = 3 * kSecond, .rate = 0.1 * kGB / kSecond},
          .receivers = 2,
          .receiver_nic = 1 * kGB / kSecond,
          .network_latency = 1 * kMillisecond,
          .copy = 2 * kSecond};
}

// Rank 0 sends 8 GB at the store's 0.1 GB/s: 80 s after 3 s; each VM reads them as fast.
TEST(SaveCost, OfAnObjectStoreIsThatOfRankZero) {
  const SaveCost cost = save_cost(setup_to(CheckpointPlace::kObjectStore));
  EXPECT_NEAR(cost.stall.in(kSecond), 2, 1e-9);
  EXPECT_NEAR(cost.transfer.in(kSecond), 83, 1e-9);
  EXPECT_NEAR(cost.until_safe().in(kSecond), 85, 1e-9);
  EXPECT_NEAR(cost.restore.in(kSecond), 85, 1e-9);
}

// Four VMs write 2 GB each at 0.1 GB/s: 20 s.
TEST(SaveCost, OfShardsIsDividedByTheSenders) {
  SaveSetup setup = setup_to(CheckpointPlace::kObjectStore);
  setup.sharded = true;
  EXPECT_NEAR(save_cost(setup).transfer.in(kSecond), 23, 1e-9);
  setup.sender_nic = 0.05 * kGB / kSecond;  // Slower than the store: 40 s.
  EXPECT_NEAR(save_cost(setup).transfer.in(kSecond), 43, 1e-9);
}

// One NIC of 1 GB/s takes 8 GB in 8 s, and gives 4 · 8 GB in 32 s.
TEST(SaveCost, OfAnAnchorIsLimitedByItsNic) {
  const SaveCost cost = save_cost(setup_to(CheckpointPlace::kAnchor));
  EXPECT_NEAR(cost.transfer.in(kSecond), 8.001, 1e-9);
  EXPECT_NEAR(cost.restore.in(kSecond), 34.001, 1e-9);
}

// Two receivers take 2 GB/s; with eight, the four senders' 4 GB/s decide.
TEST(SaveCost, OfATierFallsUntilTheSendersLimitIt) {
  SaveSetup setup = setup_to(CheckpointPlace::kTier);
  EXPECT_NEAR(save_cost(setup).transfer.in(kSecond), 4.001, 1e-9);
  setup.receivers = 8;
  EXPECT_NEAR(save_cost(setup).transfer.in(kSecond), 2.001, 1e-9);
}

TEST(SaveCost, BlocksForTheTransferWhereItIsNotAsynchronous) {
  SaveSetup setup = setup_to(CheckpointPlace::kTier);
  const SaveCost beside = save_cost(setup);
  setup.asynchronous = false;
  const SaveCost blocking = save_cost(setup);
  EXPECT_EQ(blocking.stall, beside.until_safe());
  EXPECT_EQ(blocking.transfer, Seconds());
  EXPECT_EQ(blocking.restore, beside.restore);
}

// 0.1081 s + 106.3 MB / 53.15 MB/s.
TEST(SaveCost, CopiesAtTheMeasuredRateWhereTheJobDoesNotSay) {
  SaveSetup setup = setup_to(CheckpointPlace::kTier);
  setup.bytes = 106.3 * kMB;
  setup.copy = {};
  EXPECT_NEAR(save_cost(setup).stall.in(kSecond), 2.1081, 1e-9);
}

// 64 GB in 16 shards of 4 GB over PCIe 4.0 x16, of which copies reach 0.8 · 32 GB/s: 4/25.6 =
// 0.15625 s. The upload is 16 connections of 0.1 GB/s, 40 s after 3 s, and none of training's time.
// Back on a device all 64 GB take 2.5 s, after 160 s at the four connections of a VM.
TEST(SaveCost, OfShardsStallsForTheCopyOfOneShard) {
  const HostCopy copy{
      .latency = 0.1 * kSecond, .link_share = 0.8, .rate_unknown = 10 * kGB / kSecond};
  const Gpu gpu{.name = "A100", .pcie = "4.0 x16"};
  SaveSetup setup = setup_to(CheckpointPlace::kObjectStore);
  setup.bytes = 64 * kGB;
  setup.workers = 16;
  setup.sharded = true;
  setup.copy.reset();
  setup.copy_line = copy_line(copy, &gpu);
  const SaveCost cost = save_cost(setup);
  EXPECT_NEAR(cost.stall.in(kSecond), 0.25625, 1e-9);
  EXPECT_NEAR(cost.transfer.in(kSecond), 43, 1e-9);
  EXPECT_NEAR(cost.restore.in(kSecond), 163 + 2.6, 1e-9);
  // The NICs of four VMs limit the upload where they are slower than the connections.
  setup.sender_nic = 0.2 * kGB / kSecond;
  EXPECT_NEAR(save_cost(setup).transfer.in(kSecond), 83, 1e-9);
}

TEST(CopyLine, IsThatOfTheHostLink) {
  const HostCopy copy{.latency = 1 * kSecond, .link_share = 0.5, .rate_unknown = 3 * kGB / kSecond};
  const Gpu third{.name = "T4", .pcie = "3.0 x16"};
  const Gpu other{.name = "GH200", .pcie = "NVLink-C2C"};
  EXPECT_NEAR(copy_line(copy, &third).rate.in(kGB / kSecond), 8, 1e-9);
  EXPECT_NEAR(copy_line(copy, &other).rate.in(kGB / kSecond), 3, 1e-9);
  EXPECT_NEAR(copy_line(copy, nullptr).rate.in(kGB / kSecond), 3, 1e-9);
}

TEST(ReceiversNeeded, AreAsManyAsTheSendersFill) {
  EXPECT_EQ(receivers_needed(4, 1 * kGB / kSecond, 1 * kGB / kSecond), 4);
  EXPECT_EQ(receivers_needed(4, 10 * kGbit / kSecond, 25 * kGbit / kSecond), 2);
  EXPECT_EQ(receivers_needed(1, 1 * kGbit / kSecond, 25 * kGbit / kSecond), 1);
  SaveSetup setup = setup_to(CheckpointPlace::kTier);
  setup.receiver_nic = 0.3 * kGB / kSecond;
  setup.receivers = receivers_needed(setup.senders, setup.sender_nic, setup.receiver_nic);
  const Seconds enough = save_cost(setup).transfer;
  --setup.receivers;
  EXPECT_GT(save_cost(setup).transfer, enough);
  setup.receivers += 2;
  EXPECT_EQ(save_cost(setup).transfer, enough);
}

TEST(SpotNotice, DecidesWhetherASaveFits) {
  const SaveCost save = save_cost(setup_to(CheckpointPlace::kObjectStore));  // 85 s.
  EXPECT_TRUE(fits_in_notice(save, *spot_notice("aws")));
  EXPECT_FALSE(fits_in_notice(save, *spot_notice("gcp")));
  EXPECT_FALSE(fits_in_notice(save, *spot_notice("azure")));
  EXPECT_FALSE(spot_notice("elsewhere").has_value());
}

struct Save {
  double megabytes = 0;
  double seconds = 0;
};

SaveLine least_squares(const std::vector<Save>& saves) {
  const double n = static_cast<double>(saves.size());
  double x = 0;
  double y = 0;
  double xx = 0;
  double xy = 0;
  for (const Save& save : saves) {
    x += save.megabytes;
    y += save.seconds;
    xx += save.megabytes * save.megabytes;
    xy += save.megabytes * save.seconds;
  }
  const double slope = (n * xy - x * y) / (n * xx - x * x);
  return {(y - slope * x) / n * kSecond, 1 / slope * kMB / kSecond};
}

void expect_line(const SaveLine& line, double seconds, double megabytes_per_second) {
  EXPECT_NEAR(line.latency.in(kSecond), seconds, 5e-4);
  EXPECT_NEAR(line.rate.in(kMB / kSecond), megabytes_per_second, 0.01);
}

TEST(SaveCost, TakesItsLinesFromThePublishedSaves) {
  const char* data = std::getenv("STINT_DATA");
  if (data == nullptr) GTEST_SKIP() << "STINT_DATA is not set.";
  const std::string file = std::string(data) + "/cmdare/checkpoint_time.csv";
  const auto text = read_file(file);
  ASSERT_TRUE(text.ok());
  const auto table = Csv::parse(*text, file);
  ASSERT_TRUE(table.ok());
  std::vector<Save> local;
  std::vector<Save> remote;
  std::vector<Save> way;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const auto number = [&](const char* column) {
      return std::stod(std::string(table->cell(row, column)));
    };
    local.push_back({number("checkpoint_MB"), number("local_write_s")});
    remote.push_back({number("checkpoint_MB"), number("remote_write_s")});
    way.push_back({remote.back().megabytes, remote.back().seconds - local.back().seconds});
  }
  ASSERT_EQ(local.size(), 60U);
  expect_line(least_squares(local), kHostCopyMeasured.latency.in(kSecond),
              kHostCopyMeasured.rate.in(kMB / kSecond));
  expect_line(least_squares(way), kObjectStoreMeasured.latency.in(kSecond),
              kObjectStoreMeasured.rate.in(kMB / kSecond));
  expect_line(least_squares(remote), 3.208, 28.45);
}

}  // namespace
}  // namespace stint
