#pragma once

#include <string>

#include "base/check.h"
#include "optimise/question.h"
#include "predict/predictor_fixture.h"

namespace stint {

/// The small catalogue with other prices, and a job of hardly any gradients, so that an iteration
/// of n T4s takes 3 ms for each sample of the busiest, and 2 ms; "Fast" ones take half. Its
/// reference batch of 64 needs 36 000 iterations: hours are 10 times the seconds of an iteration.
struct PolicyFixture {
  PredictFixture predict;
  PlanQuestion question;

  PolicyFixture() : question{.context = predict.context(), .work = {}} {
    predict.job.gradient_bytes = 1 * kKB;
    predict.job.batch = BatchRange{.reference = 64};
    question.work.choices = {{.global_batch = 64, .iterations = 36'000}};
    question.constraints.vms_max = 4;
    question.constraints.providers = {"x"};
    predict.catalog.sources = {{.id = "s", .name = "invented"}};
    price("slow.1", 1.0, 0.4);
    price("slow.4", 3.9, std::nullopt);
    price("fast.1", 3.0, 1.2);
    price("dark.1", 9.0, std::nullopt);
    price("cpu.1", 0.2, std::nullopt);
  }
  PolicyFixture(const PolicyFixture&) = delete;
  PolicyFixture& operator=(const PolicyFixture&) = delete;

  VmType& type(const std::string& name) {
    for (VmType& it : predict.catalog.types) {
      if (it.name == name) return it;
    }
    CHECK(false);
    return predict.catalog.types[0];
  }

  /// The prices of these markets are 100 days old (20 July to 28 October 2026), and today's have
  /// these deviations from them.
  void age_prices(double spot, double on_demand) {
    const auto drift = [](double deviation) {
      return PriceDrift{.variance_rate = deviation * deviation / (100 * kDay), .limit = 1e6};
    };
    question.outlook.prices = PriceOutlook{
        .law = {.spot = drift(spot), .on_demand = drift(on_demand)}, .today = {2026, 10, 28}};
  }

  /// Dollars per hour, in the region "here".
  void price(const std::string& name, std::optional<double> on_demand, std::optional<double> spot) {
    const auto of = [](std::optional<double> usd) -> std::optional<Price> {
      if (!usd) return std::nullopt;
      return Price{.rate = *usd * kDollar / kHour,
                   .date = {.year = 2026, .month = 7, .day = 20},
                   .source = "s"};
    };
    type(name).vcpus = 4;
    type(name).offers = {{.region = "here", .on_demand = of(on_demand), .spot = of(spot)}};
  }
};

}  // namespace stint
