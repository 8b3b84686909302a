#include "measure/tables/epoch_targets.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

constexpr const char* kHead = "dataset,network,batch,optimizer,learning_rate,run,target_metric";

TEST(EpochTargets, ReadsEpochsAndWhatWasNeverReached) {
  const auto rows = read_epoch_targets(std::string(kHead) +
                                           ",epochs\n"
                                           "cifar100,shufflenetv2,8,adadelta,1e-1,1,0.4,5\n"
                                           "cifar100,shufflenetv2,8,adadelta,1e-1,1,0.9,nan\n",
                                       "t.csv", Measured::kRequired);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ(rows->at(0).workload, "cifar100 shufflenetv2 adadelta");
  EXPECT_EQ(rows->at(0).batch, 8);
  EXPECT_DOUBLE_EQ(rows->at(0).target, 0.4);
  EXPECT_EQ(rows->at(0).epochs, 5);
  EXPECT_TRUE(rows->at(1).never_reached);
  EXPECT_FALSE(rows->at(1).epochs.has_value());
}

TEST(EpochTargets, MeasuredCellsMayBeMissing) {
  const auto rows = read_epoch_targets(std::string(kHead) + "\nm,ncf,32,adam,1e-3,1,0.4\n", "t.csv",
                                       Measured::kOptional);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_FALSE(rows->at(0).epochs.has_value());
  EXPECT_FALSE(rows->at(0).never_reached);
}

TEST(EpochTargets, RefusesWhatIsNoNumber) {
  const auto message = [](const std::string& line) {
    const auto rows = read_epoch_targets(std::string(kHead) + ",epochs\n" + line + "\n", "t.csv",
                                         Measured::kRequired);
    return rows.ok() ? "" : rows.error().message;
  };
  EXPECT_NE(message("m,ncf,0,adam,1,1,0.4,5").find("batch"), std::string::npos);
  EXPECT_NE(message("m,ncf,1,adam,1,1,x,5").find("target_metric"), std::string::npos);
  EXPECT_NE(message("m,ncf,1,adam,1,1,0.4,0").find("epochs"), std::string::npos);
  EXPECT_NE(message("m,,1,adam,1,1,0.4,5").find("network"), std::string::npos);
}

}  // namespace
}  // namespace stint
