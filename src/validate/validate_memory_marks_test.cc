#include "validate/validate_memory_marks.h"

#include <gtest/gtest.h>
#include <memory>

namespace stint {
namespace {

/// No folder of its own: the bundled catalogue alone.
Environment bare() { return {.clock = std::make_shared<FixedClock>(20772 * kDay)}; }

/// Nets of 1 GB and 50 MB a sample, alone and in pairs of equals, on devices of 12 and 16 GB.
std::vector<Mark> marks_on(const std::string& device, double memory_gb) {
  std::vector<Mark> marks;
  for (int batch = 8; batch <= 256; batch *= 2) {
    const double need_gb = 1 + 0.05 * batch;
    marks.push_back({{{"net", batch}}, device, need_gb <= memory_gb});
    marks.push_back({{{"net", batch}, {"net", batch}}, device, 2 * need_gb <= memory_gb});
  }
  return marks;
}

std::vector<Mark> both() {
  std::vector<Mark> marks = marks_on("K80", 12);
  for (const Mark& mark : marks_on("P100", 16)) marks.push_back(mark);
  return marks;
}

// Alone 256 needs 13.8 GB: too much for a K80 and not for a P100. Pairs of 128 need 14.8 GB, again
// between the two. All others are clear.
TEST(ValidateMarks, PredictsADeviceFromTheOthers) {
  const auto report = validate_marks(bare(), both(), {}, {.split = "leave-one-device-out"});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->predictions.size(), 24U);
  EXPECT_EQ(report->predictions[23].row, 23U);
  EXPECT_EQ(report->validation.overall.n, 24);
  EXPECT_EQ(report->validation.jobs.size(), 4U);
  EXPECT_GE(*report->validation.overall.accuracy, 20.0 / 24);
  ASSERT_EQ(report->beside.size(), 1U);
  EXPECT_EQ(report->beside[0].baseline, "everything-fits");
  EXPECT_DOUBLE_EQ(*report->beside[0].overall.balanced_accuracy, 0.5);
}

TEST(ValidateMarks, PredictsGivenRowsAndSaysWhyNot) {
  const std::vector<Mark> test{{{{"net", 8}}, "P100", std::nullopt},
                               {{{"net", 256}, {"net", 256}}, "P100", std::nullopt},
                               {{{"net", 8}}, "Abacus", true}};
  const auto report = validate_marks(bare(), both(), test, {});
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_EQ(report->predictions.size(), 3U);
  EXPECT_EQ(report->predictions[0].row, 0U);
  EXPECT_EQ(report->predictions[0].predicted, 1);
  EXPECT_EQ(report->predictions[1].predicted, 0);
  EXPECT_EQ(report->predictions[2].note, "the catalogue has no memory of 'Abacus'");
  EXPECT_EQ(report->validation.overall.n, 0);
  EXPECT_EQ(report->validation.overall.skipped, 1);
}

TEST(ValidateMarks, ScoresTheBaselineInstead) {
  const auto report =
      validate_marks(bare(), both(), {}, {.split = "leave-one-device-out", .plain = true});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->validation.baseline, "everything-fits");
  EXPECT_FALSE(report->beside[0].baseline.has_value());
  for (const PredictionLine& line : report->predictions) EXPECT_EQ(line.predicted, 1);
}

TEST(ValidateMarks, RefusesOtherSplitsAndNothingToLearnFrom) {
  EXPECT_EQ(validate_marks(bare(), both(), {}, {.split = "leave-one-job-out"}).error().kind,
            ErrorKind::kUsage);
  const std::vector<Mark> one{{{{"net", 8}}, "K80", true}};
  const auto alone = validate_marks(bare(), one, {}, {.split = "leave-one-device-out"});
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.error().kind, ErrorKind::kBadInput);
}

}  // namespace
}  // namespace stint
