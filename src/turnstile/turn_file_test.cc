#include "turnstile/turn_file.h"

#include <csignal>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "turnstile/turn_fixture.h"
#include "turnstile/turn_member.h"

namespace stint {
namespace {

/// Overwrites a byte of a file.
void poke(const std::string& path, std::streamoff where, char byte) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(where);
  file.put(byte);
}

std::string reason_to_refuse(const std::string& path) { return reason_of(TurnFile::open(path)); }

class TurnFileTest : public testing::Test {
 protected:
  TurnFolder folder_;
  std::string path_ = folder_.file();
};

TEST_F(TurnFileTest, IsPrivateAndLeavesNothingElseBehind) {
  auto file = TurnFile::open(path_);
  ASSERT_EQ(reason_of(file), "");
  struct stat found {};
  ASSERT_EQ(::stat(path_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600U);
  EXPECT_EQ(static_cast<std::size_t>(found.st_size), turn_file_size());
  const auto all = std::filesystem::directory_iterator(folder_.path());
  EXPECT_EQ(std::distance(begin(all), end(all)), 1);
}

TEST_F(TurnFileTest, ChangesAreSeenThroughOtherMappings) {
  auto one = TurnFile::open(path_);
  auto other = TurnFile::open(path_);
  auto looking = TurnFile::look(path_);
  ASSERT_EQ(reason_of(one) + reason_of(other) + reason_of(looking), "");
  EXPECT_TRUE(std::get<TurnFile>(one).change(TurnChange::kSettle, -1, [](TurnState& state) {
    state.rounds = 41;
    return true;
  }));
  EXPECT_TRUE(std::get<TurnFile>(other).change(TurnChange::kSettle, -1, [](TurnState& state) {
    ++state.rounds;
    return true;
  }));
  EXPECT_TRUE(std::get<TurnFile>(one).change(TurnChange::kSettle, -1, [](TurnState& state) {
    state.rounds = 7;
    return false;  // Nothing changed, so that the edit does not count.
  }));
  EXPECT_EQ(std::get<TurnFile>(looking).snapshot()->rounds, 42U);
}

TEST_F(TurnFileTest, OtherVersionsSizesAndKindsAreRefusedWithAReason) {
  ASSERT_EQ(reason_to_refuse(path_), "");
  poke(path_, 8, 99);
  EXPECT_NE(reason_to_refuse(path_).find("is of version 99 instead of 1"), std::string::npos);
  EXPECT_NE(reason_of(TurnFile::look(path_)).find("version 99"), std::string::npos);
  poke(path_, 8, kStintTurnVersion);
  ASSERT_EQ(reason_to_refuse(path_), "");
  poke(path_, 0, 'S');
  EXPECT_NE(reason_to_refuse(path_).find("another kind of file"), std::string::npos);
  ASSERT_EQ(::truncate(path_.c_str(), 100), 0);
  EXPECT_NE(reason_to_refuse(path_).find("has 100 bytes instead of"), std::string::npos);
  EXPECT_NE(reason_of(TurnFile::look(path_)).find("has 100 bytes"), std::string::npos);
}

TEST_F(TurnFileTest, FilesOfAnEarlierLifeOrAnotherNamespaceAreRefused) {
  ASSERT_EQ(reason_to_refuse(path_), "");
  poke(path_, 16, '*');  // The boot id of the computer.
  EXPECT_NE(reason_to_refuse(path_).find("before this computer started"), std::string::npos);
  std::filesystem::remove(path_);
  ASSERT_EQ(reason_to_refuse(path_), "");
  poke(path_, 64, '*');  // The inode of the PID namespace.
  EXPECT_NE(reason_to_refuse(path_).find("another PID namespace"), std::string::npos);
  EXPECT_EQ(reason_of(TurnFile::look(path_)), "");
}

TEST_F(TurnFileTest, ADamagedStateIsRefusedAndItsMembersHaveLeft) {
  auto file = TurnFile::open(path_);
  auto& shared = std::get<TurnFile>(file);
  auto joined = TurnMember::join(shared, {.name = "early"});
  ASSERT_EQ(reason_of(joined), "");
  const auto states = static_cast<std::streamoff>(turn_file_size() - 2 * sizeof(TurnState));
  for (const std::streamoff copy : {0, 1}) {
    poke(path_, states + copy * static_cast<std::streamoff>(sizeof(TurnState)), 77);  // The holder.
  }
  EXPECT_NE(reason_to_refuse(path_).find("is damaged: remove it"), std::string::npos);
  EXPECT_NE(reason_of(TurnFile::look(path_)).find("is damaged"), std::string::npos);
  auto& member = std::get<TurnMember>(joined);
  EXPECT_EQ(member.take(std::chrono::hours(1)), kStintTurnNotMember);
  EXPECT_EQ(member.give(), kStintTurnNotMember);
}

// The C library aborts when a lock of priority inheritance has an owner that does not exist.
TEST_F(TurnFileTest, ALockOfAnotherKindIsRefusedAndItsMembersHaveLeft) {
  auto file = TurnFile::open(path_);
  auto joined = TurnMember::join(std::get<TurnFile>(file), {.name = "early"});
  ASSERT_EQ(reason_of(joined), "");
  poke(path_, 72 + 16, 0x32);  // The kind of the lock.
  EXPECT_NE(reason_to_refuse(path_).find("is damaged"), std::string::npos);
  EXPECT_EQ(std::get<TurnMember>(joined).wait(std::chrono::hours(1)), kStintTurnNotMember);
}

TEST_F(TurnFileTest, WhatOthersCouldTouchIsRefused) {
  ASSERT_EQ(reason_to_refuse(path_), "");
  ::chmod(path_.c_str(), 0644);
  EXPECT_NE(reason_to_refuse(path_).find("mode must be 0600"), std::string::npos);
  ::chmod(path_.c_str(), 0600);
  ASSERT_EQ(::symlink(path_.c_str(), folder_.file("link").c_str()), 0);
  EXPECT_NE(reason_to_refuse(folder_.file("link")).find("cannot be opened"), std::string::npos);
  EXPECT_NE(reason_to_refuse(folder_.path()), "");
  EXPECT_NE(reason_to_refuse(folder_.file("no/folder")).find("cannot be created"),
            std::string::npos);
  EXPECT_NE(reason_of(TurnFile::look(folder_.file("none"))).find("cannot be opened"),
            std::string::npos);
}

TEST_F(TurnFileTest, AKillWhileItIsMadeLeavesNoneOrAWholeOne) {
  for (const TurnMoment moment : {TurnMoment::kLocked, TurnMoment::kStored, TurnMoment::kCounts}) {
    std::filesystem::remove(path_);
    const pid_t child = ::fork();
    if (child == 0) {
      auto unused = TurnFile::open(path_, [&](TurnChange, TurnMoment now) {
        if (now == moment) ::kill(::getpid(), SIGKILL);
      });
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(std::filesystem::exists(path_), moment == TurnMoment::kCounts);
    EXPECT_EQ(reason_to_refuse(path_), "");
  }
}

TEST_F(TurnFileTest, AKillInsideAChangeMakesItOrDoesNot) {
  ASSERT_EQ(reason_to_refuse(path_), "");
  auto file = TurnFile::open(path_);
  std::uint64_t rounds = 0;
  for (const TurnMoment moment : {TurnMoment::kLocked, TurnMoment::kHalfStored, TurnMoment::kStored,
                                  TurnMoment::kCounts, TurnMoment::kUnlocked, TurnMoment::kWoken}) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto mine = TurnFile::open(path_, [&](TurnChange, TurnMoment now) {
        if (now == moment) ::kill(::getpid(), SIGKILL);
      });
      std::get<TurnFile>(mine).change(TurnChange::kSettle, -1, [](TurnState& state) {
        ++state.rounds;
        state.deaths = state.rounds;
        return true;
      });
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    rounds += moment >= TurnMoment::kCounts ? 1 : 0;
    // The lock of a dead process is passed on, and the state is whole.
    EXPECT_TRUE(std::get<TurnFile>(file).change(TurnChange::kSettle, -1, [&](TurnState& state) {
      EXPECT_EQ(state.rounds, rounds);
      EXPECT_EQ(state.deaths, rounds);
      return false;
    }));
  }
}

TEST_F(TurnFileTest, ReadersSeeWholeStatesWhileOthersWrite) {
  auto file = TurnFile::open(path_);
  ASSERT_EQ(reason_of(file), "");
  auto& shared = std::get<TurnFile>(file);
  std::thread writer([&] {
    for (std::uint64_t i = 1; i <= 20000; ++i) {
      shared.change(TurnChange::kSettle, -1, [&](TurnState& state) {
        state.seats_used = 3;
        state.turns = state.seats[0].turns = state.seats[2].turns = i;
        return true;
      });
    }
  });
  std::uint64_t last = 0;
  while (last < 20000) {
    const auto state = shared.snapshot();
    if (!state) continue;
    EXPECT_EQ(state->turns, state->seats[0].turns);
    EXPECT_EQ(state->turns, state->seats[2].turns);
    EXPECT_GE(state->turns, last);
    last = state->turns;
  }
  writer.join();
}

TEST_F(TurnFileTest, AChangeWakesWhoeverGotTheTurn) {
  auto file = TurnFile::open(path_);
  auto& shared = std::get<TurnFile>(file);
  const std::uint32_t seen = shared.wakes(5);
  const auto hold = [](TurnState& state) {
    state.seats_used = 6;
    state.holder = 5;
    state.seats[5].present = 1;
    return true;
  };
  EXPECT_TRUE(shared.change(TurnChange::kGive, 2, hold));
  EXPECT_EQ(shared.wakes(5), seen + 1);
  shared.sleep(5, seen, std::chrono::hours(1));  // It was already woken.
  EXPECT_TRUE(shared.change(TurnChange::kGive, 2, hold));
  EXPECT_EQ(shared.wakes(5), seen + 1);
}

}  // namespace
}  // namespace stint
