#include "optimise/deepvm.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "solver/least_squares.h"
#include "solver/linear_program.h"

namespace stint {
namespace {

/// S(n)/c.
double sigmoid(const DeepVmFigures& it, double n) { return 1 / (1 + std::exp(-it.a * (n - it.b))); }

/// FLOPs per price.
double flopp(const DeepVmType& type) { return type.figures.flops / type.spot.in(kDollar / kHour); }

/// One column of the program: so many workers in an architecture.
struct Column {
  DeepVmArchitecture architecture;
  int workers;

  int anchors() const { return architecture == DeepVmArchitecture::kSingleAnchor ? 1 : 0; }
  int spot() const { return workers - anchors(); }
};

/// Without the receivers.
DollarsPerSecond price_of(const DeepVmType& type, const Column& column) {
  return column.spot() * type.spot + column.anchors() * type.on_demand.value_or(DollarsPerSecond{});
}

std::optional<int> fan_in_of(const DeepVmType& type) {
  if (!type.nic || !type.receiver) return std::nullopt;
  return deepvm_fan_in(std::min(*type.nic, type.receiver->nic));
}

/// What can be had where neither quotas nor receivers count.
std::vector<Column> columns_of(const DeepVmType& type, std::optional<DollarsPerSecond> rate_max) {
  constexpr double kRounding = 1 + 1e-9;
  std::vector<Column> columns;
  for (const int workers : type.sizes) {
    for (const Column column : {Column{DeepVmArchitecture::kSingleAnchor, workers},
                                Column{DeepVmArchitecture::kTiering, workers}}) {
      const bool offered =
          column.anchors() > 0 ? type.on_demand.has_value() : fan_in_of(type).has_value();
      if (!offered || (rate_max && price_of(type, column) > kRounding * *rate_max)) continue;
      columns.push_back(column);
    }
  }
  return columns;
}

/// n · K(n), the score without FLOPs per price.
double worth(const DeepVmType& type, const Column& column) {
  return column.workers * deepvm_scaling(type.figures, column.workers);
}

/// The program of one type: a variable of 0 or 1 for each column, of which one is 1, and last the
/// number of receivers.
class TypeProgram {
 public:
  TypeProgram(const DeepVmType& type, std::vector<Column> columns,
              std::optional<DollarsPerSecond> rate_max)
      : type_(type), columns_(std::move(columns)), rate_max_(rate_max) {
    if (type.receiver) receiver_price_ = type.receiver->price;
    // Prices are stated as shares of the limit, or of all that could be rented.
    unit_ = rate_max.value_or(type.sizes.back() *
                              (type.spot + type.on_demand.value_or(type.spot) + receiver_price_));
  }

  /// The highest score, and of those that have it the lowest price.
  Result<std::optional<DeepVmChoice>> solution() {
    auto best = solved([this](const Column& column) { return -worth(type_, column); }, 0);
    if (!best.ok() || !*best) return best;
    const int workers = (*best)->workers;
    std::erase_if(columns_, [&](const Column& column) { return column.workers != workers; });
    return solved([this](const Column& column) { return price_of(type_, column) / unit_; },
                  receiver_price_ / unit_);
  }

 private:
  /// A row with `factor(column)` for each column and one factor for the receivers.
  template <class Factor>
  LinearRow row(Factor factor, double of_receivers) const {
    LinearRow row;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      row.terms.push_back({.variable = static_cast<int>(i), .factor = factor(columns_[i])});
    }
    row.terms.push_back({.variable = static_cast<int>(columns_.size()), .factor = of_receivers});
    return row;
  }

  /// The choice that costs least, where a column costs `cost(column)`.
  template <class Cost>
  Result<std::optional<DeepVmChoice>> solved(Cost cost, double of_receivers) const {
    LinearProgram program;
    for (const Column& column : columns_) {
      program.variables.push_back({.cost = cost(column), .max = 1, .integer = true});
    }
    program.variables.push_back(
        {.cost = of_receivers, .max = type_.receiver ? type_.sizes.back() : 0.0, .integer = true});
    add_rows(program);
    const auto solution = solve(program);
    if (!solution.ok()) return solution.error();
    if (solution->outcome == LinearOutcome::kInfeasible) return std::optional<DeepVmChoice>{};
    CHECK(solution->outcome == LinearOutcome::kOptimal);
    const auto& values = solution->values;
    const auto chosen = std::find(values.begin(), values.end() - 1, 1.0);
    CHECK(chosen != values.end() - 1);
    const Column& column = columns_[static_cast<std::size_t>(chosen - values.begin())];
    const int receivers = static_cast<int>(std::lround(values.back()));
    return std::optional(
        DeepVmChoice{.workers = column.workers,
                     .architecture = column.architecture,
                     .receivers = receivers,
                     .score = flopp(type_) * worth(type_, column),
                     .rate = price_of(type_, column) + receivers * receiver_price_});
  }

  void add_rows(LinearProgram& program) const {
    LinearRow one = row([](const Column&) { return 1.0; }, 0);
    one.min = one.max = 1;
    program.rows.push_back(one);
    if (const auto fan_in = fan_in_of(type_)) {
      // n/m < fan-in in whole numbers: n + 1 ≤ fan-in · m.
      program.rows.push_back(row(
          [](const Column& it) { return it.anchors() > 0 ? 0.0 : it.workers + 1.0; }, -*fan_in));
      program.rows.back().max = 0;
    }
    if (rate_max_) {
      program.rows.push_back(row([&](const Column& it) { return price_of(type_, it) / unit_; },
                                 receiver_price_ / unit_));
      program.rows.back().max = 1;
    }
    for (const DeepVmQuota& quota : type_.quotas) add_quota(program, quota);
  }

  void add_quota(LinearProgram& program, const DeepVmQuota& quota) const {
    const int receiver = quota.receivers && type_.receiver ? type_.receiver->vcpus : 0;
    program.rows.push_back(row(
        [&](const Column& it) {
          const int vms = (quota.spot ? it.spot() : 0) + (quota.on_demand ? it.anchors() : 0);
          return static_cast<double>(vms * type_.vcpus);
        },
        receiver));
    // Below the quota, in whole numbers.
    program.rows.back().max = quota.vcpus - 1;
  }

  const DeepVmType& type_;
  std::vector<Column> columns_;
  std::optional<DollarsPerSecond> rate_max_;
  DollarsPerSecond receiver_price_;
  DollarsPerSecond unit_;
};

/// No choice of the type scores more than this.
double score_bound(const DeepVmType& type, const std::vector<Column>& columns) {
  double most = 0;
  for (const Column& column : columns) most = std::max(most, worth(type, column));
  return flopp(type) * most;
}

}  // namespace

double deepvm_scaling(const DeepVmFigures& figures, int workers) {
  if (workers <= figures.b) return 1;
  return sigmoid(figures, workers) / (0.5 + figures.a / 4 * (workers - figures.b));
}

std::optional<int> deepvm_fan_in(BytesPerSecond nic) {
  // Measured by DeepVM's authors (CCGrid'24): Gbit/s of the NIC, and workers per receiver.
  static constexpr std::pair<double, int> kMeasured[] = {{0.3, 2},   {1.7, 12}, {5, 16},  {10, 20},
                                                         {12.5, 24}, {15, 24},  {25, 28}, {30, 32}};
  constexpr double kRounding = 1 + 1e-9;
  std::optional<int> fan_in;
  for (const auto& [rate, workers] : kMeasured) {
    if (rate <= nic.in(kGbit / kSecond) * kRounding) fan_in = workers;
  }
  return fan_in;
}

Result<std::optional<DeepVmChoice>> deepvm_choice(std::span<const DeepVmType> types,
                                                  std::optional<DollarsPerSecond> rate_max) {
  std::optional<DeepVmChoice> best;
  for (std::size_t i = 0; i < types.size(); ++i) {
    std::vector<Column> columns = columns_of(types[i], rate_max);
    // Most types are out of the question, and a program takes milliseconds.
    if (columns.empty() || (best && score_bound(types[i], columns) < best->score)) continue;
    auto choice = TypeProgram(types[i], std::move(columns), rate_max).solution();
    if (!choice.ok()) return choice.error();
    if (!*choice) continue;
    (*choice)->type = i;
    const bool better = !best || (*choice)->score > best->score ||
                        ((*choice)->score == best->score && (*choice)->rate < best->rate);
    if (better) best = *choice;
  }
  return best;
}

Result<DeepVmFigures> fit_deepvm(std::span<const Speedup> speeds) {
  CHECK(!speeds.empty());
  double most = 0;
  int widest = 1;
  for (const Speedup& it : speeds) {
    most = std::max(most, it.speed);
    widest = std::max(widest, it.workers);
  }
  // Loose beliefs, which decide where there are fewer speeds than unknowns: the speeds seen are the
  // lower half of the sigmoid.
  constexpr double kAnything = 3;
  const LeastSquares problem{
      .unknowns = {{.prior_mean = std::log(2.0 / widest),
                    .prior_deviation = kAnything,
                    .start = std::log(2.0 / widest),
                    .min = std::log(1e-4),
                    .max = std::log(10.0)},
                   {.prior_mean = 1.0 * widest,
                    .prior_deviation = kAnything * widest,
                    .start = 1.0 * widest,
                    .min = -10.0 * widest,
                    .max = 10.0 * widest},
                   {.prior_mean = std::log(2 * most),
                    .prior_deviation = kAnything,
                    .start = std::log(2 * most),
                    .min = std::log(1e-2 * most),
                    .max = std::log(1e4 * most)}},
      .rows = speeds.size(),
      .residuals = [&](std::span<const double> x, std::span<double> residuals) {
        constexpr double kDeviation = 0.01;
        const DeepVmFigures at{.a = std::exp(x[0]), .b = x[1], .c = std::exp(x[2])};
        for (std::size_t i = 0; i < speeds.size(); ++i) {
          const double fitted = at.c * sigmoid(at, speeds[i].workers);
          residuals[i] = (fitted / speeds[i].speed - 1) / kDeviation;
        }
      }};
  const auto fitted = fit(problem);
  if (!fitted.ok()) return fitted.error();
  return DeepVmFigures{
      .a = std::exp(fitted->values[0]), .b = fitted->values[1], .c = std::exp(fitted->values[2])};
}

}  // namespace stint
