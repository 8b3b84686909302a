// How long a turn at a turnstile takes to get: uncontended, and from one process to another; beside
// a mutex and a condition variable shared by the same processes, which know no rhythm, no limit and
// no death.

#include "turnstile/turnstile.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "base/check.h"
#include "bench/wall_time.h"

namespace stint {
namespace {

constexpr std::int64_t kLimitNs = 60'000'000'000;
constexpr int kHandOvers = 5000;  // Of each kind, by each of two processes.
constexpr timespec kHold{.tv_sec = 0, .tv_nsec = 300'000};  // So that the other one sleeps.

/// What two processes share: two turns in the plain way, and when turns were given and got.
struct Shared {
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  int turn = 0;
  std::atomic<double> given{0};
  std::atomic<int> samples{0};
  std::array<double, 2 * kHandOvers> seconds{};
};

Shared& make_shared_memory() {
  auto* shared = static_cast<Shared*>(
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  CHECK(shared != MAP_FAILED);
  std::construct_at(shared);
  pthread_mutexattr_t mutex;
  ::pthread_mutexattr_init(&mutex);
  ::pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
  ::pthread_mutex_init(&shared->mutex, &mutex);
  pthread_condattr_t condition;
  ::pthread_condattr_init(&condition);
  ::pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
  ::pthread_cond_init(&shared->condition, &condition);
  return *shared;
}

StintTurnMember* join(const std::string& path, const char* name) {
  const StintTurnOptions options{.name = name, .order = 0, .share = 1, .patience_ns = 0};
  StintTurnMember* member = nullptr;
  CHECK(stint_turn_join(path.c_str(), &options, &member, nullptr, 0) == kStintTurnOk);
  return member;
}

void give_now(Shared& shared) { shared.given = wall_clock().in(kSecond); }

/// The turn has come, from somebody else if a moment is there.
void got_it(Shared& shared) {
  const double given = shared.given.exchange(0);
  if (given > 0) {
    shared.seconds[static_cast<std::size_t>(shared.samples++)] = wall_clock().in(kSecond)-given;
  }
  ::nanosleep(&kHold, nullptr);
}

/// Both processes take turns at the turnstile; whoever gives one asks again at once.
void pass_turnstile(Shared& shared, const std::string& path, int number) {
  StintTurnMember* member = join(path, number == 0 ? "a" : "b");
  for (int i = 0; i < kHandOvers; ++i) {
    CHECK(stint_turn_take(member, kLimitNs) == kStintTurnOk);
    got_it(shared);
    give_now(shared);
    CHECK(stint_turn_give(member) == kStintTurnOk);
  }
  CHECK(stint_turn_leave(member) == kStintTurnOk);
}

/// The same in the plain way.
void pass_plainly(Shared& shared, const std::string&, int number) {
  for (int i = 0; i < kHandOvers; ++i) {
    ::pthread_mutex_lock(&shared.mutex);
    while (shared.turn != number) ::pthread_cond_wait(&shared.condition, &shared.mutex);
    ::pthread_mutex_unlock(&shared.mutex);
    got_it(shared);
    ::pthread_mutex_lock(&shared.mutex);
    shared.turn = 1 - number;
    give_now(shared);
    ::pthread_cond_signal(&shared.condition);
    ::pthread_mutex_unlock(&shared.mutex);
  }
}

/// How long turns took from one process to the other, sorted.
std::vector<double> hand_overs(Shared& shared, const std::string& path,
                               void (*pass)(Shared&, const std::string&, int)) {
  shared.samples = 0;
  shared.given = 0;
  const pid_t child = ::fork();
  pass(shared, path, child == 0 ? 1 : 0);
  if (child == 0) ::_exit(0);
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child && status == 0);
  std::vector<double> seconds(shared.seconds.begin(), shared.seconds.begin() + shared.samples);
  // Only where one process ends before the other there is nobody to hand over to.
  CHECK(seconds.size() > kHandOvers * 9 / 5);
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

void print_uncontended(Shared& shared, const std::string& path) {
  StintTurnMember* member = join(path, "a");
  const WallTime turnstile = wall_time_of(50, 2000, [&] {
    CHECK(stint_turn_take(member, kLimitNs) == kStintTurnOk);
    CHECK(stint_turn_give(member) == kStintTurnOk);
  });
  CHECK(stint_turn_leave(member) == kStintTurnOk);
  const WallTime plain = wall_time_of(50, 2000, [&] {
    ::pthread_mutex_lock(&shared.mutex);
    ::pthread_cond_signal(&shared.condition);
    ::pthread_mutex_unlock(&shared.mutex);
  });
  fmt::print("\nTaking and giving a turn that nobody else wants{:>17}{:>12}{:>8}\n", "median us",
             "min", "bound");
  const auto print = [](const char* what, const WallTime& time, const char* bound) {
    fmt::print("{:<52}{:>12.3f}{:>12.3f}{:>8}\n", what, time.median.in(kMicrosecond),
               time.min.in(kMicrosecond), bound);
  };
  print("turnstile", turnstile, "2");
  print("mutex and condition variable", plain, "");
}

void print_hand_over(Shared& shared, const std::string& path) {
  fmt::print("\nFrom one process to another that sleeps{:>25}{:>12}{:>8}\n", "median us", "99 %",
             "bound");
  const auto print = [&](const char* what, void (*pass)(Shared&, const std::string&, int),
                         const char* bound) {
    const std::vector<double> seconds = hand_overs(shared, path, pass);
    fmt::print("{:<52}{:>12.1f}{:>12.1f}{:>8}\n", what, 1e6 * seconds[seconds.size() / 2],
               1e6 * seconds[seconds.size() * 99 / 100], bound);
  };
  print("turnstile", pass_turnstile, "50");
  print("mutex and condition variable", pass_plainly, "");
}

}  // namespace
}  // namespace stint

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // Long work shows how far it is.
  std::string folder = "/dev/shm/stint-bench-XXXXXX";
  CHECK(::mkdtemp(folder.data()) != nullptr);
  stint::Shared& shared = stint::make_shared_memory();
  stint::print_uncontended(shared, folder + "/alone");
  stint::print_hand_over(shared, folder + "/shared");
  std::filesystem::remove_all(folder);
  return 0;
}
