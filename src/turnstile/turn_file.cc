#include "turnstile/turn_file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "turnstile/futex.h"
#include "turnstile/process_life.h"

// g++ and clang say in different ways that the thread sanitizer is on.
#ifdef __SANITIZE_THREAD__
#define STINT_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define STINT_THREAD_SANITIZER
#endif
#endif
#ifdef STINT_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#define TELL_SANITIZER(call) call
#else
#define TELL_SANITIZER(call) static_cast<void>(0)
#endif

namespace stint {

constexpr std::array<char, 8> kTurnMagic{'s', 't', 'i', 'n', 't', 't', 'r', 'n'};
constexpr std::size_t kTurnWords = sizeof(TurnState) / sizeof(std::uint64_t);
static_assert(sizeof(TurnState) % sizeof(std::uint64_t) == 0);

struct TurnLayout {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t size;
  std::array<char, 40> boot;  // Locks from before a restart of the computer have no owner.
  PidNamespace processes;
  pthread_mutex_t lock;
  std::uint64_t sequence;  // The last bit says which state counts.
  std::uint32_t wakes[kStintTurnMembersMax];
  std::uint64_t states[2][kTurnWords];
};

namespace {

constexpr std::chrono::seconds kLockLimit(5);
constexpr int kReadsMax = 1000;  // Attempts to read a state that changes during the read.

struct File {
  int number = -1;
  ~File() {
    if (number >= 0) ::close(number);
  }
};

TurnRefusal refusal(const std::string& path, const std::string& reason) {
  return {kStintTurnRefused, "the turnstile " + path + " " + reason};
}

std::string last_problem() { return std::strerror(errno); }

std::array<char, 40> boot_name() {
  std::array<char, 40> name{};
  const File file{::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)};
  if (file.number < 0 || ::read(file.number, name.data(), name.size() - 1) < 0) return {};
  return name;
}

void initialise(pthread_mutex_t& lock) {
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  ::pthread_mutex_init(&lock, &attributes);
  ::pthread_mutexattr_destroy(&attributes);
}

/// Whether the lock is of the kind that we make: the C library aborts or waits for ever with some
/// of the others. Their numbers are private to it, so that ours is read from a new lock.
bool is_of_our_kind(const pthread_mutex_t& lock) {
  static const int kind = [] {
    pthread_mutex_t ours{};
    initialise(ours);
    return ours.__data.__kind;
  }();
  return lock.__data.__kind == kind;
}

void initialise(TurnLayout& layout) {
  layout.magic = kTurnMagic;
  layout.version = kStintTurnVersion;
  layout.size = sizeof(TurnLayout);
  layout.boot = boot_name();
  layout.processes = own_pid_namespace().value_or(PidNamespace{});
  initialise(layout.lock);
  const TurnState state{};
  std::memcpy(layout.states[0], &state, sizeof state);
}

/// The error of an existing file, before it is mapped.
std::optional<std::string> wrong_with(const struct stat& file) {
  if (!S_ISREG(file.st_mode)) return "is not a file";
  if (file.st_uid != ::geteuid()) return "belongs to another user";
  if ((file.st_mode & 077) != 0) return "is accessible to other users: its mode must be 0600";
  if (file.st_size != sizeof(TurnLayout)) {
    return "has " + std::to_string(file.st_size) + " bytes instead of " +
           std::to_string(sizeof(TurnLayout)) + ": it is from another version of Stint";
  }
  return std::nullopt;
}

/// The error of the contents of the file.
std::optional<std::string> wrong_with(const TurnLayout& layout, bool to_look) {
  if (layout.magic != kTurnMagic) return "is another kind of file";
  if (layout.version != kStintTurnVersion || layout.size != sizeof(TurnLayout)) {
    return "is of version " + std::to_string(layout.version) + " instead of " +
           std::to_string(kStintTurnVersion) + ": use one version of Stint for all jobs";
  }
  if (layout.boot != boot_name()) return "was created before this computer started: remove it";
  if (to_look) return std::nullopt;
  const std::optional<PidNamespace> own = own_pid_namespace();
  if (!own || !(*own == layout.processes)) {
    return "belongs to another PID namespace, whose processes are not visible from this one";
  }
  return std::nullopt;
}

/// Waits for the lock up to its limit.
///
/// Neither thread sanitizer (g++ 12, clang 14) knows pthread_mutex_clocklock, or that a lock whose
/// owner died is taken. Unless it is told of the lock, it reports each unlock as one of an unlocked
/// mutex.
int lock_in_time(pthread_mutex_t& mutex) {
  timespec until{};
  ::clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += kLockLimit.count();
  TELL_SANITIZER(__tsan_mutex_pre_lock(&mutex, __tsan_mutex_try_lock));
  const int code = ::pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until);
  TELL_SANITIZER(__tsan_mutex_post_lock(
      &mutex,
      __tsan_mutex_try_lock | (code == 0 || code == EOWNERDEAD ? 0U : __tsan_mutex_try_lock_failed),
      0));
  return code;
}

/// Takes the lock, even after its owner died: the state that counts is whole in any case.
bool lock(pthread_mutex_t& mutex) {
  if (!is_of_our_kind(mutex)) return false;
  const int code = lock_in_time(mutex);
  return code == EOWNERDEAD ? ::pthread_mutex_consistent(&mutex) == 0 : code == 0;
}

/// The words of a state that are in use.
std::size_t words_of(std::uint32_t seats) {
  const std::size_t used = std::min<std::size_t>(seats, kStintTurnMembersMax);
  return (offsetof(TurnState, seats) + used * sizeof(TurnSeat)) / sizeof(std::uint64_t);
}

/// Reads words that another process may be writing.
void copy_words(std::uint64_t* words, std::size_t begin, std::size_t end, TurnState& state) {
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint64_t word = std::atomic_ref(words[i]).load(std::memory_order_acquire);
    std::memcpy(reinterpret_cast<char*>(&state) + i * sizeof word, &word, sizeof word);
  }
}

TurnState copy_state(std::uint64_t* words) {
  TurnState state;
  copy_words(words, 0, words_of(0), state);
  copy_words(words, words_of(0), words_of(state.seats_used), state);
  return state;
}

bool is_damaged(const TurnLayout& layout, const TurnState& state) {
  return !is_of_our_kind(layout.lock) || !is_sound(state, turn_clock());
}

}  // namespace

Nanoseconds turn_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::chrono::seconds(now.tv_sec) + Nanoseconds(now.tv_nsec);
}

std::size_t turn_file_size() { return sizeof(TurnLayout); }

TurnResult<TurnFile> TurnFile::open(const std::string& path, TurnWatch watch) {
  if (!own_identity()) return refusal(path, "cannot be used: /proc does not show this process");
  if (::access(path.c_str(), F_OK) != 0) {
    if (const std::optional<TurnRefusal> refused = make(path, watch)) return *refused;
  }
  return map(path, false, std::move(watch));
}

TurnResult<TurnFile> TurnFile::look(const std::string& path) { return map(path, true, {}); }

std::optional<TurnRefusal> TurnFile::make(const std::string& path, const TurnWatch& watch) {
  const auto passed = [&](TurnMoment moment) {
    if (watch) watch(TurnChange::kMake, moment);
  };
  std::string part = path + ".XXXXXX";
  const File file{::mkostemp(part.data(), O_CLOEXEC)};
  if (file.number < 0) return refusal(path, "cannot be created: " + last_problem());
  passed(TurnMoment::kLocked);
  // Allocates the memory here, so that a lack of it is an error here and not a fault at the first
  // store.
  errno = ::posix_fallocate(file.number, 0, sizeof(TurnLayout));
  const bool sized = errno == 0;
  void* memory = sized ? ::mmap(nullptr, sizeof(TurnLayout), PROT_READ | PROT_WRITE, MAP_SHARED,
                                file.number, 0)
                       : MAP_FAILED;
  if (memory == MAP_FAILED) {
    const TurnRefusal refused = refusal(path, "cannot be created: " + last_problem());
    ::unlink(part.c_str());
    return refused;
  }
  initialise(*static_cast<TurnLayout*>(memory));
  ::munmap(memory, sizeof(TurnLayout));
  passed(TurnMoment::kStored);
  // If another process was first, its file counts.
  const bool linked = ::link(part.c_str(), path.c_str()) == 0 || errno == EEXIST;
  const std::string problem = last_problem();
  passed(TurnMoment::kCounts);
  ::unlink(part.c_str());
  if (!linked) return refusal(path, "cannot be created: " + problem);
  return std::nullopt;
}

TurnResult<TurnFile> TurnFile::map(const std::string& path, bool to_look, TurnWatch watch) {
  const int mode = (to_look ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const File file{::open(path.c_str(), mode)};
  struct stat found {};
  if (file.number < 0 || ::fstat(file.number, &found) != 0) {
    return refusal(path, "cannot be opened: " + last_problem());
  }
  if (const auto wrong = wrong_with(found)) return refusal(path, *wrong);
  void* memory = ::mmap(nullptr, sizeof(TurnLayout), to_look ? PROT_READ : PROT_READ | PROT_WRITE,
                        MAP_SHARED, file.number, 0);
  if (memory == MAP_FAILED) return refusal(path, "cannot be mapped: " + last_problem());
  Mapping layout(static_cast<TurnLayout*>(memory),
                 [](TurnLayout* mapped) { ::munmap(mapped, sizeof(TurnLayout)); });
  if (const auto wrong = wrong_with(*layout, to_look)) return refusal(path, *wrong);
  TurnFile opened(std::move(layout), std::move(watch));
  if (opened.damaged()) return refusal(path, "is damaged: remove it when its jobs have ended");
  return opened;
}

std::optional<TurnState> TurnFile::stored() const {
  const std::atomic_ref sequence(layout_->sequence);
  for (int read = 0; read < kReadsMax; ++read) {
    const std::uint64_t before = sequence.load(std::memory_order_acquire);
    const TurnState state = copy_state(layout_->states[before & 1]);
    // The copy that counts is not written again before the other copy has counted.
    if (sequence.load(std::memory_order_relaxed) == before) return state;
  }
  return std::nullopt;
}

std::optional<TurnState> TurnFile::snapshot() const {
  std::optional<TurnState> state = stored();
  if (state && is_damaged(*layout_, *state)) return TurnState{};
  return state;
}

bool TurnFile::damaged() const {
  const std::optional<TurnState> state = stored();
  return state && is_damaged(*layout_, *state);
}

TurnState TurnFile::current() const {
  const TurnState state =
      copy_state(layout_->states[std::atomic_ref(layout_->sequence).load() & 1]);
  return is_damaged(*layout_, state) ? TurnState{} : state;
}

void TurnFile::store(const TurnState& state, TurnChange kind) {
  const std::atomic_ref sequence(layout_->sequence);
  const std::uint64_t next = sequence.load(std::memory_order_relaxed) + 1;
  const std::size_t words = words_of(state.seats_used);
  for (std::size_t i = 0; i < words; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const char*>(&state) + i * sizeof word, sizeof word);
    // A reader of the copy that counted before the last change must see that change's sequence
    // number after it sees this word.
    std::atomic_ref(layout_->states[next & 1][i]).store(word, std::memory_order_release);
    if (i == words / 2) at(kind, TurnMoment::kHalfStored);
  }
  at(kind, TurnMoment::kStored);
  sequence.store(next, std::memory_order_release);
  at(kind, TurnMoment::kCounts);
}

bool TurnFile::change(TurnChange kind, int self, const std::function<bool(TurnState&)>& edit) {
  if (!lock(layout_->lock)) return false;
  at(kind, TurnMoment::kLocked);
  TurnState state = current();
  const int holder = state.holder;
  const bool changed = edit(state);
  if (changed) store(state, kind);
  ::pthread_mutex_unlock(&layout_->lock);
  at(kind, TurnMoment::kUnlocked);
  // A member that has to wait longer by the rhythm must know until when.
  const int woken = state.holder < 0 ? next_in_line(state) : state.holder;
  if (changed && woken >= 0 && woken != self && (state.holder < 0 || state.holder != holder)) {
    futex_wake(layout_->wakes[woken]);
  }
  at(kind, TurnMoment::kWoken);
  return true;
}

void TurnFile::sleep(int seat, std::uint32_t seen, Nanoseconds limit) {
  futex_wait(layout_->wakes[seat], seen, limit);
}

std::uint32_t TurnFile::wakes(int seat) { return futex_word(layout_->wakes[seat]); }

}  // namespace stint
