#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "optimise/question.h"
#include "predict/predictor_fixture.h"

namespace stint {

/// A small catalogue, a job and constraints of seeded chance, alive as long as the test. Curves
/// bend either way, laws have constants of either sign, and limits bind or do not.
class RandomCase {
 public:
  explicit RandomCase(std::uint64_t seed) : random_(seed) {
    make_catalog();
    make_job();
    make_law();
    make_work();
    make_constraints();
    make_outlook();
  }
  RandomCase(const RandomCase&) = delete;
  RandomCase& operator=(const RandomCase&) = delete;

  PlanQuestion question() const {
    return {.context = {job_, catalog_, law_, devices_},
            .work = work_,
            .constraints = constraints_,
            .objective = objective_,
            .rows = 3,
            .outlook = outlook_};
  }

  Catalog& catalog() { return catalog_; }

 private:
  bool chance(double probability) { return random_.uniform() < probability; }
  double log_uniform(double low, double high) {
    return std::exp(random_.uniform(std::log(low), std::log(high)));
  }

  void make_catalog() {
    for (const char* name : {"T4", "Fast", "Odd"}) {
      catalog_.gpus.push_back({.name = name,
                               .memory = random_.uniform(4, 40) * kGB,
                               .memory_bandwidth = log_uniform(100, 1000) * kGB / kSecond,
                               .fp32 = log_uniform(4, 40) * kTeraflop / kSecond,
                               .pcie = "3.0 x16"});
    }
    const int types = 2 + random_.below(3);
    for (int i = 0; i < types; ++i) {
      VmType type{.provider = chance(0.9) ? "x" : "y",
                  .name = std::string("f") + std::to_string(i % 2) + "." + std::to_string(i)};
      const Gpu& gpu = catalog_.gpus[static_cast<std::size_t>(random_.below(3))];
      type.accelerator = Accelerator{.name = gpu.name, .count = 1 << random_.below(3)};
      // What is twice as fast costs about twice as much, so that mixing pays now and then.
      const double fair = *gpu.fp32 / (8 * kTeraflop / kSecond) * type.accelerator->count;
      type.vcpus = 4 * type.accelerator->count;
      if (chance(0.9)) {
        type.network = Network{.baseline = log_uniform(2, 200) * kGbit / kSecond};
      }
      for (const char* region : {"here", "there"}) {
        if (chance(0.3)) continue;
        Offer offer{.region = region};
        const double price = random_.uniform(0.8, 1.3) * fair;
        const Date date{.year = 2026, .month = 7, .day = 20};
        offer.on_demand = Price{.rate = price * kDollar / kHour, .date = date, .source = "s"};
        if (chance(0.6)) {
          offer.spot = Price{.rate = random_.uniform(0.3, 1.1) * price * kDollar / kHour,
                             .date = date,
                             .source = "s"};
          if (chance(0.5)) {
            const double most = random_.uniform(0.1, 0.99);
            offer.interruption =
                Interruption{.monthly_min = most / 2, .monthly_max = most, .source = "s"};
          }
          if (chance(0.1)) offer.on_demand.reset();
        }
        type.offers.push_back(offer);
      }
      catalog_.types.push_back(type);
    }
    if (chance(0.5)) add_receiver();
    // Something can always be rented.
    const Price price{
        .rate = 2 * kDollar / kHour, .date = {.year = 2026, .month = 7, .day = 20}, .source = "s"};
    if (catalog_.types[0].offers.empty()) {
      catalog_.types[0].offers.push_back({.region = "here", .on_demand = price});
    }
  }

  /// A machine that can keep checkpoints.
  void add_receiver() {
    const Price price{.rate = log_uniform(0.01, 0.5) * kDollar / kHour, .source = "s"};
    catalog_.types.push_back({.provider = "x",
                              .name = "keeper",
                              .network = Network{.baseline = log_uniform(2, 50) * kGbit / kSecond},
                              .offers = {{.region = "here", .on_demand = price}}});
  }

  /// Prices of one day of 2025 that are known today, or years old.
  void make_prices() {
    Random random = random_.fork(1);
    if (random.uniform() < 0.5) return;
    outlook_.prices =
        PriceOutlook{.law = {.spot = {.variance_rate = 2e-4 / kDay, .limit = 0.9},
                             .on_demand = {.variance_rate = 1e-5 / kDay, .limit = 0.3}},
                     .today = {random.uniform() < 0.5 ? 2026 : 2031, 11, 18}};
  }

  /// Losses from none to several an hour, with checkpoints from tiny to such as take minutes.
  void make_outlook() {
    make_prices();
    if (chance(0.3)) return;
    const double per_hour = log_uniform(0.003, 3);
    outlook_.spot.hazard = {.typical = Hazard::constant(per_hour / kHour),
                            .low = Hazard::constant(per_hour / 2 / kHour),
                            .high = Hazard::constant(per_hour * 2 / kHour),
                            .origin = "chance"};
    if (chance(0.5)) outlook_.spot.group = {.shared = random_.uniform(), .reach = 0.4};
    outlook_.on_demand_start_up = {random_.uniform(0, 200) * kSecond, 5 * kSecond};
    outlook_.spot_start_up = {random_.uniform(0, 200) * kSecond, 5 * kSecond};
    if (chance(0.7)) {
      job_.checkpoint = CheckpointSize{.bytes = log_uniform(1, 30000) * kMB};
      if (chance(0.5)) job_.checkpoint->save_time = log_uniform(0.1, 60) * kSecond;
    }
  }

  void make_job() {
    job_ = {.name = "random", .gradient_bytes = log_uniform(0.02, 20) * kMB};
    const double fixed = random_.uniform(0, 8);
    const double slope = log_uniform(0.2, 10);
    const double bend = random_.uniform(0.8, 1.25);
    const double forward = random_.uniform(0, 0.6);
    for (const int batch : {2, 8, 32}) {
      const double time = fixed + slope * std::pow(batch, bend);
      job_.compute.push_back({.device = "T4",
                              .batch_per_worker = batch,
                              .forward = {.median = forward * time * kMillisecond},
                              .backward = {.median = (1 - forward) * time * kMillisecond},
                              .update = {.median = random_.uniform(0, 3) * kMillisecond},
                              .peak_memory = 1 * kGB + batch * 200 * kMB});
    }
    job_.batch = BatchRange{.reference = 64};
  }

  void make_law() {
    Calibration calibration = round_calibration();
    for (Constant& constant : calibration.constants) {
      if (constant.name == "straggling") constant.value = random_.uniform(-0.01, 0.05);
      if (constant.name == "cost_by_workers") constant.value = random_.uniform(-0.3, 0.3);
      if (constant.name == "two_vm_workers") constant.value = random_.uniform(-0.3, 0.6);
      if (constant.name == "depth_cost") constant.value = random_.uniform(-5, -1);
      if (constant.name == "latency") constant.value = random_.uniform(-12, -6);
      if (constant.name == "crowding_inside") constant.value = random_.uniform(-5, -2);
      if (constant.name == "crowding_across") constant.value = random_.uniform(-5, -2);
      if (constant.name == "crowding_rate") constant.value = 0.3;
      if (constant.name == "sharpness") constant.value = random_.uniform(0, 2);
      if (constant.name == "noise_floor") constant.value = random_.uniform(0, 0.05);
    }
    law_ = *calibrated_law(calibration);
  }

  void make_work() {
    for (const int batch : {24, 64, 120}) {
      if (batch != 64 && chance(0.5)) continue;
      work_.choices.push_back({.global_batch = batch,
                               .iterations = std::ceil(1e5 * (1 + 40.0 / batch)),
                               .deviation = batch == 64 ? 0 : random_.uniform(0, 0.2)});
    }
  }

  void make_constraints() {
    constraints_.vms_max = 1 + random_.below(5);
    if (chance(0.7)) constraints_.deadline = log_uniform(0.5, 20) * kHour;
    if (chance(0.2)) constraints_.budget = log_uniform(1, 100) * kDollar;
    if (chance(0.2)) constraints_.rate_max = log_uniform(1, 20) * kDollar / kHour;
    if (chance(0.5)) constraints_.quotas = {{"f0", std::nullopt, 4 * (1 + random_.below(4))}};
    if (chance(0.6)) {
      const std::optional<Market> market =
          chance(0.3) ? std::optional(Market::kSpot) : std::nullopt;
      constraints_.quotas.push_back({"f1", market, 4 * random_.below(5)});
    }
    if (chance(0.2)) constraints_.markets = {chance(0.5) ? Market::kSpot : Market::kOnDemand};
    constraints_.confidence = chance(0.5) ? 0.95 : 0.6;
    objective_ = chance(0.6) ? Objective::kCost : Objective::kTime;
  }

  Random random_;
  Catalog catalog_;
  JobProfile job_;
  CalibratedLaw law_;
  DeviceLaw devices_ = {.compute_share = 0.5, .spread = 0.2};
  Work work_;
  Constraints constraints_;
  Objective objective_ = Objective::kCost;
  Outlook outlook_;
};

}  // namespace stint
