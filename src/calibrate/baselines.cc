#include "calibrate/baselines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "solver/least_squares.h"

namespace stint {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Rows = std::vector<const StepRow*>;
using JobAndSeries = std::pair<std::string, std::string>;

double seconds(const StepRow& row) { return row.time->in(kSecond); }
bool on_several_vms(const StepRow& row) { return row.workers_by_vm.size() > 1; }

/// One fitted form for each job and series. `Form` has a `double seconds(const StepRow&)`.
template <class Form>
class ModelByJob final : public StepModel {
 public:
  explicit ModelByJob(std::map<JobAndSeries, Form> forms) : forms_(std::move(forms)) {}

  std::optional<Seconds> predict(const StepRow& row) const override {
    const auto found = forms_.find({row.job, row.series});
    if (found == forms_.end()) return {};
    return std::max(0.0, found->second.seconds(row)) * kSecond;
  }

 private:
  std::map<JobAndSeries, Form> forms_;
};

template <class Form>
std::unique_ptr<StepModel> fit_each_job(std::span<const StepRow> train,
                                        std::optional<Form> (*fit_form)(const Rows&)) {
  std::map<JobAndSeries, Rows> by_job;
  for (const StepRow& row : train) {
    if (row.unusable.empty() && row.time) by_job[{row.job, row.series}].push_back(&row);
  }
  std::map<JobAndSeries, Form> forms;
  for (const auto& [job, rows] : by_job) {
    if (auto form = fit_form(rows)) forms.emplace(job, std::move(*form));
  }
  return std::make_unique<ModelByJob<Form>>(std::move(forms));
}

/// The part of an iteration without synchronisation, where the row has it.
std::optional<double> gradient_seconds(const StepRow& row) {
  if (workers(row) == 1) return seconds(row);
  if (!row.synchronisation || *row.synchronisation >= *row.time) return {};
  return seconds(row) - row.synchronisation->in(kSecond);
}

enum PolluxParameter : std::size_t { kA, kB, kLocalA, kLocalB, kNetworkA, kNetworkB, kGamma };
constexpr std::size_t kPolluxParameters = 7;

struct Pollux {
  std::array<double, kPolluxParameters> parameters = {};

  double gradient(const StepRow& row) const {
    return parameters[kA] + parameters[kB] * row.batch_per_worker;
  }
  double synchronisation(const StepRow& row) const {
    const int count = workers(row);
    if (count == 1) return 0;
    const std::size_t first = on_several_vms(row) ? kNetworkA : kLocalA;
    return parameters[first] + parameters[first + 1] * std::max(count - 2, 0);
  }
  double seconds(const StepRow& row) const {
    const double g = gradient(row);
    const double s = synchronisation(row);
    const double largest = std::max(g, s);
    const double gamma = parameters[kGamma];
    // Divided by the larger one, powers neither overflow nor vanish.
    return largest *
           std::pow(std::pow(g / largest, gamma) + std::pow(s / largest, gamma), 1 / gamma);
  }
};

// Bounds and starts are those of AdaptDL's _fit_perf_params.
constexpr double kPolluxMin = 1e-8;
constexpr double kPolluxMax = 1e6;  // Theirs is infinite; a step of eleven days is equivalent.
constexpr double kGammaMax = 10;
constexpr double kGammaStart = 1 + 1e-3;
constexpr double kGammaPenalty = 1e-3;
constexpr double kGrowthPenalty = 1e-2;

/// Fits the parameters that the rows determine. The objective is a sum of root mean squares, which
/// least squares minimise in rounds: around its present value m, √x is at most x/(2m) + m/2 for x =
/// m².
class PolluxFit {
 public:
  explicit PolluxFit(const Rows& rows) : rows_(rows) {
    for (const StepRow* row : rows) {
      if (row->synchronisation && gradient_seconds(*row)) gradient_rows_.push_back(row);
    }
    pollux_.parameters = {0.1, 0.01, 0.1, 0.01, 0.1, 0.01, kGammaStart};
    hold_what_is_not_shown();
  }

  std::optional<Pollux> run() {
    constexpr int kRounds = 8;
    for (int round = 0; round < kRounds; ++round) {
      if (!improve()) return {};
    }
    const auto several = [](const StepRow* row) { return on_several_vms(*row); };
    if (std::none_of(rows_.begin(), rows_.end(), several)) {
      pollux_.parameters[kNetworkA] = pollux_.parameters[kLocalA];
      pollux_.parameters[kNetworkB] = pollux_.parameters[kLocalB];
    }
    return pollux_;
  }

 private:
  bool shown(bool several_vms, int workers_min) const {
    return std::any_of(rows_.begin(), rows_.end(), [=](const StepRow* row) {
      return on_several_vms(*row) == several_vms && workers(*row) >= workers_min;
    });
  }

  void hold(std::size_t parameter, double value) {
    pollux_.parameters[parameter] = value;
    held_[parameter] = true;
  }

  void hold_what_is_not_shown() {
    if (!shown(false, 2)) hold(kLocalA, 0);
    if (!shown(false, 3)) hold(kLocalB, 0);
    if (!shown(true, 2)) hold(kNetworkA, 0);
    if (!shown(true, 3)) hold(kNetworkB, 0);
    if (!shown(false, 2) && !shown(true, 2)) hold(kGamma, 1);
    const auto other_batch = [&](const StepRow* row) {
      return row->batch_per_worker != rows_[0]->batch_per_worker;
    };
    if (std::none_of(rows_.begin(), rows_.end(), other_batch)) hold(kA, mean_gradient() / 2);
  }

  double mean_gradient() const {
    double sum = 0;
    double least = kInfinity;
    int n = 0;
    for (const StepRow* row : rows_) {
      least = std::min(least, stint::seconds(*row));
      const auto known = gradient_seconds(*row);
      if (!known) continue;
      sum += *known;
      ++n;
    }
    return n > 0 ? sum / n : least;
  }

  static double step_error(const Pollux& pollux, const StepRow& row) {
    return std::log(pollux.seconds(row) / stint::seconds(row));
  }
  static double gradient_error(const Pollux& pollux, const StepRow& row) {
    return std::log(pollux.gradient(row) / *gradient_seconds(row));
  }

  using RowError = double (*)(const Pollux&, const StepRow&);

  /// The divisor of a row's error, so that half the sum of squares is x/(2m).
  double deviation(const Rows& rows, RowError error) const {
    constexpr double kLeast = 1e-4;  // Where the fit is exact.
    double squares = 0;
    for (const StepRow* row : rows) squares += std::pow(error(pollux_, *row), 2);
    const auto n = static_cast<double>(rows.size());
    return std::sqrt(n * std::max(kLeast, std::sqrt(squares / n)));
  }

  /// The unknowns are the logarithms of the parameters, except for γ.
  Pollux at(std::span<const double> x) const {
    Pollux pollux = pollux_;
    std::size_t next = 0;
    for (std::size_t i = 0; i < kPolluxParameters; ++i) {
      if (!held_[i]) pollux.parameters[i] = i == kGamma ? x[next] : std::exp(x[next]);
      if (!held_[i]) ++next;
    }
    return pollux;
  }

  std::vector<Unknown> unknowns() const {
    std::vector<Unknown> unknowns;
    for (std::size_t i = 0; i < kPolluxParameters; ++i) {
      if (held_[i]) continue;
      const double value = pollux_.parameters[i];
      if (i == kGamma) {
        unknowns.push_back({.prior_mean = 1,
                            .prior_deviation = 1 / std::sqrt(2 * kGammaPenalty),
                            .start = value,
                            .min = 1,
                            .max = kGammaMax});
      } else {
        unknowns.push_back({.prior_deviation = kInfinity,
                            .start = std::log(value),
                            .min = std::log(kPolluxMin),
                            .max = std::log(kPolluxMax)});
      }
    }
    return unknowns;
  }

  void write_residuals(const Pollux& pollux, std::span<double> residuals) const {
    auto* out = residuals.data();
    for (const StepRow* row : rows_) *out++ = step_error(pollux, *row) / step_deviation_;
    for (const StepRow* row : gradient_rows_) {
      *out++ = gradient_error(pollux, *row) / gradient_deviation_;
    }
    for (const std::size_t first : {kLocalA, kNetworkA}) {
      const double growth =
          held_[first + 1] ? 0 : pollux.parameters[first + 1] / pollux.parameters[first];
      *out++ = std::sqrt(2 * kGrowthPenalty) * growth;
    }
  }

  bool improve() {
    step_deviation_ = deviation(rows_, step_error);
    gradient_deviation_ = gradient_rows_.empty() ? 1 : deviation(gradient_rows_, gradient_error);
    const LeastSquares problem{
        .unknowns = unknowns(),
        .rows = rows_.size() + gradient_rows_.size() + 2,
        .residuals = [this](std::span<const double> x, std::span<double> residuals) {
          write_residuals(at(x), residuals);
        }};
    const auto fitted = fit(problem);
    if (fitted.ok()) pollux_ = at(fitted->values);
    // Logarithms and back may leave the bounds by a rounding.
    for (std::size_t i = 0; i < kGamma; ++i) {
      double& value = pollux_.parameters[i];
      if (!held_[i]) value = std::clamp(value, kPolluxMin, kPolluxMax);
    }
    return fitted.ok();
  }

  const Rows& rows_;
  Rows gradient_rows_;
  Pollux pollux_;
  std::array<bool, kPolluxParameters> held_ = {};
  double step_deviation_ = 1;
  double gradient_deviation_ = 1;
};

std::optional<Pollux> fit_pollux(const Rows& rows) { return PolluxFit(rows).run(); }

struct Scavenger {
  std::array<double, 3> coefficients = {};

  double seconds(const StepRow& row) const {
    return coefficients[0] + coefficients[1] * row.batch_per_worker +
           coefficients[2] * workers(row);
  }
};

std::optional<Scavenger> fit_scavenger(const Rows& rows) {
  const auto at = [](std::span<const double> x) { return Scavenger{{x[0], x[1], x[2]}}; };
  const LeastSquares problem{
      .unknowns = std::vector<Unknown>(3, {.prior_deviation = kInfinity}),
      .rows = rows.size(),
      .residuals = [&](std::span<const double> x, std::span<double> residuals) {
        const Scavenger form = at(x);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          residuals[i] = form.seconds(*rows[i]) - seconds(*rows[i]);
        }
      }};
  const auto fitted = fit(problem);
  if (!fitted.ok()) return {};
  return at(fitted->values);
}

struct Perfect {
  std::map<double, double> seconds_by_batch;

  double seconds(const StepRow& row) const {
    const double batch = row.batch_per_worker;
    if (seconds_by_batch.size() == 1) {
      return seconds_by_batch.begin()->second * batch / seconds_by_batch.begin()->first;
    }
    // The first batch that is not smaller, but never the first nor beyond the last.
    auto right = seconds_by_batch.lower_bound(batch);
    if (right == seconds_by_batch.begin()) ++right;
    if (right == seconds_by_batch.end()) --right;
    const auto left = std::prev(right);
    const double share = (batch - left->first) / (right->first - left->first);
    return left->second + share * (right->second - left->second);
  }
};

std::optional<Perfect> fit_perfect(const Rows& rows) {
  std::map<double, std::vector<double>> by_batch;
  for (const StepRow* row : rows) {
    if (workers(*row) == 1) by_batch[row->batch_per_worker].push_back(seconds(*row));
  }
  if (by_batch.empty()) return {};
  Perfect perfect;
  for (const auto& [batch, times] : by_batch) {
    double sum = 0;
    for (const double time : times) sum += time;
    perfect.seconds_by_batch[batch] = sum / static_cast<double>(times.size());
  }
  return perfect;
}

}  // namespace

std::span<const EnumName<BaselineKind>> names_of(BaselineKind /*type*/) {
  static constexpr EnumName<BaselineKind> kNames[] = {{BaselineKind::kPollux, "pollux"},
                                                      {BaselineKind::kScavenger, "scavenger"},
                                                      {BaselineKind::kPerfect, "perfect"}};
  return kNames;
}

std::unique_ptr<StepModel> fit_baseline(BaselineKind kind, std::span<const StepRow> train) {
  switch (kind) {
    case BaselineKind::kPollux:
      return fit_each_job<Pollux>(train, fit_pollux);
    case BaselineKind::kScavenger:
      return fit_each_job<Scavenger>(train, fit_scavenger);
    case BaselineKind::kPerfect:
      return fit_each_job<Perfect>(train, fit_perfect);
  }
  CHECK(false);
  return nullptr;
}

}  // namespace stint
