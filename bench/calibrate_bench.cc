// How long it takes to fit the published Pollux table, beside the bound we allow ourselves. Reads
// pollux/step_times.csv in $STINT_DATA; says so and stops where there is none.

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <string>

#include "base/check.h"
#include "bench/wall_time.h"
#include "load/published_tables.h"

namespace stint {
namespace {

/// Mean error over the rows that were fitted.
double error_inside(const FittedTable& table) {
  double sum = 0;
  for (const LawRow& row : table.rows) {
    const Seconds time = law_time(table.law.fabric, table.law.job_law(row.job), row.input);
    sum += std::abs(time / row.time - 1);
  }
  return sum / static_cast<double>(table.rows.size());
}

void run(const std::string& folder) {
  const auto rows =
      read_step_tables(StepFormat::kPollux, {folder + "/pollux/step_times.csv"}, TableUse::kLearn);
  CHECK(rows.ok());
  const auto context = fit_context("");
  CHECK(context.ok());
  const auto table = fit_table(*rows, *context, false);
  CHECK(table.ok());
  CHECK(table->law.solution.converged);
  CHECK(error_inside(*table) < 0.06);

  const WallTime fit = wall_time_of(3, 1, [&] { CHECK(fit_table(*rows, *context, false).ok()); });
  const WallTime whole = wall_time_of(3, 1, [&] { CHECK(fit_table(*rows, *context, true).ok()); });
  LawInput input = table->rows.back().input;
  Seconds sum;
  const WallTime one =
      wall_time_of(20, 1000, [&] { sum += table->law.predict("unseen", true, input).time; });
  CHECK(sum > Seconds{});

  fmt::print("\nFit of {} rows, {} of them with several workers; {:.1f} % mean error inside.\n",
             rows->size(), table->rows.size(), 100 * error_inside(*table));
  fmt::print("{:<48}{:>11}{:>11}{:>9}\n", "fit", "median s", "min", "bound");
  fmt::print("{:<48}{:>11.2f}{:>11.2f}{:>9}\n", "constants and covariance", fit.median.in(kSecond),
             fit.min.in(kSecond), "2");
  fmt::print("{:<48}{:>11.2f}{:>11.2f}{:>9}\n", "with each job left out, for unseen jobs",
             whole.median.in(kSecond), whole.min.in(kSecond), "");
  fmt::print("{:<48}{:>11.2f}{:>11.2f}{:>9}\n", "one prediction with its interval, us",
             one.median.in(kMicrosecond), one.min.in(kMicrosecond), "");
}

}  // namespace
}  // namespace stint

int main() {
  const char* folder = std::getenv("STINT_DATA");
  if (folder == nullptr) {
    fmt::print("calibrate_bench: skipped, STINT_DATA is not set\n");
    return 0;
  }
  stint::run(folder);
}
