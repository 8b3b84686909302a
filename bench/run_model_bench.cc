// How close the closed form in plans is to the rehearsals of their runs, over pools and plans of 1
// to 32 machines: a Markdown table, by pool. `run_model_bench RUNS` sets the number of rehearsals
// of each plan, and a further word lists each plan. It exits with 1 if one is further off than
// stated (ModelComparison::close).

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "app/risk/run_model_fixture.h"
#include "base/normal.h"

namespace stint {
namespace {

constexpr int kRuns = 1000;

std::vector<ModelPlan> model_plans() {
  std::vector<ModelPlan> plans;
  for (const int machines : {1, 2, 8, 32}) {
    for (const Bytes checkpoint : {1 * kGB, 30 * kGB}) {
      for (const Seconds work : {2 * kHour, 10 * kHour, 60 * kHour}) {
        plans.push_back({machines, work, checkpoint});
      }
    }
  }
  return plans;
}

void print_plan(const ModelPlan& size, const ModelComparison& it) {
  fmt::print(
      "{} machines, {:.0f} h of work, {:.0f} GB: {:.2f} losses, {:.2f} h ({:+.1f} ± {:.1f} "
      "%), ${:.2f} ({:+.1f} ± {:.1f} %){}\n",
      size.machines, size.work.in(kHour), size.checkpoint.in(kGB), it.runs.losses,
      it.runs.time.mean.in(kHour), 100 * it.time_error(), 100 * it.time_noise(),
      it.runs.cost.mean.in(kDollar), 100 * it.cost_error(), 100 * it.cost_noise(),
      it.close() ? "" : ", further off than stated");
}

std::string median_and_worst(std::vector<double> errors) {
  std::sort(errors.begin(), errors.end());
  return fmt::format("{:.1f} % | {:.1f} %", 100 * sorted_quantile(errors, 0.5),
                     100 * errors.back());
}

bool print_table(int runs, bool each) {
  fmt::print(
      "| pool | plans | time: median error | worst | cost: median error | worst | within "
      "tolerance |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  bool all_close = true;
  for (const ModelPool& pool : model_pools()) {
    std::vector<double> times;
    std::vector<double> costs;
    std::size_t close = 0;
    for (const ModelPlan& size : model_plans()) {
      const auto it = compare(pool, size, {.runs = runs, .prediction_error = false});
      if (!it) continue;
      if (each) print_plan(size, *it);
      times.push_back(std::abs(it->time_error()));
      costs.push_back(std::abs(it->cost_error()));
      close += it->close() ? 1 : 0;
    }
    all_close = all_close && close == times.size();
    fmt::print("| {} | {} | {} | {} | {} |\n", pool.name, times.size(), median_and_worst(times),
               median_and_worst(costs), close);
  }
  return all_close;
}

}  // namespace
}  // namespace stint

int main(int count, char** words) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // Long work shows how far it is.
  const int runs = count > 1 ? std::stoi(words[1]) : stint::kRuns;
  return stint::print_table(runs, count > 2) ? 0 : 1;
}
