#include "turnstile/turn_member.h"

#include <atomic>
#include <csignal>
#include <functional>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "turnstile/turn_fixture.h"

namespace stint {
namespace {

constexpr Nanoseconds kMs = std::chrono::milliseconds(1);
constexpr Nanoseconds kLong = std::chrono::seconds(60);

/// Repeats a check, with a limit.
bool comes_true(const std::function<bool()>& condition) {
  const Nanoseconds end = turn_clock() + kLong;
  while (!condition()) {
    if (turn_clock() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

class TurnMemberTest : public testing::Test {
 protected:
  TurnMember join(const std::string& name, std::uint32_t order = 0, std::uint32_t share = 1,
                  Nanoseconds patience = {}) {
    auto member = TurnMember::join(file_, {name, order, share, patience});
    EXPECT_EQ(reason_of(member), "");
    return std::get<TurnMember>(member);
  }

  bool somebody_waits() {
    return comes_true([&] { return next_in_line(file_.snapshot().value_or(TurnState{})) >= 0; });
  }

  TurnFolder folder_;
  TurnFile file_ = std::get<TurnFile>(TurnFile::open(folder_.file()));
};

TEST_F(TurnMemberTest, TakesAndGives) {
  TurnMember a = join("a");
  EXPECT_EQ(a.give(), kStintTurnNotHolder);
  EXPECT_EQ(a.take(kLong), kStintTurnOk);
  EXPECT_EQ(a.take(kLong), kStintTurnOk);  // It already holds the turn.
  EXPECT_EQ(file_.snapshot()->turns, 1U);
  EXPECT_EQ(a.give(), kStintTurnOk);
  EXPECT_EQ(a.give(), kStintTurnNotHolder);
}

TEST_F(TurnMemberTest, AtTheLimitOnlyTheHolderHasTheTurn) {
  TurnMember a = join("a");
  TurnMember b = join("b");
  ASSERT_EQ(a.take(kLong), kStintTurnOk);
  EXPECT_EQ(b.take(2 * kMs), kStintTurnTimedOut);
  EXPECT_EQ(b.take(Nanoseconds(0)), kStintTurnTimedOut);
  EXPECT_EQ(b.give(), kStintTurnNotHolder);
  // It has left the queue, so that the turn is not given to a member that does not wait.
  EXPECT_EQ(a.give(), kStintTurnOk);
  EXPECT_EQ(file_.snapshot()->holder, -1);
}

TEST_F(TurnMemberTest, WaitingInPartsKeepsThePlaceInTheQueue) {
  TurnMember a = join("a");
  TurnMember b = join("b");
  TurnMember c = join("c");
  EXPECT_EQ(a.ask(), kStintTurnOk);
  EXPECT_EQ(b.ask(), kStintTurnWaiting);
  EXPECT_EQ(c.ask(), kStintTurnWaiting);
  EXPECT_EQ(b.wait(1 * kMs), kStintTurnWaiting);
  EXPECT_EQ(a.give(), kStintTurnOk);
  EXPECT_EQ(c.wait(1 * kMs), kStintTurnWaiting);
  EXPECT_EQ(b.withdraw(), kStintTurnOk);  // The turn was given meanwhile.
  EXPECT_EQ(c.withdraw(), kStintTurnTimedOut);
  EXPECT_EQ(c.wait(kLong), kStintTurnNotHolder);  // A member that did not ask does not wait.
}

TEST_F(TurnMemberTest, TheTurnIsHandedToOneThatSleeps) {
  TurnMember a = join("a");
  TurnMember b = join("b");
  ASSERT_EQ(a.take(kLong), kStintTurnOk);
  std::thread other([&] { EXPECT_EQ(b.take(kLong), kStintTurnOk); });
  EXPECT_TRUE(somebody_waits());
  EXPECT_EQ(a.give(), kStintTurnOk);
  other.join();
  EXPECT_EQ(b.give(), kStintTurnOk);
}

TEST_F(TurnMemberTest, AKeptTurnIsTakenWhenPatienceIsOver) {
  TurnMember a = join("a", 0, 1, 5 * kMs);
  TurnMember b = join("b", 1);
  const Nanoseconds begin = turn_clock();
  EXPECT_EQ(b.take(kLong), kStintTurnOk);
  EXPECT_GE(turn_clock() - begin, 5 * kMs);
  // b slept when the turn became free but kept, and must know until when.
  ASSERT_EQ(b.give(), kStintTurnOk);
  ASSERT_EQ(a.take(kLong), kStintTurnOk);
  std::thread other([&] { EXPECT_EQ(b.take(kLong), kStintTurnOk); });
  EXPECT_TRUE(somebody_waits());
  EXPECT_EQ(a.give(), kStintTurnOk);
  other.join();
}

TEST_F(TurnMemberTest, AnOfferHandsTheTurnRoundInSlices) {
  TurnMember a = join("a");
  TurnMember b = join("b");
  EXPECT_EQ(a.offer(2 * kMs, kLong), kStintTurnNotHolder);
  ASSERT_EQ(a.take(kLong), kStintTurnOk);
  EXPECT_EQ(a.offer(Nanoseconds(0), kLong), kStintTurnOk);  // No other member waits.
  ASSERT_EQ(b.ask(), kStintTurnWaiting);
  EXPECT_EQ(a.offer(kLong, kLong), kStintTurnOk);  // Not yet.
  EXPECT_EQ(file_.snapshot()->turns, 1U);
  std::thread other([&] {
    EXPECT_EQ(b.wait(kLong), kStintTurnOk);
    EXPECT_EQ(b.offer(Nanoseconds(0), kLong), kStintTurnOk);
    EXPECT_EQ(b.give(), kStintTurnOk);
  });
  EXPECT_EQ(a.offer(Nanoseconds(0), kLong), kStintTurnOk);
  EXPECT_EQ(a.give(), kStintTurnOk);
  other.join();
  EXPECT_EQ(file_.snapshot()->turns, 4U);
}

TEST_F(TurnMemberTest, OneThatHasLeftIsNoMember) {
  TurnMember a = join("a");
  ASSERT_EQ(a.take(kLong), kStintTurnOk);
  EXPECT_EQ(a.leave(), kStintTurnOk);
  EXPECT_EQ(file_.snapshot()->holder, -1);
  TurnMember again = join("a");
  EXPECT_EQ(again.take(kLong), kStintTurnOk);
  for (const StintTurnCode code :
       {a.take(kLong), a.give(), a.ask(), a.wait(kLong), a.withdraw(), a.leave()}) {
    EXPECT_EQ(code, kStintTurnNotMember);
  }
}

TEST_F(TurnMemberTest, AForkIsNoMember) {
  TurnMember a = join("a");
  ASSERT_EQ(a.take(kLong), kStintTurnOk);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool refused = a.give() == kStintTurnNotMember && a.take(kLong) == kStintTurnNotMember &&
                         a.wait(kLong) == kStintTurnNotMember;
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(a.give(), kStintTurnOk);
}

TEST_F(TurnMemberTest, TermsThatMakeNoSenseAreRefused) {
  const auto reason = [&](const TurnTerms& terms) {
    return reason_of(TurnMember::join(file_, terms));
  };
  EXPECT_NE(reason({.name = ""}).find("needs a name"), std::string::npos);
  EXPECT_NE(reason({.name = std::string(48, 'x')}).find("longer than 47"), std::string::npos);
  EXPECT_NE(reason({.name = "a", .share = 0}).find("share"), std::string::npos);
  EXPECT_NE(reason({.name = "a", .patience = -kMs}).find("patience"), std::string::npos);
  for (int i = 0; i < kStintTurnMembersMax; ++i) join("a");
  EXPECT_NE(reason({.name = "a"}).find("all 64 places"), std::string::npos);
}

/// A process that joins, takes the turn if it gets it at once, and waits for its end.
pid_t member_process(const std::string& path, const std::string& name) {
  int pipe_ends[2];
  EXPECT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto file = TurnFile::open(path);
    auto member = TurnMember::join(std::get<TurnFile>(file), {.name = name});
    std::get<TurnMember>(member).ask();
    const ssize_t written = ::write(pipe_ends[1], "x", 1);
    while (written > 0) ::pause();
    ::_exit(1);
  }
  ::close(pipe_ends[1]);
  char byte = 0;
  EXPECT_EQ(::read(pipe_ends[0], &byte, 1), 1);
  ::close(pipe_ends[0]);
  return child;
}

TEST_F(TurnMemberTest, TheTurnsOfKilledProcessesPassOn) {
  const pid_t holder = member_process(folder_.file(), "holder");
  const pid_t waiting = member_process(folder_.file(), "waiting");
  TurnMember a = join("a");
  EXPECT_EQ(a.take(50 * kMs), kStintTurnTimedOut);  // Both are alive.
  ::kill(waiting, SIGKILL);
  ::kill(holder, SIGKILL);
  EXPECT_EQ(a.take(kLong), kStintTurnOk);
  EXPECT_EQ(file_.snapshot()->deaths, 2U);
  ::waitpid(holder, nullptr, 0);
  ::waitpid(waiting, nullptr, 0);
}

TEST_F(TurnMemberTest, AStoppedHolderKeepsTheTurn) {
  const pid_t holder = member_process(folder_.file(), "holder");
  TurnMember a = join("a");
  ::kill(holder, SIGSTOP);
  EXPECT_EQ(a.take(60 * kMs), kStintTurnTimedOut);
  EXPECT_EQ(file_.snapshot()->deaths, 0U);
  ::kill(holder, SIGKILL);
  EXPECT_EQ(a.take(kLong), kStintTurnOk);
  ::waitpid(holder, nullptr, 0);
}

// The thread sanitizer checks this too, in threads_test: one plain number between members.
TEST_F(TurnMemberTest, ThreadsCountTogetherWithoutLosingAny) {
  constexpr int kThreads = 4;
  constexpr int kTurns = 500;
  int counted = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      TurnMember one = join("job", static_cast<std::uint32_t>(i), 1 + static_cast<unsigned>(i) % 2);
      for (int turn = 0; turn < kTurns; ++turn) {
        ASSERT_EQ(one.take(kLong), kStintTurnOk);
        ++counted;
        if (turn % 3 == 0) {
          ASSERT_EQ(one.offer(Nanoseconds(0), kLong), kStintTurnOk);
        }
        ++counted;
        ASSERT_EQ(one.give(), kStintTurnOk);
      }
      ASSERT_EQ(one.leave(), kStintTurnOk);
    });
  }
  // Another thread observes the turnstile.
  EXPECT_TRUE(comes_true([&] { return file_.snapshot().value_or(TurnState{}).turns >= 100; }));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counted, 2 * kThreads * kTurns);
}

}  // namespace
}  // namespace stint
