#include "optimise/search_mind.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/normal.h"

namespace stint {
namespace {

// Share of the rest by which a move must stay below limits. Whole runs take up to 7 % longer than
// their steps in nine of ten cases, and a setup at the limit would be left again soon.
constexpr double kLimitMargin = 0.1;

double same_types(const std::vector<double>& a, const std::vector<double>& b) {
  CHECK(a.size() == b.size());
  double same = 0;
  for (std::size_t i = 0; i < a.size(); ++i) same += std::min(a[i], b[i]);
  return same;
}

LogBelief prior_of(const std::vector<PredictedSetup>& setups) {
  std::vector<double> means;
  std::vector<double> deviations;
  for (const PredictedSetup& it : setups) {
    CHECK(it.time > Seconds{});
    means.push_back(std::log(it.time.in(kSecond)));
    deviations.push_back(std::max(PredictedTimes::kDeviationMin, it.deviation));
  }
  LogBelief prior(std::move(means));
  for (std::size_t i = 0; i < setups.size(); ++i) {
    for (std::size_t k = 0; k < setups.size(); ++k) {
      const double workers =
          std::abs(std::log(static_cast<double>(setups[i].workers) / setups[k].workers));
      const double batch =
          std::abs(std::log(static_cast<double>(setups[i].batch) / setups[k].batch));
      const double near = PredictedTimes::kNear * std::exp(-workers - batch);
      const double alike = PredictedTimes::kAll + same_types(setups[i].types, setups[k].types) *
                                                      (PredictedTimes::kType + near);
      prior.between(i, k) = deviations[i] * deviations[k] * alike;
    }
  }
  return prior;
}

/// What is left open once figure `seen` is known to be `value`, give or take a deviation.
void condition(LogBelief& belief, std::size_t seen, double value, double deviation) {
  const std::size_t size = belief.size();
  std::vector<double> image(size);  // Covariance with what is seen.
  for (std::size_t i = 0; i < size; ++i) image[i] = belief.between(i, seen);
  const double variance = image[seen] + deviation * deviation;
  const double error = value - belief.mean[seen];
  for (std::size_t i = 0; i < size; ++i) {
    belief.mean[i] += image[i] / variance * error;
    for (std::size_t k = 0; k < size; ++k) belief.between(i, k) -= image[i] * image[k] / variance;
  }
}

}  // namespace

PredictedTimes::PredictedTimes(const std::vector<PredictedSetup>& setups)
    : prior_(prior_of(setups)), belief_(prior_), timed_(setups.size()) {}

Status PredictedTimes::learn(std::size_t setup, Seconds time) {
  CHECK(setup < timed_.size());
  CHECK(time > Seconds{});
  timed_[setup] = time;
  belief_ = prior_;
  for (std::size_t i = 0; i < timed_.size(); ++i) {
    if (timed_[i]) condition(belief_, i, std::log(timed_[i]->in(kSecond)), kTimingDeviation);
  }
  return {};
}

std::span<const EnumName<SearchObjective>> names_of(SearchObjective /*type*/) {
  static constexpr EnumName<SearchObjective> kNames[] = {{SearchObjective::kTime, "time"},
                                                         {SearchObjective::kCost, "cost"},
                                                         {SearchObjective::kKnee, "knee"}};
  return kNames;
}

SearchMind::SearchMind(SearchTerms terms, std::unique_ptr<SetupTimes> times)
    : terms_(std::move(terms)),
      times_(std::move(times)),
      noise_(terms_.noise, terms_.reference_batch),
      ruled_out_(terms_.places.size()) {
  CHECK(!terms_.places.empty());
  for (const SearchPlace& place : terms_.places) batches_.push_back(place.batch);
  std::sort(batches_.begin(), batches_.end());
  batches_.erase(std::unique(batches_.begin(), batches_.end()), batches_.end());
  for (const SearchPlace& place : terms_.places) {
    const auto found = std::find(batches_.begin(), batches_.end(), place.batch);
    batch_of_.push_back(static_cast<std::size_t>(found - batches_.begin()));
  }
}

Status SearchMind::timed(std::size_t setup, Seconds step) { return times_->learn(setup, step); }

void SearchMind::expect_move(std::size_t setup, Seconds time, Dollars cost) {
  terms_.places[setup].move_time = time;
  terms_.places[setup].move_cost = cost;
}

std::vector<SearchOutlook> SearchMind::outlooks(const SearchStanding& at) const {
  const LogBelief& times = times_->belief();
  const LogBelief steps =
      noise_.steps_left(terms_.rule, at.way, terms_.steps, terms_.places[at.now].batch, batches_);
  const double quantile = normal_quantile(0.9);
  std::vector<SearchOutlook> found;
  for (std::size_t i = 0; i < terms_.places.size(); ++i) {
    const double deviation = std::sqrt(times.variance(i));
    SearchOutlook outlook{.step_p10 = std::exp(times.mean[i] - quantile * deviation),
                          .step_mean = times.expected(i),
                          .step_p90 = std::exp(times.mean[i] + quantile * deviation),
                          .steps = steps.expected(batch_of_[i])};
    outlook.time = outlook.step_mean * outlook.steps * kSecond;
    outlook.cost = terms_.places[i].rate * outlook.time;
    found.push_back(outlook);
  }
  return found;
}

bool SearchMind::keeps_limits(const SearchStanding& at, const SearchOutlook& outlook) const {
  if (terms_.time_max && at.time + outlook.time > *terms_.time_max) return false;
  return !terms_.cost_max || at.cost + outlook.cost <= *terms_.cost_max;
}

std::vector<bool> SearchMind::allowed(const SearchStanding& at,
                                      const std::vector<SearchOutlook>& outlooks) const {
  std::vector<bool> found(outlooks.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    SearchStanding there = at;
    if (i != at.now) {
      there.time += terms_.places[i].move_time + kLimitMargin * outlooks[i].time;
      there.cost += terms_.places[i].move_cost + kLimitMargin * outlooks[i].cost;
    }
    found[i] = !ruled_out_[i] && keeps_limits(there, outlooks[i]);
  }
  // What no setup keeps rules none out.
  if (std::find(found.begin(), found.end(), true) == found.end()) {
    for (std::size_t i = 0; i < found.size(); ++i) found[i] = !ruled_out_[i];
  }
  return found;
}

SearchMind::Weights SearchMind::weights(const std::vector<SearchOutlook>& outlooks) const {
  if (terms_.objective == SearchObjective::kTime) return {.time = 1};
  if (terms_.objective == SearchObjective::kCost) return {.cost = 1};
  // The ends of the front: the fastest, and of the cheapest the fastest.
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < outlooks.size(); ++i) {
    if (ruled_out_[i]) continue;
    points.emplace_back(outlooks[i].time.in(kSecond), outlooks[i].cost.in(kDollar));
  }
  if (points.empty()) return {.time = 1};
  const auto fastest = *std::min_element(points.begin(), points.end());
  const auto cheapest =
      *std::min_element(points.begin(), points.end(), [](const auto& a, const auto& b) {
        return std::pair(a.second, a.first) < std::pair(b.second, b.first);
      });
  const double time = cheapest.first - fastest.first;
  const double cost = fastest.second - cheapest.second;
  if (!(time > 0) || !(cost > 0)) return {.time = 1};  // One is both.
  return {.time = 1 / time, .cost = 1 / cost};
}

Seconds SearchMind::probe_time(std::size_t setup, const SearchStanding& at) const {
  const double steps = terms_.probe_steps * times_->belief().expected(setup);
  return terms_.places[setup].move_time + terms_.places[at.now].move_time + steps * kSecond;
}

Dollars SearchMind::probe_cost(std::size_t setup, const SearchStanding& at) const {
  const double steps = terms_.probe_steps * times_->belief().expected(setup);
  return terms_.places[setup].move_cost + terms_.places[at.now].move_cost +
         terms_.places[setup].rate * (steps * kSecond);
}

SearchQuestion SearchMind::question(const SearchStanding& at) const {
  const std::vector<SearchOutlook> found = outlooks(at);
  const Weights weigh = weights(found);
  const auto worth = [&](Seconds time, Dollars cost) {
    return weigh.time * time.in(kSecond) + weigh.cost * cost.in(kDollar);
  };
  SearchQuestion question{.step_time = times_->belief(),
                          .steps_left = noise_.steps_left(terms_.rule, at.way, terms_.steps,
                                                          terms_.places[at.now].batch, batches_),
                          .batch = batch_of_,
                          .rate = {},
                          .move = {},
                          .allowed = allowed(at, found),
                          .now = at.now};
  double least = std::numeric_limits<double>::infinity();
  for (const SearchOutlook& outlook : found) {
    least = std::min(least, worth(outlook.time, outlook.cost));
  }
  const double in_all = worth(at.time, at.cost) + least;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const SearchPlace& place = terms_.places[i];
    question.rate.push_back(worth(1 * kSecond, place.rate * kSecond));
    question.move.push_back(worth(place.move_time, place.move_cost));
    const double spent = worth(at.probe_time, at.probe_cost);
    const double probe = worth(probe_time(i, at), probe_cost(i, at));
    const bool affordable = !terms_.budget || spent + probe <= *terms_.budget * in_all;
    question.may_probe.push_back(terms_.probes && affordable);
  }
  return question;
}

SearchMove SearchMind::next(const SearchStanding& at) const { return next_move(question(at)); }

std::size_t SearchMind::best(const SearchStanding& at) const {
  const std::vector<SearchOutlook> found = outlooks(at);
  const std::vector<bool> may = allowed(at, found);
  const Weights weigh = weights(found);
  std::size_t best = at.now;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double value =
        weigh.time * found[i].time.in(kSecond) + weigh.cost * found[i].cost.in(kDollar);
    if (!may[i] || value >= least) continue;
    best = i;
    least = value;
  }
  return best;
}

}  // namespace stint
