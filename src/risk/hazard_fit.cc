#include "risk/hazard_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "risk/hazard.h"

namespace stint {
namespace {

constexpr int kSteps = 48;
constexpr Seconds kFineAge = 10 * kMinute;  // Steps widen from here on.
constexpr int kFolds = 5;
constexpr int kFewLosses = 10;

/// The k of the Gamma(k, k) prior of a factor: equivalent to k losses at the average rate.
constexpr double kFactorLosses = 5;
constexpr double kExponentialSmoothing = 1e8;  // Stiff enough that all steps have one rate.

/// A lifetime with an index for its kind.
struct Life {
  double from = 0;  // Seconds; alive until here.
  double until = 0;
  bool lost = false;
  std::size_t kind = 0;
};

/// The starts of the steps; the last one begins where the data end.
std::vector<double> step_edges(Seconds oldest) {
  const double fine = kFineAge.in(kSecond);
  const double width = std::log1p(std::max(oldest, kFineAge).in(kSecond) / fine) / kSteps;
  std::vector<double> edges;
  for (int j = 0; j <= kSteps; ++j) edges.push_back(fine * std::expm1(width * j));
  return edges;
}

/// The sums of one E-step, by step.
struct Gathered {
  std::vector<double> losses;
  std::vector<double> exposure;  // Weighted by the machine's factors.
};

class Fitter {
 public:
  Fitter(std::span<const Lifetime> lifetimes, const HazardPrior& prior);

  HazardFit run();

 private:
  double end(std::size_t j) const {
    return j + 1 < edges_.size() ? edges_[j + 1] : std::numeric_limits<double>::infinity();
  }
  std::size_t step_at(double age) const {
    const auto next = std::upper_bound(edges_.begin(), edges_.end(), age);
    return static_cast<std::size_t>(next - edges_.begin()) - 1;
  }
  double factor(const Life& it) const { return kinds_[it.kind]; }
  double cumulative(double age) const;
  void integrate();

  void gather(const Life& life, Gathered& into) const;
  void gather_between(const Life& life, Gathered& into) const;
  double solve_rates(const Gathered& gathered);
  void solve_factors();

  HazardPrior prior_;
  std::vector<double> edges_;
  std::vector<double> log_rates_;
  std::vector<double> rates_;       // The exponentials of the log-rates,
  std::vector<double> cumulative_;  // and their integral at each edge.
  std::vector<Life> lives_;
  std::vector<std::string> kind_names_;
  std::vector<double> kinds_;
  HazardFit fit_;
};

std::size_t index_of(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) names.push_back(name);
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

Fitter::Fitter(std::span<const Lifetime> lifetimes, const HazardPrior& prior)
    : prior_(prior), fit_{.base = Hazard::constant(PerSecond()), .smoothing = prior.smoothing} {
  Seconds oldest;
  for (const Lifetime& it : lifetimes) {
    if (!is_known(it)) continue;
    oldest = std::max(oldest, it.at_most.value_or(it.at_least));
    lives_.push_back({.from = it.at_least.in(kSecond),
                      .until = it.at_most.value_or(it.at_least).in(kSecond),
                      .lost = it.at_most.has_value(),
                      .kind = prior.kinds ? index_of(kind_names_, kind_of(it)) : 0});
    fit_.losses += lives_.back().lost;
    fit_.exposure += middle_age(it);
    ++fit_.seen[kind_of(it)];
  }
  edges_ = step_edges(oldest);
  kinds_.assign(std::max<std::size_t>(kind_names_.size(), 1), 1);
}

void Fitter::integrate() {
  rates_.resize(edges_.size());
  cumulative_.assign(edges_.size(), 0);
  for (std::size_t j = 0; j < edges_.size(); ++j) {
    rates_[j] = std::exp(log_rates_[j]);
    if (j > 0) {
      cumulative_[j] = cumulative_[j - 1] + rates_[j - 1] * (edges_[j] - edges_[j - 1]);
    }
  }
}

double Fitter::cumulative(double age) const {
  const std::size_t j = step_at(age);
  return cumulative_[j] + rates_[j] * (age - edges_[j]);
}

/// Adds a life with the time it was alive and, if the moment is known, its loss.
void Fitter::gather(const Life& life, Gathered& into) const {
  for (std::size_t j = 0; j < edges_.size() && edges_[j] < life.from; ++j) {
    into.exposure[j] += factor(life) * (std::min(life.from, end(j)) - edges_[j]);
  }
  if (!life.lost) return;
  if (life.until > life.from) return gather_between(life, into);
  into.losses[step_at(life.from)] += 1;
}

/// Adds the expectation of a life that ended between two probes a and b: with S from a on, it ended
/// in the part [l, r] with probability (S(l) − S(r)) / (1 − S(b)) and was alive there for ∫ (S(t) −
/// S(b)) dt / (1 − S(b)).
void Fitter::gather_between(const Life& life, Gathered& into) const {
  const double gone = std::exp(-factor(life) * (cumulative(life.until) - cumulative(life.from)));
  const double ended = std::max(1 - gone, 1e-300);
  double alive = 1;
  for (std::size_t j = step_at(life.from); j < edges_.size() && edges_[j] < life.until; ++j) {
    const double width = std::min(life.until, end(j)) - std::max(life.from, edges_[j]);
    const double amount = factor(life) * rates_[j] * width;
    const double still = alive * std::exp(-amount);
    const double area = amount > 1e-9 ? (alive - still) / amount * width : alive * width;
    into.losses[j] += (alive - still) / ended;
    into.exposure[j] += factor(life) * std::max(0.0, area - gone * width) / ended;
    alive = still;
  }
}

/// One Newton step on the log-rates: maximises Σ (losses η − exposure e^η) − λ/2 Σ (η' − η)²,
/// whose second derivatives form a tridiagonal matrix. Returns the largest change.
double Fitter::solve_rates(const Gathered& gathered) {
  const std::size_t n = log_rates_.size();
  std::vector<double> diagonal(n);
  std::vector<double> right(n);
  for (std::size_t j = 0; j < n; ++j) {
    const double expected = gathered.exposure[j] * rates_[j];
    double pull = 0;
    double neighbours = 0;
    if (j > 0) pull += log_rates_[j - 1] - log_rates_[j], ++neighbours;
    if (j + 1 < n) pull += log_rates_[j + 1] - log_rates_[j], ++neighbours;
    diagonal[j] = expected + prior_.smoothing * neighbours;
    right[j] = gathered.losses[j] - expected + prior_.smoothing * pull;
  }
  for (std::size_t j = 1; j < n; ++j) {
    const double ratio = -prior_.smoothing / diagonal[j - 1];
    diagonal[j] += ratio * prior_.smoothing;
    right[j] -= ratio * right[j - 1];
  }
  // Largest step in the log-rate, so that Newton's method cannot diverge.
  constexpr double kLongest = 1.0;
  double largest = 0;
  double next = 0;
  for (std::size_t j = n; j-- > 0;) {
    next = (right[j] + (j + 1 < n ? prior_.smoothing * next : 0)) / diagonal[j];
    const double change = std::clamp(next, -kLongest, kLongest);
    log_rates_[j] += change;
    largest = std::max(largest, std::abs(change));
  }
  return largest;
}

/// The factor of a kind is (losses + k) / (losses expected at factor one + k). Where the factors'
/// mean is not one, the prior gains from moving it into the rates.
void Fitter::solve_factors() {
  std::vector<double> amounts;
  amounts.reserve(lives_.size());
  for (const Life& it : lives_) {
    // The loss of a life between probes is placed in the middle, which is accurate enough here.
    amounts.push_back(cumulative(it.lost ? (it.from + it.until) / 2 : it.from));
  }
  std::vector<double> losses(kinds_.size(), kFactorLosses);
  std::vector<double> expected(kinds_.size(), kFactorLosses);
  for (std::size_t i = 0; i < lives_.size(); ++i) {
    losses[lives_[i].kind] += lives_[i].lost;
    expected[lives_[i].kind] += amounts[i];
  }
  double mean = 0;
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    kinds_[k] = losses[k] / expected[k];
    mean += kinds_[k] / static_cast<double>(kinds_.size());
  }
  for (double& it : kinds_) it /= mean;
  for (double& it : log_rates_) it += std::log(mean);
}

HazardFit Fitter::run() {
  if (fit_.losses == 0) return fit_;
  const double rate = fit_.losses / std::max(fit_.exposure.in(kSecond), 1.0);
  log_rates_.assign(edges_.size(), std::log(rate));
  integrate();
  constexpr int kRounds = 100;
  constexpr double kSettled = 1e-4;  // A rate within a hundredth of a percent.
  for (int round = 0; round < kRounds; ++round) {
    Gathered gathered{std::vector<double>(edges_.size()), std::vector<double>(edges_.size())};
    for (const Life& it : lives_) gather(it, gathered);
    const double change = solve_rates(gathered);
    integrate();
    if (prior_.kinds) {
      solve_factors();
      integrate();
    }
    if (change < kSettled) break;
  }
  std::vector<HazardStep> steps;
  for (std::size_t j = 0; j < edges_.size(); ++j) {
    steps.push_back({edges_[j] * kSecond, std::exp(log_rates_[j]) / kSecond});
  }
  fit_.base = Hazard(std::move(steps));
  for (std::size_t i = 0; i < kind_names_.size(); ++i) fit_.kinds[kind_names_[i]] = kinds_[i];
  return fit_;
}

/// Shares of machines by their factor.
using Mixture = std::map<double, double>;

/// The factors of a kind: its own, or all observed ones if it has none.
Mixture factors_of(const HazardFit& fit, const std::string& kind) {
  if (fit.kinds.empty()) return {{1, 1}};
  const auto found = fit.kinds.find(kind);
  if (found != fit.kinds.end()) return {{found->second, 1}};
  Mixture mixture;
  double all = 0;
  for (const auto& [name, count] : fit.seen) all += count;
  for (const auto& [name, count] : fit.seen) mixture[fit.kinds.at(name)] += count / all;
  return mixture;
}

double log_likelihood_of(const Lifetime& it, const Hazard& base, double factor) {
  const double before = factor * base.cumulative(it.at_least);
  if (!it.at_most) return -before;
  if (*it.at_most > it.at_least) {
    const double between = factor * base.cumulative(*it.at_most) - before;
    return -before + std::log(std::max(-std::expm1(-between), 1e-300));
  }
  return -before + std::log(std::max(factor * base.rate(it.at_least).in(1 / kHour), 1e-300));
}

double best_smoothing(std::span<const Lifetime> lifetimes) {
  double best = kExponentialSmoothing;
  double best_score = -std::numeric_limits<double>::infinity();
  for (const double smoothing : {kExponentialSmoothing, 1e3, 3e2, 1e2, 3e1, 1e1, 3.0, 1.0, 0.3}) {
    double score = 0;
    for (std::size_t fold = 0; fold < kFolds; ++fold) {
      std::vector<Lifetime> train;
      std::vector<Lifetime> test;
      for (std::size_t i = 0; i < lifetimes.size(); ++i) {
        (i % kFolds == fold ? test : train).push_back(lifetimes[i]);
      }
      score += log_likelihood(fit_hazard(train, {.smoothing = smoothing}), test);
    }
    if (score > best_score) {
      best_score = score;
      best = smoothing;
    }
  }
  return best;
}

/// Whether kinds seen in some zones predict the others better than all machines together do.
bool kinds_differ(std::span<const Lifetime> lifetimes, double smoothing) {
  std::map<std::string, int> losses;
  for (const Lifetime& it : lifetimes) losses[it.zone] += it.at_most.has_value();
  double gain = 0;
  for (const auto& [zone, lost] : losses) {
    if (lost < kFewLosses) continue;
    std::vector<Lifetime> train;
    std::vector<Lifetime> test;
    for (const Lifetime& it : lifetimes) (it.zone == zone ? test : train).push_back(it);
    gain += log_likelihood(fit_hazard(train, {.smoothing = smoothing, .kinds = true}), test) -
            log_likelihood(fit_hazard(train, {.smoothing = smoothing}), test);
  }
  return gain > 0;
}

}  // namespace

HazardFit fit_hazard(std::span<const Lifetime> lifetimes, const HazardPrior& prior) {
  CHECK(prior.smoothing > 0);
  return Fitter(lifetimes, prior).run();
}

HazardFit fit_hazard(std::span<const Lifetime> lifetimes) {
  const auto losses = std::count_if(lifetimes.begin(), lifetimes.end(),
                                    [](const Lifetime& it) { return it.at_most.has_value(); });
  if (losses < kFewLosses) return fit_hazard(lifetimes, {.smoothing = kExponentialSmoothing});
  const double smoothing = best_smoothing(lifetimes);
  return fit_hazard(lifetimes,
                    {.smoothing = smoothing, .kinds = kinds_differ(lifetimes, smoothing)});
}

Hazard fit_exponential(std::span<const Lifetime> lifetimes) {
  double losses = 0;
  Seconds exposure;
  for (const Lifetime& it : lifetimes) {
    losses += it.at_most.has_value();
    exposure += middle_age(it);
  }
  return Hazard::constant(losses == 0 ? PerSecond() : losses / std::max(exposure, kSecond));
}

Hazard hazard_of(const HazardFit& fit, std::span<const Lifetime> machines) {
  if (fit.kinds.empty()) return fit.base;
  std::map<std::string, int> asked;
  for (const Lifetime& it : machines) ++asked[kind_of(it)];
  if (asked.empty()) asked = fit.seen;
  Mixture mixture;
  for (const auto& [kind, count] : asked) {
    for (const auto& [factor, share] : factors_of(fit, kind)) mixture[factor] += share * count;
  }
  // The mixture's own integrated rate at each edge; between edges its rate is assumed constant.
  const auto amount = [&](Seconds age) {
    double alive = 0;
    double all = 0;
    for (const auto& [factor, share] : mixture) {
      alive += share * std::exp(-factor * fit.base.cumulative(age));
      all += share;
    }
    return -std::log(std::max(alive / all, 1e-300));
  };
  std::vector<HazardStep> steps = fit.base.steps();
  for (std::size_t j = 0; j < steps.size(); ++j) {
    const Seconds from = steps[j].from;
    // The last rate holds for ever; it is that of the next day.
    const Seconds until = j + 1 < steps.size() ? steps[j + 1].from : from + kDay;
    steps[j].rate = std::max(0.0, amount(until) - amount(from)) / (until - from);
  }
  return Hazard(std::move(steps));
}

double log_likelihood(const HazardFit& fit, std::span<const Lifetime> lifetimes) {
  double sum = 0;
  for (const Lifetime& it : lifetimes) {
    if (!is_known(it)) continue;
    double likelihood = 0;
    for (const auto& [factor, share] : factors_of(fit, kind_of(it))) {
      likelihood += share * std::exp(log_likelihood_of(it, fit.base, factor));
    }
    sum += std::log(std::max(likelihood, 1e-300));
  }
  return sum;
}

std::map<std::string, double> zone_factors(const HazardFit& fit,
                                           std::span<const Lifetime> lifetimes) {
  std::map<std::string, double> losses;
  std::map<std::string, double> expected;
  for (const Lifetime& it : lifetimes) {
    double factor = 0;
    for (const auto& [value, share] : factors_of(fit, kind_of(it))) factor += share * value;
    losses[it.zone] += it.at_most.has_value();
    expected[it.zone] += factor * fit.base.cumulative(middle_age(it));
  }
  std::map<std::string, double> factors;
  for (const auto& [zone, lost] : losses) {
    factors[zone] = (lost + kFactorLosses) / (expected[zone] + kFactorLosses);
  }
  return factors;
}

}  // namespace stint
