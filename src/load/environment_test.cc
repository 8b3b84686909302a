#include "load/environment.h"

#include <gtest/gtest.h>
#include <map>

namespace stint {
namespace {

/// The environment that a process with only these variables sees.
Result<Environment> with(const std::map<std::string, std::string>& set) {
  return environment_from([&](const char* name) {
    const auto found = set.find(name);
    return found == set.end() ? "" : found->second;
  });
}

TEST(Environment, DataGoesBelowXdgDataHome) {
  const auto environment = with({{"HOME", "/home/ann"}, {"XDG_DATA_HOME", "/data"}});
  EXPECT_EQ(environment->data_folder, "/data/stint");
  EXPECT_EQ(environment->home, "/home/ann");
}

TEST(Environment, WithoutXdgDataHomeDataGoesBelowHome) {
  EXPECT_EQ(with({{"HOME", "/home/ann"}})->data_folder, "/home/ann/.local/share/stint");
}

TEST(Environment, ARelativeXdgDataHomeIsIgnored) {
  const auto environment = with({{"HOME", "/home/ann"}, {"XDG_DATA_HOME", "data"}});
  EXPECT_EQ(environment->data_folder, "/home/ann/.local/share/stint");
  EXPECT_EQ(with({{"XDG_DATA_HOME", "data"}})->data_folder, std::nullopt);
}

TEST(Environment, WithoutAnyHomeThereIsNoPlaceForData) {
  EXPECT_EQ(with({})->data_folder, std::nullopt);
}

TEST(Environment, WhatIsRememberedGoesBelowXdgStateHome) {
  EXPECT_EQ(with({{"HOME", "/home/ann"}, {"XDG_STATE_HOME", "/state"}})->state_folder,
            "/state/stint");
  EXPECT_EQ(with({{"HOME", "/home/ann"}})->state_folder, "/home/ann/.local/state/stint");
  EXPECT_EQ(with({})->state_folder, std::nullopt);
}

TEST(Environment, TheShellIsTheLastPartOfItsPath) {
  EXPECT_EQ(with({{"SHELL", "/usr/bin/zsh"}})->shell, "zsh");
  EXPECT_EQ(with({{"SHELL", "fish"}})->shell, "fish");
  EXPECT_EQ(with({})->shell, "");
}

TEST(Environment, TheLocaleIsTheFirstOfLcAllLcCtypeAndLang) {
  EXPECT_EQ(with({{"LANG", "en_GB.UTF-8"}})->charset, "UTF-8");
  EXPECT_EQ(with({{"LANG", "en_GB.UTF-8"}, {"LC_CTYPE", "de_DE.ISO-8859-1"}})->charset,
            "ISO-8859-1");
  EXPECT_EQ(with({{"LC_CTYPE", "de_DE.ISO-8859-1"}, {"LC_ALL", "C.utf8"}})->charset, "utf8");
  EXPECT_EQ(with({{"LC_ALL", "C"}, {"LANG", "en_GB.UTF-8"}})->charset, "");
  EXPECT_EQ(with({})->charset, "");
}

TEST(Environment, TheClockIsTheComputersUnlessItIsStopped) {
  EXPECT_NE(dynamic_cast<const SystemClock*>(with({})->clock.get()), nullptr);
  EXPECT_NE(dynamic_cast<const FixedClock*>(with({{"STINT_NOW", "2026-11-15"}})->clock.get()),
            nullptr);
}

// 2026-01-01 is day 56 * 365 + 14 leap days = 20454, 15 November the 319th day of that year:
// 20454 + 318 = 20772 days. 13:30:05 is 13 * 3600 + 30 * 60 + 5 = 48605 seconds more.
TEST(Environment, StintNowStopsTheClock) {
  EXPECT_DOUBLE_EQ(with({{"STINT_NOW", "1970-01-01"}})->clock->now().in(kSecond), 0);
  EXPECT_DOUBLE_EQ(with({{"STINT_NOW", "2026-11-15"}})->clock->now().in(kDay), 20772);
  const auto environment = with({{"STINT_NOW", "2026-11-15T13:30:05Z"}});
  EXPECT_DOUBLE_EQ((environment->clock->now() - 20772 * kDay).in(kSecond), 48605);
}

TEST(Environment, ABadStintNowIsAUsageErrorThatQuotesIt) {
  for (const char* wrong :
       {"yesterday", "2026", "2026-11", "2026-02-30", "2026-11-15 ", "2026-11-15T13Z",
        "2026-11-15 13:00:00Z", "2026-11-15T13:00:00", "2026-11-15T13:00:00+01:00",
        "2026-11-15Tab:00:00Z", "20261115T130000Z"}) {
    const auto environment = with({{"STINT_NOW", wrong}});
    ASSERT_FALSE(environment.ok()) << wrong;
    EXPECT_EQ(environment.error().kind, ErrorKind::kUsage);
    const std::string& message = environment.error().message;
    EXPECT_NE(message.find("STINT_NOW is '" + std::string(wrong) + "'"), std::string::npos);
    EXPECT_NE(message.find("2026-11-15T00:00:00Z"), std::string::npos) << message;
  }
}

TEST(Environment, ABadStintNowIsQuotedSafely) {
  const auto environment = with({{"STINT_NOW", "\x1b[31m"}});
  ASSERT_FALSE(environment.ok());
  EXPECT_EQ(environment.error().message.find('\x1b'), std::string::npos);
}

TEST(Environment, RefusesAnHourThatNoClockShows) {
  const auto result = environment_from([](const char* name) {
    return std::string(name) == "STINT_NOW" ? "2026-11-15T99:00:00Z" : "";
  });
  EXPECT_FALSE(result.ok());
}

TEST(Environment, ShowsUtf8UnlessALocaleSaysOtherwise) {
  const auto shows = [](const std::map<std::string, std::string>& set) {
    return shows_utf8([&](const char* name) {
      const auto found = set.find(name);
      return found == set.end() ? "" : found->second;
    });
  };
  EXPECT_TRUE(shows({}));
  EXPECT_TRUE(shows({{"LANG", "en_US.utf8"}}));
  EXPECT_TRUE(shows({{"LC_CTYPE", "de_DE.UTF-8@euro"}, {"LANG", "C"}}));
  EXPECT_FALSE(shows({{"LC_ALL", "C"}, {"LANG", "en_US.UTF-8"}}));
  EXPECT_FALSE(shows({{"LANG", "de_DE.ISO-8859-1"}}));
}

}  // namespace
}  // namespace stint
