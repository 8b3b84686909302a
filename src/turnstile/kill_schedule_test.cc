// Real processes share a turnstile, and some of them are killed: at random moments, or at a named
// point inside a change. In any case there are never two holders, every waiting process gets the
// turn, and the counts add up. The longest wait is printed and not checked, because it depends on
// the load of the computer.
//
// STINT_KILL_SEED=N runs that schedule alone; STINT_KILL_SCHEDULES=N runs that many (1000).

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "turnstile/turn_fixture.h"
#include "turnstile/turn_member.h"

namespace stint {
namespace {

constexpr int kPlayersMax = 5;
constexpr int kChanges = static_cast<int>(TurnChange::kBury) + 1;
constexpr int kMoments = static_cast<int>(TurnMoment::kWoken) + 1;
constexpr int kRunners = 4;  // Schedules at a time: most of the time they sleep.
constexpr Nanoseconds kMs = std::chrono::milliseconds(1);
constexpr Nanoseconds kUs = std::chrono::microseconds(1);
constexpr Nanoseconds kStuck = 60'000 * kMs;
// Turns of all players, for a victim to reach its point.
constexpr std::uint64_t kCrashTurns = 100;
constexpr int kLastTurns = 3;  // Turns of each survivor, when the victims are dead.

struct CrashPoint {
  TurnChange change = TurnChange::kAsk;
  TurnMoment moment = TurnMoment::kLocked;
  int visit = 1;
};

struct PlayerPlan {
  TurnTerms terms;
  bool victim = false;
  std::optional<CrashPoint> crash;  // Else a victim is killed from outside,
  Nanoseconds killed_after{};       // after this time; with a point, when it does not reach it.
  bool reaped_late = false;
};

struct Schedule {
  std::uint64_t seed = 0;
  bool offers = false;
  std::vector<PlayerPlan> players;
};

/// State that the players of one schedule share beside the turnstile, for the checks.
struct Referee {
  std::atomic<int> inside{-1};
  std::atomic<bool> stop{false};
  std::atomic<const char*> problem{nullptr};  // A literal: forks have it at the same address.
  std::atomic<std::int64_t> slowest_ns{0};
  std::array<std::atomic<bool>, kPlayersMax> killed{};
  std::array<std::atomic<std::uint64_t>, kPlayersMax> turns{};

  void complain(const char* what) {
    const char* none = nullptr;
    problem.compare_exchange_strong(none, what);
  }

  std::uint64_t turns_of_all() const {
    std::uint64_t sum = 0;
    for (const auto& one : turns) sum += one.load();
    return sum;
  }
};

/// Points at which victims died, over all schedules.
using Deaths = std::array<std::array<std::atomic<int>, kMoments>, kChanges>;

template <class T>
class SharedValue {
 public:
  SharedValue()
      : value_(static_cast<T*>(::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    std::construct_at(value_);
  }
  ~SharedValue() { ::munmap(value_, sizeof(T)); }
  SharedValue(const SharedValue&) = delete;
  SharedValue& operator=(const SharedValue&) = delete;
  T& operator*() { return *value_; }
  T* operator->() { return value_; }

 private:
  T* value_;
};

void sleep_for(Nanoseconds time) {
  const timespec span{.tv_sec = 0, .tv_nsec = time.count()};
  ::nanosleep(&span, nullptr);
}

/// Whether a player rarely reaches such a change twice.
bool is_rare(TurnChange change) {
  return change == TurnChange::kMake || change == TurnChange::kSettle ||
         change == TurnChange::kBury;
}

Schedule make_schedule(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t bound) { return static_cast<int>(random() % bound); };
  Schedule schedule{.seed = seed, .offers = below(3) == 0, .players = {}};
  const int players = 2 + below(kPlayersMax - 2);
  const int victims = 1 + below(static_cast<std::uint64_t>(players - 1));
  for (int i = 0; i < players; ++i) {
    PlayerPlan plan;
    plan.terms.name = "p" + std::to_string(i);
    plan.terms.order = static_cast<std::uint32_t>(below(2));
    plan.terms.share = static_cast<std::uint32_t>(1 + below(3));
    plan.terms.patience = std::array{0 * kMs, 1 * kMs, 2 * kMs, 5 * kMs}[random() % 4];
    plan.victim = i < victims;
    plan.killed_after = below(6000) * kUs;
    plan.reaped_late = below(2) == 0;
    if (plan.victim && below(3) > 0) {
      // These points get two more victims, because few reach them.
      const int change = below(kChanges + 2);
      const TurnChange rare = change == kChanges ? TurnChange::kSettle : TurnChange::kBury;
      plan.crash = CrashPoint{change < kChanges ? static_cast<TurnChange>(change) : rare,
                              static_cast<TurnMoment>(below(kMoments)), 1 + below(4)};
      if (is_rare(plan.crash->change)) plan.crash->visit = 1;
      // Only a member that waits for others by the rhythm reaches this point.
      if (plan.crash->change == TurnChange::kSettle) plan.terms.order = 2;
    }
    schedule.players.push_back(plan);
  }
  // A member is buried only after the death of its process.
  const auto buries = [](const PlayerPlan& plan) {
    return plan.crash && plan.crash->change == TurnChange::kBury;
  };
  if (std::any_of(schedule.players.begin(), schedule.players.end(), buries)) {
    schedule.players.push_back(
        {.terms = {.name = "first"}, .victim = true, .killed_after = below(6000) * kUs});
  }
  return schedule;
}

/// A fork that does not outlive its parent, however that ends.
pid_t fork_bound() {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0 && (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent)) ::_exit(1);
  return child;
}

/// One process of a schedule.
class Player {
 public:
  Player(const Schedule& schedule, int number, Referee& referee, Deaths& deaths)
      : schedule_(schedule),
        plan_(schedule.players[static_cast<std::size_t>(number)]),
        number_(number),
        referee_(referee),
        deaths_(deaths),
        random_(schedule.seed * kPlayersMax + static_cast<std::uint64_t>(number)) {}

  /// Takes turns until the referee stops it, and then some more.
  void play(const std::string& path) {
    auto opened = TurnFile::open(
        path, [this](TurnChange change, TurnMoment moment) { pass(change, moment); });
    if (std::holds_alternative<TurnRefusal>(opened)) return complain("the file was refused");
    TurnFile& file = std::get<TurnFile>(opened);
    auto joined = TurnMember::join(file, plan_.terms);
    int last = 0;
    while (referee_.problem.load() == nullptr && last < kLastTurns) {
      if (std::holds_alternative<TurnRefusal>(joined)) return complain("a player was refused");
      TurnMember& member = std::get<TurnMember>(joined);
      const bool taken = take_turn(member);
      if (referee_.stop.load() && taken) ++last;
      sleep_for(below(300) * kUs);
      if (below(8) > 0) continue;
      if (member.leave() != kStintTurnOk) return complain("a player could not leave");
      joined = TurnMember::join(file, plan_.terms);
    }
    std::get<TurnMember>(joined).leave();
  }

 private:
  int below(std::uint64_t bound) { return static_cast<int>(random_() % bound); }
  void complain(const char* what) { referee_.complain(what); }

  void pass(TurnChange change, TurnMoment moment) {
    if (!plan_.crash || plan_.crash->change != change || plan_.crash->moment != moment) return;
    if (++visits_ < plan_.crash->visit) return;
    ++deaths_[static_cast<std::size_t>(change)][static_cast<std::size_t>(moment)];
    referee_.killed[static_cast<std::size_t>(number_)] = true;
    ::kill(::getpid(), SIGKILL);
  }

  void enter() {
    const int other = referee_.inside.exchange(number_);
    if (other >= 0 && !referee_.killed[static_cast<std::size_t>(other)].load()) {
      complain("somebody who lives was inside already");
    }
  }

  void exit() {
    int expected = number_;
    if (!referee_.inside.compare_exchange_strong(expected, -1)) {
      complain("somebody came inside while another was there");
    }
  }

  void waited_since(Nanoseconds begin) {
    const std::int64_t waited = (turn_clock() - begin).count();
    referee_.slowest_ns = std::max(referee_.slowest_ns.load(), waited);
  }

  bool take_turn(TurnMember& member) {
    const Nanoseconds begin = turn_clock();
    const bool impatient = below(6) == 0;
    const StintTurnCode code = member.take(impatient ? below(200) * kUs : kStuck);
    if (impatient && code == kStintTurnTimedOut) return false;
    if (code != kStintTurnOk) {
      complain("somebody waits for ever");
      return false;
    }
    waited_since(begin);
    ++referee_.turns[static_cast<std::size_t>(number_)];
    enter();
    sleep_for(below(300) * kUs);
    for (int i = 0; schedule_.offers && i < 2; ++i) {
      exit();
      const Nanoseconds offered = turn_clock();
      if (member.offer(Nanoseconds(0), kStuck) != kStintTurnOk) complain("an offer had no end");
      waited_since(offered);
      enter();
    }
    exit();
    if (member.give() != kStintTurnOk) complain("a holder could not give");
    return true;
  }

  const Schedule& schedule_;
  const PlayerPlan& plan_;
  int number_;
  Referee& referee_;
  Deaths& deaths_;
  std::mt19937_64 random_;
  int visits_ = 0;
};

/// Whether a child has died; it stays a zombie.
bool has_ended(pid_t child) {
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  return info.si_pid == child;
}

/// Whether a victim is to be killed from outside.
bool is_due(const PlayerPlan& plan, Nanoseconds since, const Referee& referee) {
  if (!plan.crash) return since >= plan.killed_after;
  const bool hopeless = since >= kStuck || referee.problem.load() != nullptr;
  return hopeless || referee.turns_of_all() >= kCrashTurns;
}

/// Kills the victims, each at its time, and returns when all of them are dead.
void kill_victims(const Schedule& schedule, std::vector<pid_t>& children, Referee& referee) {
  const Nanoseconds begin = turn_clock();
  for (bool left = true; left;) {
    left = false;
    for (std::size_t i = 0; i < children.size(); ++i) {
      const PlayerPlan& plan = schedule.players[i];
      if (!plan.victim || children[i] < 0) continue;
      if (has_ended(children[i])) {
        if (!plan.reaped_late) {
          ::waitpid(children[i], nullptr, 0);
          children[i] = -1;
        }
        continue;
      }
      left = true;
      if (!is_due(plan, turn_clock() - begin, referee) || referee.killed[i].exchange(true))
        continue;
      ::kill(children[i], SIGKILL);
    }
    sleep_for(200 * kUs);
  }
}

/// The errors of the turnstile when all processes have left or are dead.
const char* wrong_at_the_end(const Schedule& schedule, const std::string& path, Referee& referee) {
  auto opened = TurnFile::open(path);
  if (std::holds_alternative<TurnRefusal>(opened)) return "the file is refused at the end";
  TurnFile& file = std::get<TurnFile>(opened);
  bury_gone(file, -1);
  const TurnState state = *file.snapshot();
  if (state.holder >= 0) return "somebody dead or gone holds the turn";
  std::uint64_t turns = state.turns_forgotten;
  std::uint64_t victims = 0;
  for (const TurnSeat& seat : state.seats) {
    turns += seat.turns;
    if (seat.present != 0) return "somebody dead or gone is still a member";
    if (seat.ticket != 0) return "somebody dead or gone is still in the queue";
  }
  if (turns != state.turns) return "the members' turns do not add up";
  for (std::size_t i = 0; i < schedule.players.size(); ++i) {
    if (schedule.players[i].victim) {
      ++victims;
      continue;
    }
    for (const TurnSeat& seat : state.seats) {
      const bool same = seat.name.data() == schedule.players[i].terms.name;
      if (same && !schedule.offers && seat.turns != referee.turns[i]) {
        return "a survivor counts other turns than the turnstile";
      }
    }
  }
  return state.deaths > victims ? "more have died than were killed" : nullptr;
}

/// The outcome of a schedule.
struct Verdict {
  const char* problem = nullptr;
  Nanoseconds slowest{};
};

Verdict play(const Schedule& schedule, Deaths& deaths) {
  const TurnFolder folder;
  SharedValue<Referee> referee;
  std::vector<pid_t> children;
  for (int i = 0; i < static_cast<int>(schedule.players.size()); ++i) {
    children.push_back(fork_bound());
    if (children.back() == 0) {
      Player(schedule, i, *referee, deaths).play(folder.file());
      ::_exit(0);
    }
  }
  kill_victims(schedule, children, *referee);
  referee->stop = true;
  for (std::size_t i = 0; i < children.size(); ++i) {
    int status = 0;
    if (children[i] < 0) continue;
    ::waitpid(children[i], &status, 0);
    if (!schedule.players[i].victim && status != 0) referee->complain("a survivor crashed");
  }
  if (const char* wrong = wrong_at_the_end(schedule, folder.file(), *referee)) {
    referee->complain(wrong);
  }
  return {referee->problem.load(), Nanoseconds(referee->slowest_ns.load())};
}

/// Runs one schedule, and returns its errors.
bool is_sound(std::uint64_t seed, Deaths& deaths, std::atomic<std::int64_t>& slowest_ms) {
  const Verdict verdict = play(make_schedule(seed), deaths);
  slowest_ms = std::max<std::int64_t>(slowest_ms.load(), verdict.slowest / kMs);
  if (verdict.problem == nullptr) return true;
  std::cerr << "kill schedule of seed " + std::to_string(seed) + ": " + verdict.problem + "\n";
  return false;
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(KillSchedule, NeverTwoHoldersAndWhoWaitsGoesOn) {
  SharedValue<Deaths> deaths;
  SharedValue<std::atomic<std::int64_t>> slowest_ms;
  const std::uint64_t only = number_from("STINT_KILL_SEED", 0);
  const std::uint64_t first = only > 0 ? only : 1;
  const std::uint64_t last = only > 0 ? only : number_from("STINT_KILL_SCHEDULES", 1000);
  std::vector<pid_t> runners;
  for (std::uint64_t runner = 0; runner < kRunners; ++runner) {
    runners.push_back(fork_bound());
    if (runners.back() != 0) continue;
    bool sound = true;
    for (std::uint64_t seed = first + runner; seed <= last; seed += kRunners) {
      sound = is_sound(seed, *deaths, *slowest_ms) && sound;
    }
    ::_exit(sound ? 0 : 1);
  }
  for (const pid_t runner : runners) {
    int status = 0;
    ::waitpid(runner, &status, 0);
    EXPECT_EQ(status, 0);
  }
  std::cout << "nobody waited longer than " << slowest_ms->load() << " ms\n";
  if (last - first < 999) return;
  // A victim died at every point of every change. Files are made without a lock.
  for (std::size_t change = 1; change < kChanges; ++change) {
    for (std::size_t moment = 0; moment < kMoments; ++moment) {
      EXPECT_GT((*deaths)[change][moment], 0) << "change " << change << ", moment " << moment;
    }
  }
}

}  // namespace
}  // namespace stint
