#include "base/date.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

TEST(Date, RoundTripsDaysAndMonths) {
  EXPECT_EQ(to_text(*parse_date("2026-07-20")), "2026-07-20");
  EXPECT_EQ(to_text(*parse_date("2025-07")), "2025-07");
}

TEST(Date, RefusesWhatIsNoDate) {
  for (const char* text : {"", "2026", "2026-13", "2026-02-30", "2026-00", "2026-01-00", "26-01-01",
                           "2026/01/01", "2026-1-1", "2026-01-01T00"}) {
    EXPECT_FALSE(parse_date(text).ok()) << text;
  }
}

// 2026 is not a leap year: 31 days of January and 28 of February.
TEST(Date, CountsDays) {
  EXPECT_EQ(days_between(*parse_date("2026-01-01"), *parse_date("2026-03-01")), 59);
  EXPECT_EQ(days_between(*parse_date("2026-01"), *parse_date("2026-01-15")), 14);
}

// Unix time 1,784,505,600 is 2026-07-20T00:00:00Z: 20,654 days.
TEST(Date, FollowsTheClock) {
  EXPECT_EQ(to_text(date_at(20654 * kDay)), "2026-07-20");
  EXPECT_EQ(to_text(date_at(20655 * kDay - 1 * kSecond)), "2026-07-20");
  EXPECT_EQ(to_text(date_at(Seconds{})), "1970-01-01");
}

// The day of the test above, and 18 hours, 30 minutes and 5 seconds.
TEST(Date, ReadsMoments) {
  EXPECT_DOUBLE_EQ(parse_instant("2026-07-20")->in(kDay), 20654);
  EXPECT_DOUBLE_EQ((*parse_instant("2026-07-20T18:30Z") - 20654 * kDay).in(kMinute), 1110);
  EXPECT_DOUBLE_EQ((*parse_instant("2026-07-20T18:30:05Z") - 20654 * kDay).in(kSecond), 66605);
}

TEST(Date, RefusesWhatIsNoMoment) {
  for (const char* text : {"", "2026-07", "2026-07-20T", "2026-07-20T18Z", "2026-07-20T18:30",
                           "2026-07-20T24:00Z", "2026-07-20T18:60Z", "2026-07-20T18:30:60Z",
                           "2026-07-20T18:30+0", "2026-02-30T18:30Z", "2026-07-20 18:30Z"}) {
    EXPECT_FALSE(parse_instant(text)) << text;
  }
}

}  // namespace
}  // namespace stint
