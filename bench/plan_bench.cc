// Processor time of the optimiser on the bundled catalogue, beside trying every configuration and
// the bounds we allow ourselves; and how that grows with the catalogue and with the number of VMs.

#include <cstdint>
#include <cstdio>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "bench/processor_time.h"
#include "load/catalog_cases.h"
#include "load/example_job_fixture.h"
#include "load/predict_inputs.h"
#include "load/startup_times.h"
#include "optimise/evaluate.h"
#include "optimise/optimise.h"

namespace stint {
namespace {

using Names = std::vector<std::string>;

const Names kOnlyHomogeneous = {"mixed", "front", "relaxation", "posterior"};
const Names kBruteForce = {"mixed", "front", "relaxation", "posterior", "bounds", "dominance"};

/// What the bench asks of, with and without a choice of batch.
struct World {
  JobProfile job;
  Work work;
  Catalog catalog;
  CalibratedLaw law;
  DeviceLaw devices;
  Outlook outlook;
  std::optional<ShardedModel> sharded = {};

  PlanQuestion question(int vms_max, const Names& disabled, Seconds deadline = 24 * kHour) const {
    return {.context = {job, catalog, law, devices, sharded ? &*sharded : nullptr},
            .work = work,
            .constraints = {.deadline = deadline, .vms_max = vms_max},
            .disabled_passes = disabled,
            .outlook = outlook};
  }
};

/// The catalogue with `copies` of each type under other names, with slightly other prices and
/// networks, in the same regions: pairs grow with the square.
Catalog grown(const Catalog& catalog, int copies) {
  Catalog many = catalog;
  Random random(7);
  for (int copy = 1; copy < copies; ++copy) {
    for (VmType type : catalog.types) {
      type.name += fmt::format("-{}", copy);
      if (type.network && type.network->baseline) {
        type.network->baseline = random.uniform(0.8, 1.2) * *type.network->baseline;
      }
      for (Offer& offer : type.offers) {
        const double factor = random.uniform(0.9, 1.2);
        if (offer.on_demand) offer.on_demand->rate = factor * offer.on_demand->rate;
        if (offer.spot) offer.spot->rate = factor * offer.spot->rate;
      }
      many.types.push_back(std::move(type));
    }
  }
  return many;
}

PlanAnswer answer_of(const PlanQuestion& question) {
  const ProcessorClock clock;
  auto answer = optimise(question, clock);
  CHECK(answer.ok());
  CHECK(!answer->plans.empty() || answer->nearest);
  return *answer;
}

std::int64_t implied(const PlanAnswer& answer) {
  std::int64_t sum = 0;
  for (const PassReport& pass : answer.passes) sum += pass.implied.value_or(0);
  return sum;
}

std::int64_t evaluated(const PlanAnswer& answer) {
  std::int64_t sum = 0;
  for (const PassReport& pass : answer.passes) sum += pass.evaluated.value_or(0);
  return sum;
}

Seconds time_of(const PlanAnswer& answer, const std::string& pass) {
  for (const PassReport& report : answer.passes) {
    if (report.name == pass) return report.time;
  }
  return {};
}

/// Milliseconds of processor time that a row may take, and those it took at commit 7d2ba24 by this
/// very bench (release build, one run, 2026-11-18), a constant noted here; empty: none.
struct Allowed {
  std::string bound = "";
  std::string before = "";
};

/// Prints what a question takes, and returns its answer.
PlanAnswer print_row(const std::string& what, const PlanQuestion& question, int runs,
                     const Allowed& allowed) {
  PlanAnswer answer;
  const ProcessorTime time = processor_time_of(runs, 1, [&] { answer = answer_of(question); });
  fmt::print("{:<40}{:>15}{:>11}{:>16}{:>11.1f}{:>11.1f}{:>8}{:>8}\n", what, implied(answer),
             evaluated(answer), implied(answer) - evaluated(answer), time.median.in(kMillisecond),
             time.min.in(kMillisecond), allowed.bound, allowed.before);
  return answer;
}

void print_head() {
  fmt::print("{:<40}{:>15}{:>11}{:>16}{:>11}{:>11}{:>8}{:>8}\n", "", "implied", "evaluated",
             "pruned", "median ms", "min", "bound", "before");
}

/// Whether both found plans of the same costs and times, best first.
void check_same(const std::vector<Plan>& a, const std::vector<Plan>& b) {
  CHECK(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double cost = a[i].cost.mean / b[i].cost.mean;
    const double time = a[i].time.mean / b[i].time.mean;
    CHECK(cost > 1 - 1e-9 && cost < 1 + 1e-9);
    CHECK(time > 1 - 1e-9 && time < 1 + 1e-9);
  }
}

/// What the rows of a catalogue took before.
struct CatalogueBefore {
  std::string homogeneous;
  std::string mixed;
  std::string all;
};

void print_catalogue(const World& world, const std::string& what, const CatalogueBefore& before) {
  fmt::print("\nPlan of {} within 24 h, {}, up to 64 VMs, on the bundled catalogue\n",
             world.job.name, what);
  print_head();
  const PlanAnswer tried =
      print_row("equal VMs: every configuration", world.question(64, kBruteForce), 1, {});
  const PlanAnswer found =
      print_row("equal VMs", world.question(64, kOnlyHomogeneous), 5, {"100", before.homogeneous});
  check_same(found.plans, tried.plans);
  print_row("equal and mixed", world.question(64, {"front", "posterior"}), 5,
            {"500", before.mixed});
  const PlanAnswer whole =
      print_row("all passes, with front and doubt", world.question(64, {}), 5, {"500", before.all});
  CHECK(whole.gap && *whole.gap == 0);
  fmt::print("passes: homogeneous {:.0f} ms, mixed {:.0f} ms, posterior {:.0f} ms\n",
             time_of(whole, "homogeneous").in(kMillisecond),
             time_of(whole, "mixed").in(kMillisecond),
             time_of(whole, "posterior").in(kMillisecond));
  fmt::print("gap {:.1f} %; best {} for {:.2f} USD\n", 100 * *whole.gap,
             to_text(whole.plans[0].cluster), whole.plans[0].cost.mean.in(kDollar));
}

std::size_t offers_of(const Catalog& catalog) {
  std::size_t offers = 0;
  for (const VmType& type : catalog.types) offers += type.offers.size();
  return offers;
}

/// The catalogue with the same types in so many more regions, at slightly other prices.
Catalog spread(const Catalog& catalog, std::size_t offers) {
  Catalog many = catalog;
  Random random(11);
  for (int copy = 1; offers_of(many) < offers; ++copy) {
    for (std::size_t i = 0; i < catalog.types.size(); ++i) {
      for (Offer offer : catalog.types[i].offers) {
        offer.region += fmt::format("-{}", copy);
        const double factor = random.uniform(0.9, 1.2);
        if (offer.on_demand) offer.on_demand->rate = factor * offer.on_demand->rate;
        if (offer.spot) offer.spot->rate = factor * offer.spot->rate;
        many.types[i].offers.push_back(std::move(offer));
      }
    }
  }
  return many;
}

/// The longest deadline, to a percent, that no plan keeps.
Seconds just_too_early(const World& world) {
  Seconds late = 1 * kMinute;
  Seconds kept = 24 * kHour;
  while (kept > 1.01 * late) {
    const Seconds middle = late + 0.5 * (kept - late);
    (answer_of(world.question(64, {}, middle)).plans.empty() ? late : kept) = middle;
  }
  return late;
}

void print_hard(const World& world) {
  fmt::print("\nHarder questions, {} batches, all passes\n", world.work.choices.size());
  print_head();
  const PlanAnswer large =
      print_row("up to 1024 VMs", world.question(1024, {}), 3, {"2000", "9074"});
  CHECK(large.gap && *large.gap == 0);
  const PlanAnswer late = print_row("a deadline just too early",
                                    world.question(64, {}, just_too_early(world)), 3, {"1000", ""});
  CHECK(late.plans.empty() && late.nearest);
  constexpr std::size_t kMerged = 44'000;
  World merged = world;
  merged.catalog = spread(world.catalog, kMerged);
  const PlanAnswer many = print_row(fmt::format("{} offers", offers_of(merged.catalog)),
                                    merged.question(64, {}), 3, {"1000", "1271"});
  CHECK(many.gap && *many.gap == 0);
}

/// The closed form once a job is resolved: what the search asks of each layout.
void print_closed_form(const World& world) {
  const PlanQuestion question = world.question(64, {});
  const auto space = plan_space(question);
  CHECK(space.ok());
  const Evaluator evaluator(question, *space);
  const auto choices = static_cast<int>(question.work.choices.size());
  const auto rental_of = [&](const std::string& type) {
    int rental = 0;
    while (space->machine_of(rental).type->name != type) ++rental;
    return rental;
  };
  const Part p3{.rental = rental_of("p3.8xlarge"), .vms = 4, .workers_per_vm = 4};
  const Part g4{.rental = rental_of("g4dn.12xlarge"), .vms = 4, .workers_per_vm = 4};
  const std::vector<std::pair<std::string, Config>> layouts = {
      {"4 equal VMs, ring", {.parts = {p3}}},
      {"4 equal VMs, ring, 4 micro-steps", {.parts = {p3}, .accumulation = 4}},
      {"4 equal VMs, hierarchical", {.parts = {p3}, .collective = Collective::kHierarchical}},
      {"4 + 4 VMs of two types, ring", {.parts = {p3, g4}, .kinds = 2}}};
  fmt::print("\nClosed form of one layout of a resolved job, microseconds of processor time\n");
  fmt::print("{:<40}{:>11}{:>11}{:>8}{:>8}\n", "", "median us", "min", "bound", "before");
  for (auto [what, config] : layouts) {
    // The first batch that fits.
    while (!evaluator.iteration(config)) CHECK(++config.choice < choices);
    Seconds sum;  // Used below, so that no call is left out.
    const auto one = evaluator.iteration(config);
    constexpr int kBatches = 25;
    constexpr int kCalls = 2000;
    const ProcessorTime time =
        processor_time_of(kBatches, kCalls, [&] { sum += *evaluator.iteration(config); });
    const double calls = sum / *one;
    CHECK(calls > kBatches * kCalls * (1 - 1e-6) && calls < kBatches * kCalls * (1 + 1e-6));
    fmt::print("{:<40}{:>11.2f}{:>11.2f}{:>8}{:>8}\n", what, time.median.in(kMicrosecond),
               time.min.in(kMicrosecond), "2", "-");
  }
}

int with_accelerator(const Catalog& catalog) {
  int count = 0;
  for (const VmType& type : catalog.types) count += type.accelerator ? 1 : 0;
  return count;
}

void print_growth(const World& world, const std::string& what, int vms_max, bool front) {
  const PlanAnswer lean = answer_of(world.question(vms_max, {"posterior", "front"}));
  std::string with_front = "-";  // It would take minutes.
  if (front) {
    const PlanAnswer answer = answer_of(world.question(vms_max, {"posterior"}));
    with_front = fmt::format("{:.0f}", time_of(answer, "mixed").in(kMillisecond));
  }
  fmt::print("{:<24}{:>8}{:>22}{:>12}{:>14.0f}{:>14.0f}{:>18}\n", what,
             with_accelerator(world.catalog), implied(lean), evaluated(lean),
             time_of(lean, "homogeneous").in(kMillisecond), time_of(lean, "mixed").in(kMillisecond),
             with_front);
}

World load(const std::string& job = kExampleJob) {
  PredictInputs inputs =
      *load_predict_inputs(*environment_from([](const char*) { return ""; }), job, "");
  World world{.job = inputs.job,
              .work = *work_to_goal(inputs.job),
              .catalog = inputs.catalog,
              .law = inputs.law,
              .devices = inputs.devices,
              .outlook = {.spot = *load_spot_prior(),
                          .on_demand_start_up = startup_times().vm_on_demand,
                          .spot_start_up = startup_times().vm_spot},
              .sharded = inputs.sharded};
  return world;
}

/// A model that no common GPU holds: every cluster gets its fastest layout.
void print_layouts() {
  const World world = load("model:llama-3-8b,method=full,tokens=100M");
  fmt::print("\nPlan of {} within 24 h with layouts, up to 64 VMs, on the bundled catalogue\n",
             world.job.name);
  print_head();
  const PlanAnswer answer =
      print_row("all passes, with front and doubt", world.question(64, {}), 3, {"5000", ""});
  CHECK(answer.gap && *answer.gap == 0);
  fmt::print("passes: layouts {:.0f} ms; gap {:.1f} %; best {} with '{}' for {:.2f} USD\n",
             time_of(answer, "layouts").in(kMillisecond), 100 * *answer.gap,
             to_text(answer.plans[0].cluster), answer.plans[0].parallel_layout.value_or("replicas"),
             answer.plans[0].cost.mean.in(kDollar));
}

void run() {
  const World world = load();
  World fixed = load();
  fixed.job.noise.clear();
  fixed.work = *work_to_goal(fixed.job);
  print_closed_form(world);
  print_catalogue(fixed, "one batch", {.homogeneous = "", .mixed = "", .all = ""});
  print_catalogue(world, fmt::format("{} batches", world.work.choices.size()),
                  {.homogeneous = "66", .mixed = "", .all = "241"});

  print_hard(world);
  print_layouts();

  fmt::print("\nGrowth, {} batches: milliseconds of passes, processor time\n",
             world.work.choices.size());
  fmt::print("{:<24}{:>8}{:>22}{:>12}{:>14}{:>14}{:>18}\n", "", "types", "implied", "evaluated",
             "homogeneous", "mixed", "mixed with front");
  for (const int vms_max : {16, 64, 256, 1024}) {
    print_growth(world, fmt::format("up to {} VMs", vms_max), vms_max, true);
  }
  for (const int copies : {1, 4, 16}) {
    World more = load();
    more.catalog = grown(world.catalog, copies);
    print_growth(more, fmt::format("catalogue x {}", copies), 64, copies < 16);
  }
}

}  // namespace
}  // namespace stint

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // Long work shows how far it is.
  stint::run();
  return 0;
}
