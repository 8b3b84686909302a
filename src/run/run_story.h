#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/codec_fields.h"
#include "run/run_lines.h"

namespace stint {

/// A machine of a run, from its launch to its end.
struct StoryVm {
  std::string name;
  std::string type;
  Market market = Market::kOnDemand;
  Seconds from;
  std::optional<Seconds> until = {};  // Absent: it is up.
  Seconds billed;                     // Time that is billed.
  Dollars cost;
  bool taken = false;  // Interrupted by the provider.
};

/// Workers that trained together.
struct StoryAttempt {
  int number = 0;
  std::vector<int> vms;  // Of the latest attempts only, see RunTeller.
  Seconds ordered;
  std::optional<Seconds> training = {};  // Start of training.
  Seconds until;
  std::int64_t from_step = 0;
  std::int64_t to_step = 0;
  Seconds predicted;                     // Predicted time of a step.
  std::optional<Seconds> measured = {};  // Median measured time of a step.
  std::int64_t steps = 0;                // Number of steps that were timed.
};

/// The time and cost of one activity of a run.
struct StoryPart {
  const char* name = "";
  Seconds time;
  Dollars cost;
};

/// A run so far.
struct RunStory {
  std::optional<RunVerdict> outcome = {};  // Absent: the run continues.
  std::string reason = {};
  Seconds time;            // Since the start, until the end or the last event.
  std::int64_t steps = 0;  // Steps to train, by the latest plan.
  std::int64_t reached = 0;
  std::int64_t saved = 0;
  bool plain = false;  // The script takes no orders: it saves by itself.
  Dollars cost;
  std::vector<StoryVm> vms = {};
  std::vector<StoryAttempt> attempts = {};
  std::vector<StoryPart> parts = {};  // They add up to time and cost.
  std::vector<StoryLine> lines = {};
  std::int64_t lines_before = 0;  // Earlier ones, which are not kept.
  int saves = 0;
  std::optional<Seconds> save_time = {};  // Median time of a checkpoint.
  int losses = 0;                         // Machines lost.
  std::int64_t redone = 0;                // Steps that were trained more than once.
};

/// Times whose median is wanted. Of many only every second, fourth, … is kept.
struct TimeSample {
  std::vector<Seconds> times = {};
  std::int64_t every = 1;
  std::int64_t seen = 0;

  void add(Seconds time);
  std::optional<Seconds> median() const;
};

/// A machine, as a teller keeps it.
struct ToldVm {
  int number = 0;
  std::string type = {};
  Market market = Market::kOnDemand;
  DollarsPerSecond price;  // The latest while it was up.
  Seconds from;
  std::optional<Seconds> until = {};
  std::optional<Seconds> billed = {};
  Dollars cost;
  bool taken = false;
};

/// A line of the event list, as a teller keeps it.
struct ToldLine {
  Seconds at;
  std::string text = {};
  bool saved = false;
};

/// What a teller has seen.
struct ToldRun {
  Seconds now;
  std::vector<ToldVm> vms = {};
  std::vector<StoryAttempt> attempts = {};
  std::int64_t attempts_before = 0;  // Earlier ones, which are not kept.
  std::vector<ToldLine> lines = {};
  std::int64_t lines_before = 0;
  std::optional<RunVerdict> outcome = {};
  std::string reason = {};
  std::int64_t highest = 0;  // The latest step that was ever reached.
  bool broken = false;       // The latest attempt no longer trains.
  TimeSample steps = {};     // Of the latest attempt.
  int saves = 0;
  TimeSample save_times = {};
  int losses = 0;
  std::int64_t redone = 0;
  std::vector<Seconds> times = {};  // Of each activity.
  std::vector<Dollars> costs = {};
};

/// The error in what no teller has seen; empty: none.
std::string problem(const ToldRun& it);

/// Walks through the moments of a run and adds up times and costs. However long the run is, it
/// keeps the latest 10,000 lines, the latest 5,000 attempts, and the machines of the latest 100 of
/// these; sums and machines are those of the whole run.
class RunTeller {
 public:
  RunTeller();

  /// Goes on from a snapshot.
  explicit RunTeller(ToldRun told);

  /// A moment that `supervisor` has just handled.
  void see(const Supervisor& supervisor, const RunMoment& moment);

  RunStory story(const Supervisor& supervisor) const;

  const ToldRun& told() const { return it_; }

 private:
  /// The present activity of the machines.
  enum Doing { kTraining, kAgain, kStarting, kStanding, kDoings };

  Doing doing() const;
  void pass_until(Seconds at);
  void resume();
  void keep_lines(const Supervisor& supervisor, const RunMoment& moment);
  bool trains_on(int vm) const;
  ToldVm* find(int vm);
  void come(int vm, const RunVm& it);
  void announce(int vm);
  void go(int vm, bool taken);
  void bill(const RunEvent& event);
  void change_prices(const Supervisor& supervisor);
  void begin(const RunEvent& event);
  void step(const RunEvent& event);
  void act(const RunAction& action, std::optional<Seconds> predicted);
  void begin_attempt(const RunAction& action, std::optional<Seconds> predicted);

  ToldRun it_;
  std::map<int, std::size_t> places_;     // Of machines, by number.
  std::vector<std::size_t> up_;           // Places of machines that are up.
  std::optional<DollarsPerSecond> rate_;  // Their price; absent: it is to be added up.
};

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, StoryAttempt>& it) {
  walk.field("number", it.number, "Number of the attempt.");
  walk.field("vms", it.vms, "VM numbers; absent: not kept.");
  walk.number("ordered_s", it.ordered, kSecond, "When it was ordered.");
  walk.number("training_s", it.training, kSecond, "When training began; absent: it did not.");
  walk.number("until_s", it.until, kSecond, "When its last step was done.");
  walk.field("from_step", it.from_step, "Step after which it began.");
  walk.field("to_step", it.to_step, "Its last step.");
  walk.number("predicted_s", it.predicted, kSecond, "Predicted time of a step.");
  walk.number("measured_s", it.measured, kSecond, "Median measured time of a step.");
  walk.field("steps", it.steps, "Number of steps that were timed.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, TimeSample>& it) {
  walk.numbers("times_s", it.times, kSecond, "Times, evenly chosen.");
  walk.field("every", it.every, "One of so many.", {.range = Range::kAtLeastOne});
  walk.field("seen", it.seen, "Number of times so far.", {.range = Range::kNotNegative});
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ToldVm>& it) {
  walk.field("number", it.number, "VM number.", {.range = Range::kNotNegative});
  walk.field("type", it.type, "VM type.");
  walk.field("market", it.market, "Market that it comes from.");
  walk.number("price_usd_per_s", it.price, kDollar / kSecond, "Its latest price.");
  walk.number("from_s", it.from, kSecond, "When it came.");
  walk.number("until_s", it.until, kSecond, "When it went; absent: it is up.");
  walk.number("billed_s", it.billed, kSecond, "Time that is billed; absent: not yet.");
  walk.number("cost_usd", it.cost, kDollar, "Its bill.");
  walk.field("taken", it.taken, "Whether it was interrupted.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ToldLine>& it) {
  walk.number("at_s", it.at, kSecond, "Since the run began.");
  walk.field("text", it.text, "What happened.");
  walk.field("saved", it.saved, "Whether it says that a checkpoint is complete.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ToldRun>& it) {
  walk.number("now_s", it.now, kSecond, "Time of the last event.");
  walk.field("vms", it.vms, "Machines that came.");
  walk.field("attempts", it.attempts, "The latest attempts.");
  walk.field("attempts_before", it.attempts_before, "Number of earlier ones.");
  walk.field("lines", it.lines, "The latest lines of the event list.");
  walk.field("lines_before", it.lines_before, "Number of earlier ones.");
  walk.field("outcome", it.outcome, "How the run ended; absent: it goes on.");
  walk.field("reason", it.reason, "Why it ended.");
  walk.field("highest", it.highest, "The latest step that was ever reached.");
  walk.field("broken", it.broken, "Whether the latest attempt no longer trains.");
  walk.field("steps", it.steps, "Times of the steps of the latest attempt.");
  walk.field("saves", it.saves, "Number of checkpoints.");
  walk.field("save_times", it.save_times, "Times of checkpoints.");
  walk.field("losses", it.losses, "Machines lost.");
  walk.field("redone", it.redone, "Steps that were trained more than once.");
  walk.numbers("times_s", it.times, kSecond,
               "Time of each activity: training, repeating lost "
               "steps, start-up, stalled.");
  walk.numbers("costs_usd", it.costs, kDollar, "Cost of each of them.");
}

}  // namespace stint
