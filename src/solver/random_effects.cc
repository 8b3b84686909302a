#include "solver/random_effects.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace stint {
namespace {

// Weight of a prior variance, in unknowns or observations.
constexpr double kBelief = 2;

/// A zero triangle with the shape of the products of shares.
LowerTriangle empty_precision(const RandomEffects& problem) {
  LowerTriangle it;
  for (std::size_t i = 0; i < problem.kind_of.size(); ++i) it.first.push_back(i);
  for (const Observation& observation : problem.observations) {
    std::size_t least = problem.kind_of.size();
    for (const EffectShare& share : observation.shares) least = std::min(least, share.unknown);
    for (const EffectShare& share : observation.shares) {
      it.first[share.unknown] = std::min(it.first[share.unknown], least);
    }
  }
  for (std::size_t i = 0; i < it.first.size(); ++i) it.rows.emplace_back(i - it.first[i] + 1);
  return it;
}

/// Replaces a positive definite matrix by its Cholesky factor L.
void factorise(LowerTriangle& a) {
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    for (std::size_t j = a.first[i]; j <= i; ++j) {
      const std::size_t from = std::max(a.first[i], a.first[j]);
      const double* left = a.rows[i].data() + (from - a.first[i]);
      const double* above = a.rows[j].data() + (from - a.first[j]);
      double sum = a.at(i, j);
      for (std::size_t k = 0; k < j - from; ++k) sum -= left[k] * above[k];
      if (j == i) CHECK(sum > 0);
      a.at(i, j) = j < i ? sum / a.at(j, j) : std::sqrt(sum);
    }
  }
}

/// L⁻¹.
LowerTriangle inverse(const LowerTriangle& factor) {
  LowerTriangle it;
  for (std::size_t i = 0; i < factor.rows.size(); ++i) {
    std::size_t first = factor.first[i];
    for (std::size_t k = factor.first[i]; k < i; ++k) first = std::min(first, it.first[k]);
    std::vector<double> row(i - first + 1);
    for (std::size_t k = factor.first[i]; k < i; ++k) {
      const double times = factor.at(i, k);
      const std::vector<double>& other = it.rows[k];
      double* place = row.data() + (it.first[k] - first);
      for (std::size_t j = 0; j < other.size(); ++j) place[j] -= times * other[j];
    }
    row.back() = 1;
    for (double& number : row) number /= factor.at(i, i);
    it.first.push_back(first);
    it.rows.push_back(std::move(row));
  }
  return it;
}

double sum_of(const std::vector<double>& unknowns, std::span<const EffectShare> shares) {
  double sum = 0;
  for (const EffectShare& share : shares) sum += share.weight * unknowns[share.unknown];
  return sum;
}

/// xᵀ V x = |L⁻¹ x|².
double variance_of(const LowerTriangle& root, std::span<const EffectShare> shares) {
  std::size_t least = root.rows.size();
  for (const EffectShare& share : shares) least = std::min(least, share.unknown);
  double square = 0;
  for (std::size_t i = least; i < root.rows.size(); ++i) {
    double sum = 0;
    for (const EffectShare& share : shares) {
      const std::size_t j = share.unknown;
      if (j <= i && j >= root.first[i]) sum += share.weight * root.at(i, j);
    }
    square += sum * sum;
  }
  return square;
}

/// The state of a round.
struct State {
  EffectVariances variances;
  std::vector<double> weights;  // Weight of each observation.
  std::vector<double> values;   // The same where they are lower bounds.
  std::vector<double> mean;     // Mean of each unknown.
  LowerTriangle root;           // L⁻¹ of their precision L Lᵀ.
};

/// The posterior of the unknowns given everything else.
void solve(const RandomEffects& problem, const LowerTriangle& empty, State& state) {
  LowerTriangle precision = empty;
  const std::size_t size = problem.kind_of.size();
  std::vector<double> pull(size);
  for (std::size_t j = 0; j < size; ++j) {
    precision.at(j, j) = 1 / state.variances.kinds[problem.kind_of[j]];
  }
  for (std::size_t i = 0; i < problem.observations.size(); ++i) {
    const Observation& it = problem.observations[i];
    const double weight = state.weights[i] / state.variances.noises[it.noise];
    for (const EffectShare& a : it.shares) {
      pull[a.unknown] += weight * a.weight * state.values[i];
      for (const EffectShare& b : it.shares) {
        if (b.unknown <= a.unknown)
          precision.at(a.unknown, b.unknown) += weight * a.weight * b.weight;
      }
    }
  }
  factorise(precision);
  state.root = inverse(precision);
  // m = L⁻ᵀ (L⁻¹ pull).
  state.mean.assign(size, 0);
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t first = state.root.first[i];
    double sum = 0;
    for (std::size_t j = first; j <= i; ++j) sum += state.root.at(i, j) * pull[j];
    for (std::size_t j = first; j <= i; ++j) state.mean[j] += state.root.at(i, j) * sum;
  }
}

/// Weights and values of observations, and the sums from which noises are estimated.
void weigh(const RandomEffects& problem, State& state) {
  EffectVariances& variances = state.variances;
  std::vector<double> squares(variances.noises.size());
  std::vector<double> counts(variances.noises.size());
  for (std::size_t i = 0; i < problem.observations.size(); ++i) {
    const Observation& it = problem.observations[i];
    const double expected = sum_of(state.mean, it.shares);
    if (it.at_least) state.values[i] = std::max(it.value, expected);
    const double off = state.values[i] - expected;
    const double square = off * off + variance_of(state.root, it.shares);
    const double nu = problem.freedom;
    state.weights[i] = std::isinf(nu) ? 1 : (nu + 1) / (nu + square / variances.noises[it.noise]);
    squares[it.noise] += state.weights[i] * square;
    counts[it.noise] += 1;
  }
  if (problem.held) return;
  for (std::size_t k = 0; k < squares.size(); ++k) {
    variances.noises[k] =
        (squares[k] + kBelief * problem.believed.noises[k]) / (counts[k] + kBelief);
  }
}

void learn_kinds(const RandomEffects& problem, State& state) {
  std::vector<double> squares(problem.believed.kinds.size());
  std::vector<double> counts(squares.size());
  std::vector<double> spread(problem.kind_of.size());
  for (std::size_t i = 0; i < state.root.rows.size(); ++i) {
    for (std::size_t j = state.root.first[i]; j <= i; ++j) {
      spread[j] += state.root.at(i, j) * state.root.at(i, j);
    }
  }
  for (std::size_t j = 0; j < spread.size(); ++j) {
    squares[problem.kind_of[j]] += state.mean[j] * state.mean[j] + spread[j];
    counts[problem.kind_of[j]] += 1;
  }
  for (std::size_t k = 0; k < squares.size(); ++k) {
    state.variances.kinds[k] =
        (squares[k] + kBelief * problem.believed.kinds[k]) / (counts[k] + kBelief);
  }
}

}  // namespace

double FittedEffects::mean(std::span<const EffectShare> shares) const {
  return sum_of(mean_, shares);
}

double FittedEffects::variance(std::span<const EffectShare> shares) const {
  return variance_of(root_, shares);
}

FittedEffects fit_random_effects(const RandomEffects& problem) {
  CHECK(problem.freedom > 0);
  for (const double it : problem.believed.kinds) CHECK(it > 0);
  for (const double it : problem.believed.noises) CHECK(it > 0);
  State state{.variances = problem.believed,
              .weights = std::vector<double>(problem.observations.size(), 1)};
  for (const Observation& it : problem.observations) {
    CHECK(std::isfinite(it.value));
    CHECK(it.noise < problem.believed.noises.size());
    state.values.push_back(it.value);
  }
  const LowerTriangle empty = empty_precision(problem);
  for (int round = 0; round < problem.rounds; ++round) {
    solve(problem, empty, state);
    weigh(problem, state);
    if (!problem.held) learn_kinds(problem, state);
  }
  solve(problem, empty, state);
  FittedEffects fitted;
  fitted.variances_ = std::move(state.variances);
  fitted.mean_ = std::move(state.mean);
  fitted.root_ = std::move(state.root);
  return fitted;
}

}  // namespace stint
