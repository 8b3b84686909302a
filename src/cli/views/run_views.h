#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/run/run_report.h"
#include "cli/views/view.h"

namespace stint {

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, StoryVm>& it) {
  constexpr Range kRange = Range::kNotNegative;
  walk.field("name", it.name, "Name of the VM.");
  walk.field("type", it.type, "VM type.");
  walk.field("market", it.market, "Market that it comes from.");
  walk.number("from_s", it.from, kSecond, "When it came, since the run began.");
  walk.number("until_s", it.until, kSecond,
              "When it went; absent: it is there, or nobody saw it go.");
  walk.number("billed_s", it.billed, kSecond, "Time that is paid for.", kRange);
  walk.number("cost_usd", it.cost, kDollar, "What it cost.", kRange);
  walk.field("taken_back", it.taken, "Whether it was preempted.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, StoryLine>& it) {
  walk.number("at_s", it.at, kSecond, "Since the run began.");
  walk.field("text", it.text, "What happened.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SavePoint>& it) {
  constexpr Range kRange = Range::kNotNegative;
  walk.field("step", it.step, "Step that it holds.", {.range = kRange});
  walk.number("bytes", it.bytes, kByte, "Its size.", kRange);
  walk.number("stall_s", it.stall, kSecond, "Training waited so long.", kRange);
  walk.number("transfer_s", it.transfer, kSecond, "After that, until it was safe.", kRange);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ScriptFile>& it) {
  walk.field("path", it.path, "Where it is.");
  walk.number("size_bytes", it.size, kByte, "How large it is.", Range::kNotNegative);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, TurnstileMember>& it) {
  constexpr Range kRange = Range::kNotNegative;
  walk.field("run", it.run, "Name of the run.");
  walk.field("state", it.state, "absent, idle, waiting or holding.");
  walk.number("since_s", it.since, kSecond, "How long it is waiting or holding.", kRange);
  walk.field("turns", it.turns, "Turns that it had.", {.range = kRange});
  walk.number("held_s", it.held, kSecond, "Time in its turns.", kRange);
  walk.number("waited_s", it.waited, kSecond, "Time waiting for them.", kRange);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, TurnstileStanding>& it) {
  walk.field("vm", it.vm, "Name of the VM.");
  walk.field("deaths", it.deaths, "Processes that died in the queue.",
             {.range = Range::kNotNegative});
  walk.field("members", it.members, "Runs that share the VM.", {.always = true});
}

}  // namespace stint

namespace stint::cli {

/// Machines that are up though no process conducts their run.
struct LeftMachinesView {
  std::vector<std::string> vms;
  DollarsPerSecond rate;
  Dollars cost;
  std::optional<std::string> resume;
  std::string release;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, LeftMachinesView>& it) {
  walk.field("vms", it.vms, "Names of the VMs.", kList);
  walk.number("rate_usd_per_h", it.rate, kDollar / kHour, "What they cost at present.",
              Range::kNotNegative);
  walk.number("cost_usd", it.cost, kDollar, "What they cost so far.", Range::kNotNegative);
  walk.field("resume", it.resume, "Command that resumes the run; absent: it is complete.");
  walk.field("release", it.release, "Command that releases them.");
}

struct RunLineView {
  std::string name;
  std::string state;
  std::int64_t reached = 0;
  std::int64_t saved = 0;
  std::int64_t steps = 0;
  Seconds began;
  Seconds time;
  Dollars cost;
  std::optional<LeftMachinesView> left;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, RunLineView>& it) {
  walk.field("name", it.name, "Name of the run.");
  walk.field("state", it.state, "running, unattended, halted, or how it ended.");
  walk.field("reached", it.reached, "Steps trained.", kCount);
  walk.field("saved", it.saved, "Step of the last checkpoint.", kCount);
  walk.field("steps", it.steps, "Steps to be trained.", kCount);
  walk.number("began_s", it.began, kSecond, "When it began, since 1970.");
  walk.number("time_s", it.time, kSecond, "Since it began.", Range::kNotNegative);
  walk.number("cost_usd", it.cost, kDollar, "What it cost.", Range::kNotNegative);
  walk.field("left", it.left, "Machines that are up though no process conducts the run.");
}

/// `stint status` without a run.
struct RunsView {
  static constexpr const char* kSchema = "stint.runs/1";
  static constexpr const char* kTitle = "All runs";
  std::vector<RunLineView> runs;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, RunsView>& it) {
  walk.field("runs", it.runs, "The latest last.", kList);
}

struct ForecastView {
  TimeRange time;
  CostRange cost;
  double losses = 0;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, ForecastView>& it) {
  walk.field("time_s", it.time, "Completion time.");
  walk.field("cost_usd", it.cost, "The whole bill.");
  walk.field("losses", it.losses, "Expected number of machines lost.", kCount);
}

struct RunPartView {
  std::string name;
  Seconds time;
  Dollars cost;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, RunPartView>& it) {
  walk.field("name", it.name, "Name of the part.");
  walk.number("time_s", it.time, kSecond, "Its time.");
  walk.number("cost_usd", it.cost, kDollar, "Its cost.");
}

struct AttemptView {
  int number = 0;
  std::vector<std::string> vms;
  Seconds ordered;
  std::optional<Seconds> training;
  Seconds until;
  std::int64_t from_step = 0;
  std::int64_t to_step = 0;
  Seconds step_predicted;
  std::optional<Seconds> step_measured;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, AttemptView>& it) {
  walk.field("number", it.number, "Its number.", kCount);
  walk.field("vms", it.vms, "Names of its VMs.", kList);
  walk.number("ordered_s", it.ordered, kSecond, "When it was started, since the run began.");
  walk.number("training_s", it.training, kSecond, "When training began.");
  walk.number("until_s", it.until, kSecond, "When it ended.");
  walk.field("from_step", it.from_step, "Step that it began with.", kCount);
  walk.field("to_step", it.to_step, "Step that it reached.", kCount);
  walk.number("step_predicted_s", it.step_predicted, kSecond, "Predicted time of a step.",
              Range::kNotNegative);
  walk.number("step_measured_s", it.step_measured, kSecond, "Median of measured steps.",
              Range::kNotNegative);
}

struct RunSharingView {
  std::string partner;
  SharingMode mode = SharingMode::kBucket;
  int turns = 1;
  double slowdown = 1;
  std::vector<TurnstileStanding> turnstiles;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, RunSharingView>& it) {
  walk.field("partner", it.partner, "Name of the other run.");
  walk.field("mode", it.mode, "How both share the machines.");
  walk.field("turns", it.turns, "Its turns in a round.", kCount);
  walk.field("slowdown", it.slowdown, "Predicted time of a step relative to training alone.",
             kCount);
  walk.field("turnstiles", it.turnstiles, "State of the shared machines.", kList);
}

/// `stint report`, `stint status RUN` and `stint run`.
struct RunReportView {
  static constexpr const char* kSchema = "stint.run-report/1";
  static constexpr const char* kTitle = "One run: forecast, bill, machines and events";
  std::string name;
  std::string job;
  std::string state;
  std::string reason;
  std::int64_t steps = 0;
  std::int64_t reached = 0;
  std::int64_t saved = 0;
  std::optional<bool> plain;
  std::vector<ScriptFile> files;
  std::int64_t redone = 0;
  int losses = 0;
  Seconds time;
  Dollars cost;
  std::optional<Seconds> deadline;
  std::optional<Dollars> budget;
  std::optional<ForecastView> forecast;
  std::optional<ForecastView> hindsight;
  std::vector<RunPartView> parts;
  std::vector<StoryVm> vms;
  std::vector<AttemptView> attempts;
  std::vector<SavePoint> saves;
  std::vector<StoryLine> events;
  std::optional<RunSharingView> sharing;
  std::optional<SearchRecord> search;
  std::optional<LeftMachinesView> left;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, RunReportView>& it) {
  walk.field("name", it.name, "Name of the run.");
  walk.field("job", it.job, "Name of the job.");
  walk.field("state", it.state, "running, unattended, halted, or how it ended.");
  walk.field("reason", it.reason, "Why it ended.");
  walk.field("steps", it.steps, "Steps to be trained.", kCount);
  walk.field("reached", it.reached, "Steps trained.", kCount);
  walk.field("saved", it.saved, "Step of the last checkpoint.", kCount);
  walk.field("plain", it.plain, "True: the script takes no orders, and saves by itself.");
  walk.field("files", it.files, "Files that the script wrote, latest first.");
  walk.field("redone", it.redone, "Steps that were trained more than once.", kCount);
  walk.field("losses", it.losses, "Number of machines lost.", kCount);
  walk.number("time_s", it.time, kSecond, "Since it began.", Range::kNotNegative);
  walk.number("cost_usd", it.cost, kDollar, "What it cost.", Range::kNotNegative);
  walk.number("deadline_s", it.deadline, kSecond, "Maximum completion time.", Range::kNotNegative);
  walk.number("budget_usd", it.budget, kDollar, "Maximum cost.", Range::kNotNegative);
  walk.field("forecast", it.forecast, "What was predicted when it began.");
  walk.field("hindsight", it.hindsight, "The prediction, had the market been known.");
  walk.field("parts", it.parts, "Where time and money went.", kList);
  walk.field("vms", it.vms, "Machines of the run.", kList);
  walk.field("attempts", it.attempts, "Groups of workers that trained together.", kList);
  walk.field("saves", it.saves, "Measured checkpoints.", kList);
  walk.field("events", it.events, "What happened, in order.", kList);
  walk.field("sharing", it.sharing, "How it shares machines with another run.");
  walk.document("search", it.search, kSearchSchema, "The search, where the run is one.");
  walk.field("left", it.left, "Machines that are up though no process conducts the run.");
}

/// `stint run --interleave`.
struct RunsTogetherView {
  static constexpr const char* kSchema = "stint.runs-together/1";
  static constexpr const char* kTitle = "Two runs that shared machines";
  Seconds time;
  Dollars cost;
  std::optional<SharingMode> mode;
  std::vector<RunReportView> runs;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, RunsTogetherView>& it) {
  walk.number("time_s", it.time, kSecond, "Makespan.", Range::kNotNegative);
  walk.number("cost_usd", it.cost, kDollar, "Cost of both.", Range::kNotNegative);
  walk.field("mode", it.mode, "How both shared the machines.");
  walk.document("runs", it.runs, RunReportView::kSchema, "The two runs.");
}

/// `stint search`: the record of a search, and how its run ended.
struct SearchView {
  static constexpr const char* kSchema = kSearchSchema;
  static constexpr const char* kTitle = "A search while training, and how it ended";
  SearchRecord record;
  std::string outcome;
  std::string reason;
  Seconds time;
  Dollars cost;
  std::int64_t steps = 0;
  std::int64_t redone = 0;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, SearchView>& it) {
  describe_search(walk, it.record);
  walk.field("outcome", it.outcome, "running, how the run ended, or target-missed.");
  walk.field("reason", it.reason, "Why it ended.");
  walk.number("time_s", it.time, kSecond, "Since it began.", Range::kNotNegative);
  walk.number("cost_usd", it.cost, kDollar, "What it cost.", Range::kNotNegative);
  walk.field("steps", it.steps, "Step of the last checkpoint.", kCount);
  walk.field("redone", it.redone, "Steps that were trained more than once.", kCount);
  walk.rest(it.record.unknown);
}

}  // namespace stint::cli
