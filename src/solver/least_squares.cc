#include "solver/least_squares.h"

// glog, which Ceres's headers include, has a CHECK of its own.
#pragma push_macro("CHECK")
#undef CHECK
#include <ceres/cost_function.h>
#include <ceres/problem.h>
#include <ceres/solver.h>
#include <glog/logging.h>
#undef CHECK
#pragma pop_macro("CHECK")

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/check.h"

namespace stint {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The cube root of the machine's precision balances truncation and rounding of a central
// difference.
const double kStep = std::cbrt(std::numeric_limits<double>::epsilon());
// An unknown close to zero is moved in proportion to this share of its prior deviation.
constexpr double kScaleMin = 0.1;
// A combination of unknowns whose information is this share of the best one's counts as
// undetermined: it is a rounding error of zero. Each unknown is scaled to its own information
// first.
constexpr double kSingularBelow = 1e-13;
constexpr double kTolerance = 1e-12;
constexpr double kIdentifiedBelow = 0.9;

bool believed(const Unknown& unknown) { return std::isfinite(unknown.prior_deviation); }

/// The residual whose square is ρ(r²); written so that nothing cancels near zero.
double robust(double residual, double beyond) {
  if (std::isinf(beyond)) return residual;
  const double ratio = residual / beyond;
  return residual * std::sqrt(2 / (std::sqrt(1 + ratio * ratio) + 1));
}

/// All rows at once: those of the data, then one for each unknown with a prior.
class AllRows final : public ceres::CostFunction {
 public:
  explicit AllRows(const LeastSquares& problem) : problem_(problem) {
    const auto priors = std::count_if(problem.unknowns.begin(), problem.unknowns.end(), believed);
    rows_ = problem.rows + static_cast<std::size_t>(priors);
    set_num_residuals(static_cast<int>(rows_));
    mutable_parameter_block_sizes()->push_back(static_cast<int>(problem.unknowns.size()));
  }

  std::size_t rows() const { return rows_; }

  bool Evaluate(double const* const* parameters, double* residuals,
                double** jacobians) const override {
    const std::span<const double> x(parameters[0], problem_.unknowns.size());
    if (!evaluate(x, {residuals, rows_})) return false;
    return jacobians == nullptr || jacobians[0] == nullptr || differentiate(x, jacobians[0]);
  }

  /// The first row of the data that is not a finite number.
  std::optional<std::size_t> row_not_finite(std::span<const double> x) const {
    std::vector<double> rows(rows_);
    evaluate(x, rows);
    for (std::size_t i = 0; i < problem_.rows; ++i) {
      if (!std::isfinite(rows[i])) return i;
    }
    return {};
  }

 private:
  bool evaluate(std::span<const double> x, std::span<double> residuals) const {
    evaluate_data(x, residuals.first(problem_.rows));
    std::size_t row = problem_.rows;
    for (std::size_t j = 0; j < x.size(); ++j) {
      const Unknown& unknown = problem_.unknowns[j];
      if (!believed(unknown)) continue;
      residuals[row++] = (x[j] - unknown.prior_mean) / unknown.prior_deviation;
    }
    return std::all_of(residuals.begin(), residuals.end(),
                       [](double r) { return std::isfinite(r); });
  }

  void evaluate_data(std::span<const double> x, std::span<double> residuals) const {
    if (residuals.empty()) return;
    problem_.residuals(x, residuals);
    for (double& residual : residuals) residual = robust(residual, problem_.robust_beyond);
  }

  /// Central differences, or one-sided ones at a bound: no residual is evaluated beyond the bounds.
  bool differentiate(std::span<const double> x, double* jacobian) const {
    Eigen::Map<Matrix> out(jacobian, static_cast<Eigen::Index>(rows_),
                           static_cast<Eigen::Index>(x.size()));
    out.setZero();
    std::vector<double> moved(x.begin(), x.end());
    Eigen::VectorXd above(problem_.rows);
    Eigen::VectorXd below(problem_.rows);
    std::size_t prior_row = problem_.rows;
    for (std::size_t j = 0; j < x.size(); ++j) {
      const Unknown& unknown = problem_.unknowns[j];
      const auto column = static_cast<Eigen::Index>(j);
      const double step = step_of(unknown, x[j]);
      const double upper = std::min(x[j] + step, unknown.max);
      const double lower = std::max(x[j] - step, unknown.min);
      moved[j] = upper;
      evaluate_data(moved, {above.data(), problem_.rows});
      moved[j] = lower;
      evaluate_data(moved, {below.data(), problem_.rows});
      moved[j] = x[j];
      out.col(column).head(above.size()) = (above - below) / (upper - lower);
      if (!believed(unknown)) continue;
      out(static_cast<Eigen::Index>(prior_row++), column) = 1 / unknown.prior_deviation;
    }
    return out.allFinite();
  }

  static double step_of(const Unknown& unknown, double x) {
    const double deviation = believed(unknown) ? unknown.prior_deviation : 1.0;
    return kStep * std::max(std::abs(x), kScaleMin * deviation);
  }

  const LeastSquares& problem_;
  std::size_t rows_ = 0;
};

/// The inverse of JᵀJ. Directions that no row determines are left out of it, and an unknown with a
/// component in one of them gets an infinite variance.
Eigen::MatrixXd posterior_covariance(const Matrix& jacobian) {
  const Eigen::Index size = jacobian.cols();
  if (size == 0) return {};
  // Columns are scaled to length one first, since unknowns have units of their own.
  Eigen::VectorXd scale = jacobian.colwise().norm();
  for (double& length : scale) length = length > 0 ? 1 / length : 1;
  const Matrix scaled = jacobian * scale.asDiagonal();
  const Eigen::MatrixXd normal = scaled.transpose() * scaled;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(normal);
  const double least = kSingularBelow * std::max(1.0, eigen.eigenvalues().maxCoeff());

  Eigen::VectorXd inverse = eigen.eigenvalues();
  Eigen::VectorXd untold = Eigen::VectorXd::Zero(size);
  for (Eigen::Index i = 0; i < size; ++i) {
    const bool told = inverse(i) > least;
    if (!told) untold += eigen.eigenvectors().col(i).cwiseAbs2();
    inverse(i) = told ? 1 / inverse(i) : 0;
  }
  Eigen::MatrixXd covariance = scale.asDiagonal() * eigen.eigenvectors() * inverse.asDiagonal() *
                               eigen.eigenvectors().transpose() * scale.asDiagonal();
  constexpr double kPart = 1e-6;  // Eigenvectors are exact to far less than this.
  for (Eigen::Index j = 0; j < size; ++j) {
    if (untold(j) > kPart) covariance(j, j) = std::numeric_limits<double>::infinity();
  }
  return covariance;
}

void add_uncertainty(const LeastSquares& problem, const AllRows& rows, Fitted& fitted) {
  const std::size_t size = fitted.values.size();
  Matrix jacobian(static_cast<Eigen::Index>(rows.rows()), static_cast<Eigen::Index>(size));
  std::vector<double> residuals(rows.rows());
  const double* x = fitted.values.data();
  double* out = jacobian.data();
  // With a derivative that is not finite, no unknown is determined.
  const bool finite = rows.Evaluate(&x, residuals.data(), &out);
  if (!finite) jacobian.setZero();
  for (const double residual : residuals) fitted.cost += 0.5 * residual * residual;

  const Eigen::MatrixXd covariance = posterior_covariance(jacobian);
  for (std::size_t j = 0; j < size; ++j) {
    const auto column = covariance.col(static_cast<Eigen::Index>(j));
    fitted.covariance.emplace_back(column.begin(), column.end());
    const double deviation = std::sqrt(fitted.covariance[j][j]);
    const double prior = problem.unknowns[j].prior_deviation;
    fitted.identified.push_back(std::isfinite(deviation) && deviation < kIdentifiedBelow * prior);
  }
}

Status minimise(const LeastSquares& problem, AllRows& rows, Fitted& fitted) {
  ceres::Problem::Options ownership;
  ownership.cost_function_ownership = ceres::DO_NOT_TAKE_OWNERSHIP;
  ceres::Problem ceres_problem(ownership);
  double* x = fitted.values.data();
  ceres_problem.AddResidualBlock(&rows, nullptr, x);
  for (std::size_t j = 0; j < fitted.values.size(); ++j) {
    const Unknown& unknown = problem.unknowns[j];
    const int index = static_cast<int>(j);
    if (std::isfinite(unknown.min)) ceres_problem.SetParameterLowerBound(x, index, unknown.min);
    if (std::isfinite(unknown.max)) ceres_problem.SetParameterUpperBound(x, index, unknown.max);
  }
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::DENSE_NORMAL_CHOLESKY;
  options.max_num_iterations = problem.iterations_max;
  options.function_tolerance = kTolerance;
  options.gradient_tolerance = kTolerance;
  options.parameter_tolerance = kTolerance;
  options.logging_type = ceres::SILENT;
  ceres::Solver::Summary summary;
  ceres::Solve(options, &ceres_problem, &summary);
  if (!summary.IsSolutionUsable()) return failed("cannot fit: " + summary.message);
  fitted.iterations = static_cast<int>(summary.iterations.size()) - 1;
  fitted.converged = summary.termination_type == ceres::CONVERGENCE;
  return {};
}

}  // namespace

Result<Fitted> fit(const LeastSquares& problem) {
  // Ceres reports problems in its summary; glog would print them to stderr too.
  FLAGS_minloglevel = google::GLOG_FATAL;
  CHECK(problem.rows == 0 || problem.residuals);
  CHECK(problem.robust_beyond > 0);
  Fitted fitted;
  for (const Unknown& unknown : problem.unknowns) {
    CHECK(unknown.prior_deviation > 0);
    CHECK(unknown.min < unknown.max);
    CHECK(unknown.start >= unknown.min);
    CHECK(unknown.start <= unknown.max);
    fitted.values.push_back(unknown.start);
  }
  AllRows rows(problem);
  if (const auto row = rows.row_not_finite(fitted.values)) {
    return failed(
        fmt::format("cannot fit: row {} of {} (the first is 0) is not a finite number "
                    "at the start",
                    *row, problem.rows));
  }
  if (problem.unknowns.empty() || rows.rows() == 0) {
    fitted.converged = true;
  } else {
    const Status minimised = minimise(problem, rows, fitted);
    if (!minimised.ok()) return minimised.error();
  }
  add_uncertainty(problem, rows, fitted);
  return fitted;
}

}  // namespace stint
