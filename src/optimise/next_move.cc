#include "optimise/next_move.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/normal.h"

namespace stint {
namespace {

constexpr std::size_t kOutcomes = 11;
constexpr double kForgotten = 1e-9;  // Variances below this are nothing to learn.

/// The medians of kOutcomes equally likely slices of a standard normal variable.
std::array<double, kOutcomes> outcomes() {
  std::array<double, kOutcomes> z{};
  for (std::size_t k = 0; k < kOutcomes; ++k) {
    z[k] = normal_quantile((static_cast<double>(k) + 0.5) / kOutcomes);
  }
  return z;
}

class Lookahead {
 public:
  explicit Lookahead(const SearchQuestion& question) : question_(question), z_(outcomes()) {
    for (std::size_t i = 0; i < question.step_time.size(); ++i) {
      left_.push_back(question.rate[i] * question.step_time.expected(i) *
                      question.steps_left.expected(question.batch[i]));
    }
  }

  bool allowed(std::size_t i) const { return question_.allowed.empty() || question_.allowed[i]; }
  double left(std::size_t i) const { return left_[i]; }

  /// With a move to c, if nothing were learned there.
  double plain(std::size_t c) const { return question_.move[c] + left_[c]; }

  /// The setup of the least of these, or the present one, which takes `stay`.
  std::size_t best_plain(double stay) const {
    std::size_t best = question_.now;
    for (std::size_t i = 0; i < left_.size(); ++i) {
      if (i == question_.now || !allowed(i) || plain(i) >= stay) continue;
      best = i;
      stay = plain(i);
    }
    return best;
  }

  /// V(c).
  double with_move(std::size_t c) const {
    const LogBelief& times = question_.step_time;
    const double variance = times.variance(c);
    if (variance < kForgotten) return plain(c);
    std::array<double, kOutcomes> best{};
    for (std::size_t k = 0; k < kOutcomes; ++k) best[k] = after(c, std::sqrt(variance), k);
    for (std::size_t i = 0; i < left_.size(); ++i) {
      if (i == c || !allowed(i)) continue;
      const double slope = times.between(i, c) / std::sqrt(variance);
      // The least that it can become in any of the outcomes.
      const double least = left_[i] * std::exp(-std::abs(slope) * z_.back() - slope * slope / 2);
      if (question_.move[i] + least >= *std::max_element(best.begin(), best.end())) continue;
      for (std::size_t k = 0; k < kOutcomes; ++k) {
        best[k] = std::min(best[k], question_.move[i] + after(i, slope, k));
      }
    }
    double sum = 0;
    for (const double value : best) sum += value;
    return question_.move[c] + sum / kOutcomes;
  }

 private:
  double after(std::size_t i, double slope, std::size_t outcome) const {
    return left_[i] * std::exp(slope * z_[outcome] - slope * slope / 2);
  }

  const SearchQuestion& question_;
  std::array<double, kOutcomes> z_;
  std::vector<double> left_;  // J.
};

}  // namespace

SearchMove next_move(const SearchQuestion& question) {
  const std::size_t setups = question.step_time.size();
  CHECK(question.batch.size() == setups && question.rate.size() == setups);
  CHECK(question.move.size() == setups && question.now < setups);
  CHECK(question.may_probe.empty() || question.may_probe.size() == setups);
  const Lookahead lookahead(question);
  SearchMove move{.to = question.now, .stay = lookahead.left(question.now)};
  const bool must_leave = !lookahead.allowed(question.now);
  move.rest = move.plain = must_leave ? std::numeric_limits<double>::infinity() : move.stay;
  double bar = must_leave ? move.rest : move.stay * (1 - question.least_gain);
  const double limit = bar;
  const std::size_t known = lookahead.best_plain(move.rest);
  const double without = known == question.now ? move.rest : lookahead.plain(known);
  for (std::size_t c = 0; c < setups; ++c) {
    if (c == question.now || !lookahead.allowed(c)) continue;
    const double plain = lookahead.plain(c);
    const bool may_probe = question.may_probe.empty() || question.may_probe[c];
    const double value = may_probe ? lookahead.with_move(c) : plain;
    if (value >= bar || value >= limit - question.worth * question.move[c]) continue;
    // Where nothing but going on from there makes it better than what needs no probe.
    const double moves = question.move[c] + question.move[known];
    if (c != known && plain > without && value >= without - question.worth * moves) continue;
    bar = value;
    move = {.to = c, .stay = move.stay, .rest = value, .plain = plain};
  }
  return move;
}

}  // namespace stint
