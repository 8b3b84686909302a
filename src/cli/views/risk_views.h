#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/risk/risk_fit.h"
#include "app/risk/risk_saves.h"
#include "app/risk/risk_survive.h"
#include "cli/views/view.h"

namespace stint {

// For the codec.
template <class Walk>
void describe(Walk& walk, Like<Walk, TimeSummary>& it) {
  constexpr Range kRange = Range::kNotNegative;
  walk.field("count", it.count, "Number of durations.", {.range = kRange});
  walk.number("mean_s", it.mean, kSecond, "Mean duration.", kRange);
  walk.number("median_s", it.median, kSecond, "Median duration.", kRange);
  walk.number("p90_s", it.p90, kSecond, "90th percentile of the durations.", kRange);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, GroupLoss>& it) {
  walk.field("shared", it.shared, "Share of losses that occur in shocks.",
             {.range = Range::kFraction});
  walk.field("reach", it.reach, "Mean share of the pool that a shock preempts.",
             {.range = Range::kFraction});
}

template <class Walk>
void describe(Walk& walk, Like<Walk, TraceReport>& it) {
  constexpr FieldRules kNumber = {.range = Range::kNotNegative};
  walk.field("name", it.name, "Name of the trace.");
  walk.number("gap_s", it.gap, kSecond, "Time from one tick to the next.", Range::kNotNegative);
  walk.field("ticks", it.ticks, "Number of ticks.", kNumber);
  walk.field("machines_max", it.most, "Largest number of machines at once.", kNumber);
  walk.field("availability", it.availability, "Share of ticks with enough machines.",
             {.range = Range::kFraction});
  walk.field("up", it.up, "Spells with enough machines.");
  walk.field("down", it.down, "Spells without enough machines.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, StartupReport>& it) {
  walk.field("device", it.device, "GPU of the machines.");
  walk.field("market", it.market, "Market of the machines.");
  walk.field("time", it.time, "Time from the request until the machine is ready.");
}

template <class Walk>
void describe(Walk& walk, Like<Walk, FailureReport>& it) {
  constexpr FieldRules kNumber = {.range = Range::kNotNegative};
  walk.field("place", it.place, "Provider and zone.");
  walk.field("failures", it.failures, "Starts that failed.", kNumber);
  walk.field("hours", it.hours, "Hours from the first failure to the last.", kNumber);
  walk.field("hours_failed", it.hours_failed, "Share of those hours with a failure.",
             {.range = Range::kFraction});
  walk.field("longest_h", it.longest, "Longest series of consecutive hours with failures.",
             kNumber);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, RiskFigure>& it) {
  constexpr FieldRules kNumber = {.range = Range::kNotNegative};
  walk.field("typical", it.typical, "Value under the typical hazard.", kNumber);
  walk.field("low", it.low, "Smaller value at the ends of the hazard's band.", kNumber);
  walk.field("high", it.high, "Larger value at the ends of the hazard's band.", kNumber);
  walk.field("independent", it.independent, "Value if machines were independent.", kNumber);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, FirstLoss>& it) {
  constexpr Range kRange = Range::kNotNegative;
  walk.number_or_null("p10_s", it.p10, kSecond, "10th percentile; null: never.", kRange);
  walk.number_or_null("median_s", it.median, kSecond, "Median; null: never.", kRange);
  walk.number_or_null("p90_s", it.p90, kSecond, "90th percentile; null: never.", kRange);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, LeftShare>& it) {
  walk.field("machines", it.machines, "Smallest number of machines left.",
             {.range = Range::kNotNegative});
  walk.field("probability", it.typical,
             "Probability that at least this number of machines is left.",
             {.range = Range::kFraction});
  walk.field("independent", it.independent, "The same probability if machines were independent.",
             {.range = Range::kFraction});
}

template <class Walk>
void describe(Walk& walk, Like<Walk, SaveInterval>& it) {
  walk.number("interval_s", it.interval, kSecond, "Checkpoint interval; absent: no checkpoint.",
              Range::kNotNegative);
  walk.field("waste", it.waste, "Share of the time that is lost.", {.range = Range::kNotNegative});
}

}  // namespace stint

namespace stint::cli {

inline constexpr const char* kRiskSchema = "stint.risk/1";

struct HorizonView {
  double hours = 0;
  std::optional<double> measured;
  std::optional<double> low;
  std::optional<double> high;
  double fitted = 1;
  double exponential = 1;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, HorizonView>& it) {
  walk.field("hours", it.hours, "Age of a machine.", kCount);
  walk.field("measured", it.measured, "Share of machines that outlive the age.", kShare);
  walk.field("low", it.low, "Lower end of the 95 % interval of the share.", kShare);
  walk.field("high", it.high, "Upper end of the 95 % interval of the share.", kShare);
  walk.field("fitted", it.fitted, "Share by the fitted hazard.", kShare);
  walk.field("exponential", it.exponential, "Share by a constant hazard.", kShare);
}

struct HazardStepView {
  Seconds from;
  PerSecond rate;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, HazardStepView>& it) {
  walk.number("from_s", it.from, kSecond, "Age from which the rate holds.", Range::kNotNegative);
  walk.number("per_hour", it.rate, 1 / kHour, "Losses per hour of one machine.",
              Range::kNotNegative);
}

struct LifetimesView {
  int machines = 0;
  int losses = 0;
  Seconds exposure;
  PerSecond rate;
  std::vector<HorizonView> survival;
  std::vector<HazardStepView> hazard;
  std::map<std::string, double> kinds;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, LifetimesView>& it) {
  walk.field("machines", it.machines, "Machines in the files.", kCount);
  walk.field("losses", it.losses, "Machines that were preempted.", kCount);
  walk.number("exposure_s", it.exposure, kSecond, "Total machine time.", Range::kNotNegative);
  walk.number("exponential_per_hour", it.rate, 1 / kHour, "Hazard rate if it were constant.",
              Range::kNotNegative);
  walk.field("survival", it.survival, "Survival by age.", kList);
  walk.field("hazard", it.hazard, "Fitted hazard by age.", kList);
  walk.field("kinds", it.kinds, "Factors of the hazard by kind of machine.",
             {.range = Range::kNotNegative, .always = true});
}

/// `stint risk fit`.
struct RiskFitView {
  static constexpr const char* kSchema = kRiskSchema;
  static constexpr const char* kTitle = "What traces and lifetimes say about a spot pool";
  std::string what = "fit";
  std::vector<TraceReport> traces;
  std::optional<GroupLoss> dependence;
  std::optional<LifetimesView> lifetimes;
  std::vector<StartupReport> startups;
  std::vector<FailureReport> creation_failures;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, RiskFitView>& it) {
  walk.field("what", it.what, "Kind of result: fit.");
  walk.field("traces", it.traces, "Availability traces.", kList);
  walk.field("dependence", it.dependence, "Dependence between the losses of one pool.");
  walk.field("lifetimes", it.lifetimes, "Lifetimes of machines.");
  walk.field("startups", it.startups, "Start-up times.", kList);
  walk.field("creation_failures", it.creation_failures, "Failed starts by place.", kList);
}

struct FirstLossView {
  FirstLoss dependent;
  FirstLoss independent;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, FirstLossView>& it) {
  describe(walk, it.dependent);
  walk.field("independent", it.independent, "The same time if machines were independent.");
}

/// `stint risk survive`.
struct SurviveView {
  static constexpr const char* kSchema = kRiskSchema;
  static constexpr const char* kTitle = "How many spot machines survive";
  std::string what = "survive";
  std::string vm;
  int count = 1;
  Seconds time;
  RiskFigure all_left;
  RiskFigure losses_expected;
  std::vector<LeftShare> at_least;
  FirstLossView first_loss;
  GroupLoss dependence;
  std::string hazard_origin;
  std::string dependence_origin;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, SurviveView>& it) {
  walk.field("what", it.what, "Kind of result: survive.");
  walk.field("vm", it.vm, "VM type.");
  walk.field("count", it.count, "Number of machines.", {.range = Range::kAtLeastOne});
  walk.number("for_s", it.time, kSecond, "Time for which the machines are needed.",
              Range::kNotNegative);
  walk.field("p_all_left", it.all_left, "Probability that all machines survive.");
  walk.field("losses_expected", it.losses_expected, "Expected number of losses.");
  walk.field("at_least", it.at_least, "Probability of each number of survivors.", kList);
  walk.field("first_loss", it.first_loss, "Time of the first loss.");
  walk.field("dependence", it.dependence, "Dependence between the losses of one pool.");
  walk.field("hazard_origin", it.hazard_origin, "Source of the hazard.");
  walk.field("dependence_origin", it.dependence_origin, "Source of the dependence.");
}

/// `stint risk saves`.
struct SavesView {
  static constexpr const char* kSchema = kRiskSchema;
  static constexpr const char* kTitle = "When spot machines should write checkpoints";
  std::string what = "saves";
  std::string vm;
  int count = 1;
  Seconds work;
  Seconds stall;
  Seconds transfer;
  std::optional<bool> fits_in_notice;
  double without_notice = 1;
  std::vector<Seconds> begins;
  double waste = 0;
  SaveInterval constant;
  SaveInterval young;
  SaveInterval daly;
  std::string hazard_origin;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, SavesView>& it) {
  constexpr Range kRange = Range::kNotNegative;
  walk.field("what", it.what, "Kind of result: saves.");
  walk.field("vm", it.vm, "VM type.");
  walk.field("count", it.count, "Number of machines.", {.range = Range::kAtLeastOne});
  walk.number("work_s", it.work, kSecond, "Training time without losses.", kRange);
  walk.number("stall_s", it.stall, kSecond, "Stall of each checkpoint.", kRange);
  walk.number("transfer_s", it.transfer, kSecond,
              "Time from the stall until the checkpoint is safe.", kRange);
  walk.field("fits_in_notice", it.fits_in_notice,
             "Whether a checkpoint fits into the interruption notice.");
  walk.field("without_notice", it.without_notice, "Share of losses without notice.", kShare);
  walk.numbers("begins_s", it.begins, kSecond, "Ages at which checkpoints begin.", kRange);
  walk.field("waste", it.waste, "Share of the time that is lost.", kCount);
  walk.field("constant", it.constant, "Best constant interval.");
  walk.field("young", it.young, "Young's interval.");
  walk.field("daly", it.daly, "Daly's interval.");
  walk.field("hazard_origin", it.hazard_origin, "Source of the hazard.");
}

}  // namespace stint::cli
