#include "app/local/probe_network.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

Environment environment() {
  return {.data_folder = testing::TempDir() + "/probe_network_test",
          .state_folder = testing::TempDir() + "/probe_network_test",
          .home = testing::TempDir(),
          .shell = "sh",
          .charset = "UTF-8",
          .clock = std::make_shared<FixedClock>(1e9 * kSecond)};
}

// Two VMs at 100 Mbit/s, one sum of 10 MB, once after a warm-up: 10 MB / (0.96 · 12.5 MB/s) = 0.83
// s each, beside 2 s for each worker to start.
TEST(ProbeNetwork, AnOutlineTellsHowLongItTakes) {
  const auto outline = outline_probe(
      environment(), {.cluster = "2x local.small", .sizes = {10 * kMB}, .rounds = 1, .repeats = 1});
  ASSERT_TRUE(outline.ok()) << outline.error().message;
  EXPECT_EQ(outline->sums.size(), 1U);
  EXPECT_NEAR(outline->duration.in(kSecond), 4 + 2 * 0.83, 0.2);
}

TEST(ProbeNetwork, RoundsThatArePutApartTakeLonger) {
  const auto outline = outline_probe(environment(), {.cluster = "2x local.small",
                                                     .sizes = {10 * kMB},
                                                     .rounds = 3,
                                                     .repeats = 1,
                                                     .every = 100 * kSecond});
  ASSERT_TRUE(outline.ok());
  EXPECT_NEAR(outline->duration.in(kSecond), 4 + 200 + 2 * 0.83, 0.2);
}

TEST(ProbeNetwork, RefusesBeforeAnythingIsMade) {
  const auto kind = [](const ProbeRequest& request) {
    const auto report = probe_network(environment(), request, [](double /*done*/) {});
    EXPECT_FALSE(report.ok());
    return report.ok() ? ErrorKind::kFailed : report.error().kind;
  };
  EXPECT_EQ(kind({.cluster = "1x local.small"}), ErrorKind::kUsage);
  EXPECT_EQ(kind({.cluster = "2x local.none"}), ErrorKind::kUsage);
  EXPECT_EQ(kind({.cluster = "2x local.small", .calibration = "aws-tcp"}), ErrorKind::kUsage);
  EXPECT_EQ(kind({.cluster = "2x local.small", .calibration = "nothing"}), ErrorKind::kBadInput);
  EXPECT_EQ(kind({.cluster = "2x local.small", .python = "/not/there"}), ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace stint
