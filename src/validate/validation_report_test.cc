#include "validate/validation_report.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(PredictionsCsv, LeavesUnknownCellsEmpty) {
  const std::vector<PredictionLine> lines{{.row = 0, .predicted = 0.5, .p10 = 0.25, .p90 = 1e-7},
                                          {.row = 3, .note = "no size, at all"}};
  EXPECT_EQ(predictions_csv(lines),
            "row,predicted,p10,p90,note\n0,0.5,0.25,1e-07,\n3,,,,\"no size, at all\"\n");
}

TEST(LeaveOneOut, PredictsEachKeyFromTheOthers) {
  const std::vector<std::string> keys{"b", "a", "b"};
  const auto folds = leave_one_out(keys);
  ASSERT_EQ(folds.size(), 2U);
  EXPECT_EQ(folds[0].test, (std::vector<std::size_t>{1}));
  EXPECT_EQ(folds[0].train, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(folds[1].test, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(folds[1].train, (std::vector<std::size_t>{1}));
}

TEST(TrainThenTest, CutsAtTheEndOfTraining) {
  const Fold fold = train_then_test(2, 3);
  EXPECT_EQ(fold.train, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(fold.test, (std::vector<std::size_t>{2}));
}

TEST(ValidationFiles, AreTestFilesOrASplit) {
  EXPECT_TRUE(check_validation_files({"a"}, {"b"}, "").ok());
  EXPECT_TRUE(check_validation_files({"a"}, {}, "sizes").ok());
  EXPECT_EQ(check_validation_files({}, {"b"}, "").error().kind, ErrorKind::kUsage);
  EXPECT_FALSE(check_validation_files({"a"}, {}, "").ok());
  EXPECT_FALSE(check_validation_files({"a"}, {"b"}, "sizes").ok());
}

}  // namespace
}  // namespace stint
