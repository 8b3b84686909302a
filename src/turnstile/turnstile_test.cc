#include "turnstile/turnstile.h"

#include <array>
#include <gtest/gtest.h>
#include <string>

#include "turnstile/turn_fixture.h"

namespace stint {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

class TurnstileTest : public testing::Test {
 protected:
  StintTurnMember* join(const char* name, std::uint32_t order = 0, std::uint32_t share = 1) {
    const StintTurnOptions options{.name = name, .order = order, .share = share, .patience_ns = 0};
    StintTurnMember* member = nullptr;
    code_ = stint_turn_join(path_.c_str(), &options, &member, reason_.data(), reason_.size());
    return member;
  }

  TurnFolder folder_;
  std::string path_ = folder_.file();
  int code_ = 0;
  std::array<char, 40> reason_{};
};

TEST_F(TurnstileTest, TheStatusTellsWhoHoldsAndWhoWaits) {
  StintTurnMember* a = join("a", 3, 2);
  StintTurnMember* b = join("b");
  StintTurnMember* c = join("c");
  ASSERT_EQ(code_, kStintTurnOk);
  EXPECT_EQ(stint_turn_take(a, kSecondNs), kStintTurnOk);
  EXPECT_EQ(stint_turn_give(a), kStintTurnOk);
  EXPECT_EQ(stint_turn_take(b, kSecondNs), kStintTurnOk);
  EXPECT_EQ(stint_turn_ask(a), kStintTurnWaiting);
  EXPECT_EQ(stint_turn_leave(c), kStintTurnOk);
  StintTurnStatus status{};
  ASSERT_EQ(stint_turn_status(path_.c_str(), &status, nullptr, 0), kStintTurnOk);
  ASSERT_EQ(status.count, 3U);
  EXPECT_EQ(status.turns, 2U);
  EXPECT_STREQ(status.members[0].name, "a");
  EXPECT_EQ(status.members[0].state, kStintTurnInQueue);
  EXPECT_EQ(status.members[0].turns, 1U);
  EXPECT_EQ(status.members[0].order, 3U);
  EXPECT_EQ(status.members[0].share, 2U);
  EXPECT_GT(status.members[0].held_ns, 0);
  EXPECT_EQ(status.members[0].waited_ns, status.members[0].since_ns);
  EXPECT_EQ(status.members[1].state, kStintTurnHolding);
  EXPECT_GT(status.members[1].since_ns, 0);
  EXPECT_EQ(status.members[1].held_ns, status.members[1].since_ns);
  EXPECT_EQ(status.members[1].process, ::getpid());
  EXPECT_EQ(status.members[2].state, kStintTurnAbsent);
  EXPECT_EQ(stint_turn_withdraw(a), kStintTurnTimedOut);
  EXPECT_EQ(stint_turn_leave(a), kStintTurnOk);
  EXPECT_EQ(stint_turn_leave(b), kStintTurnOk);
}

TEST_F(TurnstileTest, LimitsAndOffersWorkThroughTheInterface) {
  StintTurnMember* a = join("a");
  StintTurnMember* b = join("b");
  EXPECT_EQ(stint_turn_take(a, kSecondNs), kStintTurnOk);
  EXPECT_EQ(stint_turn_take(b, 0), kStintTurnTimedOut);
  EXPECT_EQ(stint_turn_ask(b), kStintTurnWaiting);
  EXPECT_EQ(stint_turn_offer(a, 0, 0), kStintTurnTimedOut);  // b has it now.
  EXPECT_EQ(stint_turn_wait(b, 0), kStintTurnOk);
  EXPECT_EQ(stint_turn_give(b), kStintTurnOk);
  EXPECT_EQ(stint_turn_leave(a) + stint_turn_leave(b), 0);
}

TEST_F(TurnstileTest, ReasonsAreCutToTheirRoom) {
  EXPECT_EQ(join(""), nullptr);
  EXPECT_EQ(code_, kStintTurnRefused);
  EXPECT_STREQ(reason_.data(), "a job at a turnstile needs a name");
  EXPECT_EQ(join(nullptr), nullptr);
  path_ = "/nowhere/at/all/and/still/further/turnstile";
  EXPECT_EQ(join("a"), nullptr);
  EXPECT_EQ(std::string(reason_.data()).size(), reason_.size() - 1);
  StintTurnStatus status{};
  EXPECT_EQ(stint_turn_status(path_.c_str(), &status, nullptr, 0), kStintTurnRefused);
}

}  // namespace
}  // namespace stint
