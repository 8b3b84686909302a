#include "app/run_forecast.h"

namespace stint {

RunForecast forecast_of(const PreparedRun& run, const RunRequest& request) {
  (void)request;
  const RunRecord& record = run.record;
  const RunTerms terms = terms_of(record, record.plan);
  std::vector<int> all;
  DollarsPerSecond rate;
  for (std::size_t i = 0; i < terms.slots.size(); ++i) {
    if (terms.slots[i].trains) all.push_back(static_cast<int>(i));
    rate += terms.slots[i].market == Market::kSpot ? terms.slots[i].spot : terms.slots[i].on_demand;
  }
  const Seconds time = record.start_up + static_cast<double>(record.steps) * terms.step_time(all);
  return {.time = {.mean = time, .p10 = 0.95 * time, .p90 = 1.05 * time},
          .cost = {.mean = rate * time, .p10 = 0.95 * (rate * time), .p90 = 1.05 * (rate * time)}};
}

RunOutlook outlook_of(const ReplayedRun& run) {
  (void)run;
  return {};
}

}  // namespace stint
