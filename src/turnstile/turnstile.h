// The turnstile of one accelerator: jobs that share it compute one at a time. This is the C
// interface of libstint_turnstile.so; the header is C as well as C++.
//
// The state is a file in shared memory (mode 0600, best on a tmpfs) that the members map. The
// creator of the folder removes the file. All functions may be called by any thread; a member may
// be used by one thread at a time.
//
// A member is in one of these states:
//
//   absent ──join──► idle ──ask──► waiting ──(the rhythm)──► holding ──give──► idle
//                      ▲              │                         │
//                      └──withdraw────┘        offer: holding ──┴──► waiting, if another waits
//
//   leave, or the death of its process: from any state to absent.
//
// At most one member holds the turn, and the turn is in one of these states:
//
//   free     No member holds it, and none waits.
//   kept     No member holds it; it is kept for a while for one that the plan has first.
//   held     One member holds it, since a moment.
//
// Each change of state is made under a lock, written beside the state that counts, and takes effect
// by one store: a process that is killed at any instruction has made the change or has not. The
// lock is a robust mutex, which the kernel passes on when its owner dies. A member that was given
// the turn is woken by its own futex, and checks by itself every 20 ms, so that it continues even
// if the process that should wake it has died. It then also checks whether any member's process has
// ended (by its number and start time, or because all its threads are exiting) and makes that
// member absent. The turn of a killed process therefore passes on within some 20 ms.
//
// The rhythm. Time is divided into rounds, in which member i has share_i turns.
//   1. The member that asked first is first, among those that have turns left in the round.
//   2. When no waiting member has turns left, the next round begins.
//   3. The plan's order breaks ties: a member of a lower order that asks at most its
//      `patience` later goes first. The same rule on every accelerator lets the workers of a job
//      compute at the same time on all of them.
//   4. A round in which a member has turns left ends only after that member's `patience`, counted
//      from when the turn was free and a member waited.
// With a patience of a few milliseconds jobs get turns in the order in which they ask, and no time
// is lost to waiting for a job that synchronises; with a patience longer than the synchronisation,
// the rhythm is strict: share_A turns of A, then share_B of B, and so on.
//
// Processes must see each other by number: all members belong to one PID namespace.

#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum {
  kStintTurnVersion = 1,      // Version of the shared file.
  kStintTurnMembersMax = 64,  // At one turnstile.
  kStintTurnNameSize = 48,    // Of a job's name, with the zero at its end.
};

/// The results of the functions.
enum StintTurnCode {
  kStintTurnOk = 0,
  kStintTurnTimedOut =
      1,  // The limit is over: the turn is another's, and this member does not wait.
  kStintTurnNotHolder = 2,  // Only the holder of the turn can give it.
  kStintTurnNotMember = 3,  // The member has left, or this is a fork of the process that joined.
  kStintTurnRefused = 4,    // The file or the options are refused; the reason says why.
  kStintTurnFull = 5,       // All seats are taken.
  kStintTurnWaiting = 6,    // Another member has the turn; this member stays in the queue.
};

/// The options of a job.
typedef struct StintTurnOptions {
  const char* name;     // Name of the job; its figures continue when it joins again.
  uint32_t order;       // Position in the plan, the same on all accelerators; lower goes first.
  uint32_t share;       // Turns in each round, at least 1.
  int64_t patience_ns;  // How long others wait for this job when the plan has it before them.
} StintTurnOptions;

typedef struct StintTurnMember StintTurnMember;

/// Joins the turnstile at `path`, which is made where there is none. The reason of a refusal (a
/// file of another version, size, user or PID namespace, or readable by others) is written to
/// `reason`, of `reason_size` bytes. A second join of the same name is another member.
int stint_turn_join(const char* path, const StintTurnOptions* options, StintTurnMember** member,
                    char* reason, size_t reason_size);

/// Gives the turn if this member holds it, leaves, and frees the member.
int stint_turn_leave(StintTurnMember* member);

/// Waits for the turn, at most `limit_ns`. Done already where the member holds it.
int stint_turn_take(StintTurnMember* member, int64_t limit_ns);

/// Gives the turn to the next member.
int stint_turn_give(StintTurnMember* member);

/// For free sharing: gives the turn and waits for it again, at most `limit_ns`, if it was held for
/// `quantum_ns` or longer and another member waits. At the limit the turn is lost, as with take.
int stint_turn_offer(StintTurnMember* member, int64_t quantum_ns, int64_t limit_ns);

/// The parts of take, for callers that do other work from time to time. Ask returns at once, with
/// kStintTurnOk or kStintTurnWaiting; so does wait after at most `limit_ns`; withdraw leaves the
/// queue, with kStintTurnTimedOut, unless the turn was given meanwhile (kStintTurnOk).
int stint_turn_ask(StintTurnMember* member);
int stint_turn_wait(StintTurnMember* member, int64_t limit_ns);
int stint_turn_withdraw(StintTurnMember* member);

/// The states of a member.
enum StintTurnState {
  kStintTurnAbsent = 0,  // The job left or died; its figures are kept.
  kStintTurnIdle = 1,
  kStintTurnInQueue = 2,
  kStintTurnHolding = 3,
};

/// A job at a turnstile.
typedef struct StintTurnFigures {
  char name[kStintTurnNameSize];
  int32_t process;  // Process id in its own PID namespace.
  uint32_t state;   // A StintTurnState.
  uint32_t order;
  uint32_t share;
  int64_t since_ns;   // Time since it began to wait or to hold.
  uint64_t turns;     // Including the present one.
  int64_t held_ns;    // Total.
  int64_t waited_ns;  // Total, in the queue.
} StintTurnFigures;

/// A turnstile at one moment. `turns_forgotten` are the turns of jobs whose seats were given to
/// others: the members' turns and these add up to `turns`.
typedef struct StintTurnStatus {
  uint32_t version;
  uint32_t count;  // Number of members, including absent ones.
  uint64_t turns;
  uint64_t turns_forgotten;
  uint64_t rounds;
  uint64_t deaths;  // Processes that ended without leaving.
  StintTurnFigures members[kStintTurnMembersMax];
} StintTurnStatus;

/// Reads a turnstile without changing it, from any PID namespace.
int stint_turn_status(const char* path, StintTurnStatus* status, char* reason, size_t reason_size);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
