#include "validate/sharded/validate_sharded.h"

#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/file.h"
#include "validate/sharded/validate_sharded_fixture.h"

namespace stint {
namespace {

TEST(ValidateSharded, ScoresHeldOutDepths) {
  ShardedRequest request = split_request();
  request.baselines = {ShardedBaseline::kUtilisation};
  const auto answer = validate_sharded({}, request);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->ours.overall.n, 18);
  EXPECT_LT(answer->ours.overall.mape, 0.2);
  EXPECT_TRUE(answer->ours.overall.coverage80);
  EXPECT_EQ(answer->ours.jobs.size(), 3U);
  EXPECT_EQ(answer->baselines.front().baseline, "constant-utilisation");
}

TEST(ValidateSharded, PredictsRowsWithoutMeasurements) {
  ShardedRequest request = split_request();
  request.split = "";
  request.test = {written_table("test.csv", made_up_table(false))};
  request.predictions = written_table("predictions.csv", "");
  const auto answer = validate_sharded({}, request);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->ours.overall.n, 0);
  EXPECT_EQ(answer->ours.notes.size(), 1U);
  const auto text = read_file(request.predictions);
  ASSERT_TRUE(text.ok());
  const auto csv = Csv::parse(*text, "predictions");
  ASSERT_TRUE(csv.ok());
  ASSERT_EQ(csv->rows(), 18U);
  EXPECT_FALSE(csv->cell(17, "p90").empty());
}

TEST(ValidateSharded, RefusesWhatItCannotLearnFrom) {
  ShardedRequest request = split_request();
  request.train = {written_table("blank.csv", made_up_table(false))};
  EXPECT_NE(validate_sharded({}, request).error().message.find("has a time to learn from"),
            std::string::npos);
  request = split_request();
  request.bundled = true;
  EXPECT_NE(validate_sharded({}, request).error().message.find("--calibration bundled"),
            std::string::npos);
  request = split_request();
  request.split = "max-gpus=64";
  EXPECT_NE(validate_sharded({}, request).error().message.find("no row of"), std::string::npos);
}

}  // namespace
}  // namespace stint
