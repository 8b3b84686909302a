#include "cli/render/render_probe.h"

#include <gtest/gtest.h>

namespace stint::cli {
namespace {

/// Three VMs: one sum over all of them, and three pairs, the last of which is a tenth too slow.
ProbeReport report() {
  ProbeReport report{.cluster = "3x local.small",
                     .vms = {"vm1", "vm2", "vm3"},
                     .sums = {},
                     .spread = {.repeats = 0.004, .time = 0.006, .pairs = 0.05},
                     .before = {.name = "local",
                                .date = {.year = 2026, .month = 11, .day = 1},
                                .constants = {},
                                .covariance = {},
                                .data = {},
                                .accuracy = {}},
                     .mape = 0.025};
  const auto add = [&](std::vector<int> vms, bool pair, double ratio) {
    report.sums.push_back(
        {.planned = {.vms = std::move(vms), .bytes = 5 * kMB, .pair = pair},
         .time = {.median = ratio * kSecond, .spread = 0.02 * kSecond, .count = 9},
         .bus = 12 * kMB / kSecond,
         .predicted = 1 * kSecond});
  };
  add({0, 1, 2}, false, 1.0);
  add({0, 1}, true, 1.0);
  add({1, 2}, true, 0.98);
  add({0, 2}, true, 1.1);
  return report;
}

const Date kToday{.year = 2026, .month = 11, .day = 16};

TEST(RenderProbe, SaysWhichPairsDifferAndHowOldTheCalibrationIs) {
  const std::string text = probe_text(report(), kToday, {.width = 0});
  EXPECT_NE(text.find("96 Mbit/s"), std::string::npos) << text;
  EXPECT_NE(text.find("-2.0 % (vm2-vm3) to +10.0 % (vm1-vm3)"), std::string::npos) << text;
  EXPECT_NE(text.find("0.4 % between repetitions, 0.6 % between rounds, 5.0 % between"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("local of 2026-11-01, 15 days old: mean error 2.5 %"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("folded"), std::string::npos);
}

TEST(RenderProbe, FitsTheScreen) {
  const std::string text = probe_text(report(), kToday, {.width = 80});
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 80U) << text.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(RenderProbe, TellsProgramsTheSame) {
  const Json json = probe_json(report(), kToday);
  EXPECT_EQ(*json.find("schema")->as<std::string>(), "stint.probe/1");
  EXPECT_EQ(json.find("sums")->as<Json::Array>()->size(), 4U);
  EXPECT_EQ(*json.find("calibration")->find("age_days")->as<std::int64_t>(), 15);
  EXPECT_EQ(json.find("folded_mape"), nullptr);
}

// Four sums, three of which are over pairs.
TEST(RenderProbe, AnOutlineSaysHowMuchAndHowLong) {
  ProbeOutline outline{.sums = {}, .duration = 90 * kSecond};
  for (const ProbedSum& sum : report().sums) outline.sums.push_back(sum.planned);
  const std::string text =
      outline_text(outline, {.cluster = "3x local.small", .rounds = 2, .repeats = 5}, {.width = 0});
  EXPECT_NE(text.find("4, of them 3 over pairs; each 5 times in 2 rounds"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace stint::cli
