// How long one prediction takes: the closed form and its event-driven twin, on the same layout,
// beside the bounds we allow ourselves. Prints; asserts only that the two agree.

#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <string>

#include "base/check.h"
#include "bench/wall_time.h"
#include "predict/step.h"
#include "simulate/step_simulation.h"

namespace stint {
namespace {

constexpr int kVms = 64;
constexpr int kWorkersPerVm = 4;
constexpr int kBuckets = 25;

/// 64 VMs of 4 workers and 25 buckets of 4 MB, as ResNet-50 in buckets of the usual size.
StepSetup large_setup(Collective collective) {
  StepSetup setup{.groups = {{.vms = kVms,
                              .workers_per_vm = kWorkersPerVm,
                              .forward = 80 * kMillisecond,
                              .backward = 160 * kMillisecond,
                              .update = 2 * kMillisecond,
                              .input = 30 * kMillisecond,
                              .network = {.inverse_bandwidth = 1 / (25 * kGbit / kSecond),
                                          .latency = 30 * kMicrosecond},
                              .inside = {.inverse_bandwidth = 1 / (10 * kGB / kSecond),
                                         .latency = 5 * kMicrosecond}}},
                  .collective = collective,
                  .servers = 4,
                  .jitter = 0.03,
                  .vm_spread = 0.02,
                  .backward_slowdown = 0.05};
  for (int i = 1; i <= kBuckets; ++i) {
    setup.buckets.push_back({.bytes = 4 * kMB, .ready = static_cast<double>(i) / kBuckets});
  }
  return setup;
}

/// The same as two groups that differ in compute only, so that the closed form stays exact.
StepSetup mixed_setup(Collective collective) {
  StepSetup setup = large_setup(collective);
  setup.groups[0].vms = kVms / 2;
  setup.groups.push_back(setup.groups[0]);
  setup.groups[1].forward = 90 * kMillisecond;
  return setup;
}

void print_row(const std::string& what, const WallTime& time, std::optional<Seconds> bound) {
  const std::string limit = bound ? fmt::format("{:.0f}", bound->in(kMicrosecond)) : "";
  fmt::print("{:<48}{:>11.2f}{:>11.2f}{:>9}\n", what, time.median.in(kMicrosecond),
             time.min.in(kMicrosecond), limit);
}

void compare(const char* name, const StepSetup& setup) {
  const Seconds closed_form = total(step_parts(setup));
  const Seconds simulated = total(simulate_step(setup));
  CHECK(std::abs(simulated / closed_form - 1) < 1e-9);
  CHECK(std::abs(total(simulate_step(setup, Detail::kEachVm)) / closed_form - 1) < 1e-9);
  Seconds sum;  // Used below, so that no call is left out.
  const WallTime analytic = wall_time_of(50, 2000, [&] { sum += total(step_parts(setup)); });
  const WallTime events = wall_time_of(50, 10, [&] { sum += total(simulate_step(setup)); });
  const WallTime each_vm =
      wall_time_of(15, 4, [&] { sum += total(simulate_step(setup, Detail::kEachVm)); });
  CHECK(sum > 1e5 * closed_form);
  print_row(fmt::format("closed form, {}", name), analytic, 2 * kMicrosecond);
  print_row(fmt::format("event-driven, {}", name), events, 5 * kMillisecond);
  print_row(fmt::format("event-driven, {}, every VM", name), each_vm, {});
}

void run() {
  const Seconds start = wall_clock();
  CHECK(straggling(large_setup(Collective::kRing)) > 0);
  const Seconds first = wall_clock() - start;

  fmt::print("One iteration of {} VMs x {} workers, {} buckets; both answers agree to 1e-9.\n",
             kVms, kWorkersPerVm, kBuckets);
  fmt::print("{:<48}{:>11}{:>11}{:>9}\n", "prediction", "median us", "min", "bound");
  compare("ring", large_setup(Collective::kRing));
  compare("hierarchical", large_setup(Collective::kHierarchical));
  compare("4 parameter servers", large_setup(Collective::kParameterServer));
  compare("top-k", large_setup(Collective::kTopK));
  compare("ring, two groups", mixed_setup(Collective::kRing));
  StepSetup many = large_setup(Collective::kParameterServer);
  many.servers = kVms;
  compare("64 parameter servers", many);
  fmt::print("The first answer of a process takes {:.1f} ms more, for the table of maxima.\n",
             first.in(kMillisecond));
}

}  // namespace
}  // namespace stint

int main() { stint::run(); }
