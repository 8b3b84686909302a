#include "provider/agent/machine_scout.h"

#include <gtest/gtest.h>

#include "base/descriptor.h"

namespace stint {
namespace {

constexpr Seconds kPatience = 60 * kSecond;

TEST(MachineScout, ReportsFactsAndEnds) {
  const auto scout = start_scout({.interpreter = "/bin/false"});
  ASSERT_TRUE(scout.ok());
  const auto news = read_news(read_line(scout->report.get(), kPatience));
  ASSERT_TRUE(news.ok()) << news.error().message;
  ASSERT_TRUE(news->facts);
  EXPECT_GE(news->facts->processors, 1);
  EXPECT_EQ(wait_for_exit(scout->pid, kPatience), 0);
}

TEST(NoticeFilter, TellsANoticeOnceAndAgainWhenItComesEarlier) {
  NoticeFilter filter;
  const auto notice = [&](std::optional<Seconds> left, Seconds now) {
    return filter.is_news({.source = "ec2", .left = left}, now);
  };
  EXPECT_TRUE(notice({}, 0 * kSecond));
  EXPECT_FALSE(notice({}, 2 * kSecond));
  EXPECT_TRUE(notice(120 * kSecond, 4 * kSecond));
  EXPECT_FALSE(notice(118 * kSecond, 6 * kSecond));
  EXPECT_FALSE(notice(120 * kSecond, 6 * kSecond));
  EXPECT_TRUE(notice(30 * kSecond, 8 * kSecond));
  EXPECT_FALSE(notice({}, 9 * kSecond));
}

}  // namespace
}  // namespace stint
