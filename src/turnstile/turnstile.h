// The turnstile of one accelerator: jobs that share it compute one at a time. This is the C
// interface of libstint_turnstile.so; the header is C as well as C++.
//
// The state is a file in shared memory (mode 0600, best on a tmpfs) that the members map. Whoever
// made the folder removes the file. All functions may be called by any thread; a member is one
// thread's business at a time.
//
// A member is in one of these states:
//
//   absent ──join──► idle ──ask──► waiting ──(the rhythm)──► holding ──give──► idle
//                      ▲              │                         │
//                      └──withdraw────┘        offer: holding ──┴──► waiting, if somebody waits
//
//   leave, or the death of its process: from any state to absent.
//
// At most one member holds the turn, and the turn is in one of these states:
//
//   free     Nobody holds it, and nobody waits.
//   kept     Nobody holds it; who waits has to leave it for a while to one that the plan has first.
//   held     By one member, since a moment.
//
// Each change of state is made under a lock, written beside the state that counts, and then counts
// at once, by one store: a process that is killed at any instruction has made the change or has
// not. The lock is a robust mutex, which the kernel passes on when its owner dies. A member that
// was given the turn is woken by a futex of its own, and looks by itself every 20 ms, so that it
// goes on even if whoever was to wake it has died. Then it also looks whether any member's process
// is gone (by its number and its start, or because all its threads are exiting) and makes that
// member absent. So the turn of a process that was killed passes on within some 20 ms.
//
// The rhythm. Time goes in rounds, in which member i has share_i turns.
//   1. Who asked first is first, among those that have turns left in the round.
//   2. When those who wait have none left, the next round begins.
//   3. The plan's order breaks ties: a member of a lower order is let first that asks at most its
//      `patience` later. The same rule on every accelerator is what lets the workers of a job
//      compute at the same time on all of them.
//   4. A round that somebody has not used up yet ends only after its `patience`, counted from when
//      the turn was free and wanted.
// So with a patience of a few milliseconds jobs come in the order in which they ask, and no time is
// lost to waiting for somebody who synchronises; with a patience longer than that takes, the rhythm
// is strict: share_A turns of A, then share_B of B, and so on.
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
  kStintTurnVersion = 1,      // Of the shared file.
  kStintTurnMembersMax = 64,  // At one turnstile.
  kStintTurnNameSize = 48,    // Of a job's name, with the zero at its end.
};

/// What the functions return.
enum StintTurnCode {
  kStintTurnOk = 0,
  kStintTurnTimedOut =
      1,  // The limit is over: the turn is another's, and this member does not wait.
  kStintTurnNotHolder = 2,  // Only who holds the turn can give it.
  kStintTurnNotMember = 3,  // The member has left, or this is a fork of the process that joined.
  kStintTurnRefused = 4,    // The file or the options; the reason says why.
  kStintTurnFull = 5,       // All places are taken.
  kStintTurnWaiting = 6,    // Somebody else has the turn; this member stays in the queue.
};

/// How a job takes part.
typedef struct StintTurnOptions {
  const char* name;     // Of the job; its figures go on when it joins again.
  uint32_t order;       // Place in the plan, the same on all accelerators; lower goes first.
  uint32_t share;       // Turns in each round, at least 1.
  int64_t patience_ns;  // How long others wait for this job when the plan has it before them.
} StintTurnOptions;

typedef struct StintTurnMember StintTurnMember;

/// Joins the turnstile at `path`, which is made where there is none. What is refused (a file of
/// another version, size, user or PID namespace, or readable by others) has its reason written to
/// `reason`, of `reason_size` bytes. A name that is there already is another member.
int stint_turn_join(const char* path, const StintTurnOptions* options, StintTurnMember** member,
                    char* reason, size_t reason_size);

/// Gives the turn if this member holds it, leaves, and frees the member.
int stint_turn_leave(StintTurnMember* member);

/// Waits for the turn, at most `limit_ns`. Done already where the member holds it.
int stint_turn_take(StintTurnMember* member, int64_t limit_ns);

/// Hands the turn to whoever is next.
int stint_turn_give(StintTurnMember* member);

/// For sharing freely: hands the turn on and waits for it again, at most `limit_ns`, if it was held
/// for `quantum_ns` or longer and somebody waits. At the limit the turn is lost, as with take.
int stint_turn_offer(StintTurnMember* member, int64_t quantum_ns, int64_t limit_ns);

/// The parts of take, for callers that want to look up from time to time. Ask returns at once, with
/// kStintTurnOk or kStintTurnWaiting; so does wait after at most `limit_ns`; withdraw leaves the
/// queue, with kStintTurnTimedOut, unless the turn has come meanwhile (kStintTurnOk).
int stint_turn_ask(StintTurnMember* member);
int stint_turn_wait(StintTurnMember* member, int64_t limit_ns);
int stint_turn_withdraw(StintTurnMember* member);

/// The states of a member.
enum StintTurnState {
  kStintTurnAbsent = 0,  // It left or died; its figures are still there.
  kStintTurnIdle = 1,
  kStintTurnInQueue = 2,
  kStintTurnHolding = 3,
};

/// A job at a turnstile.
typedef struct StintTurnFigures {
  char name[kStintTurnNameSize];
  int32_t process;  // As its own PID namespace counts.
  uint32_t state;   // A StintTurnState.
  uint32_t order;
  uint32_t share;
  int64_t since_ns;   // For how long it has been waiting or holding.
  uint64_t turns;     // Also the one that it holds.
  int64_t held_ns;    // Altogether.
  int64_t waited_ns;  // Altogether, in the queue.
} StintTurnFigures;

/// A turnstile at one moment. Turns of jobs whose places were needed for others are
/// `turns_forgotten`: the members' turns and these add up to `turns`.
typedef struct StintTurnStatus {
  uint32_t version;
  uint32_t count;  // Of members, also of absent ones.
  uint64_t turns;
  uint64_t turns_forgotten;
  uint64_t rounds;
  uint64_t deaths;  // Of processes that did not leave.
  StintTurnFigures members[kStintTurnMembersMax];
} StintTurnStatus;

/// Looks at a turnstile without touching it, from any PID namespace.
int stint_turn_status(const char* path, StintTurnStatus* status, char* reason, size_t reason_size);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
