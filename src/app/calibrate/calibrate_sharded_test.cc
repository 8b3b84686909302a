#include "app/calibrate/calibrate_sharded.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(CalibrateSharded, NeedsFilesWithTheirFormat) {
  Environment environment;
  environment.clock = std::make_shared<SystemClock>();
  EXPECT_EQ(calibrate_sharded(environment, {.name = "x"}).error().message,
            "--train FILE is required: the rows to learn from");
  const auto found = calibrate_sharded(environment, {.train = {"a.csv"}, .name = "x"});
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().message.find("--train must be FORMAT=FILE"), std::string::npos);
}

}  // namespace
}  // namespace stint
