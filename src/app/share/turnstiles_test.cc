#include "app/share/turnstiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "base/temporary_folder.h"
#include "provider/emulated/shared_engine.h"
#include "turnstile/turnstile.h"

namespace stint {
namespace {

using testing::HasSubstr;

class TurnTraceTest : public testing::Test {
 protected:
  void note(const std::string& run, const std::string& machine, const std::string& lines) {
    ASSERT_TRUE(
        write_file(place_.path() + "/" + run + "/log/" + machine + "-turns.jsonl", lines).ok());
  }
  std::vector<std::string> folders() const { return {place_.path() + "/a", place_.path() + "/b"}; }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
};

TEST_F(TurnTraceTest, DrawsTheTurnsOfBothRunsSinceTheFirst) {
  note("a", "vm1", "{\"turn\": {\"begin_s\": 100.0, \"end_s\": 100.25}}\n");
  note("b", "vm1",
       "{\"turn\": {\"begin_s\": 100.25, \"end_s\": 100.5}}\n{\"turn\": {\"begin_s\": 10");
  const auto trace = turn_trace(folders());
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  ASSERT_TRUE(parse_json(*trace, "trace").ok());
  EXPECT_THAT(*trace, HasSubstr("vm1: a"));
  EXPECT_THAT(*trace, HasSubstr("vm1: b"));
  EXPECT_THAT(*trace, HasSubstr("\"ts\": 250000"));
  EXPECT_THAT(*trace, HasSubstr("\"dur\": 250000"));
}

TEST_F(TurnTraceTest, WithoutTurnsThereIsNothingToDraw) {
  const auto trace = turn_trace(folders());
  ASSERT_TRUE(trace.ok());
  EXPECT_TRUE(parse_json(*trace, "trace").ok());
}

TEST_F(TurnTraceTest, ALineThatIsNoTurnIsNamed) {
  note("a", "vm1", "{\"turn\": {\"begin_s\": 100.0, \"end_s\": 99}}\n");
  const auto trace = turn_trace(folders());
  ASSERT_FALSE(trace.ok());
  EXPECT_THAT(trace.error().message, HasSubstr("vm1-turns.jsonl:1: not a turn"));
}

TEST(TurnstilesTest, TellsWhoHoldsTheTurnOfEachMachine) {
  const TemporaryFolder place = std::move(*TemporaryFolder::make());
  const StintTurnOptions options{.name = "a", .order = 0, .share = 1, .patience_ns = 0};
  StintTurnMember* member = nullptr;
  char reason[200] = "";
  ASSERT_EQ(stint_turn_join(turnstile_path(place.path(), "vm10").c_str(), &options, &member, reason,
                            sizeof(reason)),
            kStintTurnOk)
      << reason;
  ASSERT_EQ(stint_turn_take(member, 1000000), kStintTurnOk);
  StintTurnMember* second = nullptr;
  ASSERT_EQ(stint_turn_join(turnstile_path(place.path(), "vm2").c_str(), &options, &second, reason,
                            sizeof(reason)),
            kStintTurnOk);
  ASSERT_TRUE(write_file(turnstile_path(place.path(), "vm3"), "no turnstile").ok());
  ASSERT_TRUE(write_file(place.path() + "/claims.json", "{}").ok());
  const std::vector<TurnstileStanding> all = turnstiles_in(place.path());
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].vm, "vm2");
  EXPECT_EQ(all[0].members[0].state, "idle");
  EXPECT_EQ(all[1].vm, "vm10");
  ASSERT_EQ(all[1].members.size(), 1u);
  EXPECT_EQ(all[1].members[0].run, "a");
  EXPECT_EQ(all[1].members[0].state, "holding");
  EXPECT_EQ(all[1].members[0].turns, 1);
  stint_turn_leave(member);
  stint_turn_leave(second);
}

TEST(TurnstilesTest, AFolderThatIsGoneHasNone) {
  EXPECT_TRUE(turnstiles_in("/nowhere/at/all").empty());
}

}  // namespace

}  // namespace stint
