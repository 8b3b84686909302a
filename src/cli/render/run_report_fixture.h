#pragma once

#include <utility>

#include "app/run/run_report.h"
#include "base/temporary_folder.h"
#include "run/run_fixture.h"

namespace stint::cli {

/// The report of the run of run_fixture.h, which was expected to take 30 s and 0.005 USD.
inline RunReport small_report() {
  const auto place = TemporaryFolder::make();
  RunRecord record = small_record();
  record.forecast = RunForecast{.losses = 1.5};
  record.forecast->time = {.mean = 30 * kSecond, .p10 = 25 * kSecond, .p90 = 40 * kSecond};
  record.forecast->cost = {
      .mean = 0.005 * kDollar, .p10 = 0.004 * kDollar, .p90 = 0.0065 * kDollar};
  write_small_run(place->path(), record, small_events());
  const auto run = replay_run_folder(place->path());
  RunReport report{.record = record, .folder = place->path(), .story = story_of(*run)};
  for (int i = 1; i <= 20; ++i) {
    report.steps.push_back(
        {.step = i, .at = (4.0 + i) * kSecond, .time = 1 * kSecond, .loss = 2.0 / i});
  }
  report.saves = {
      {.step = 3, .bytes = 200 * kByte, .stall = 0.1 * kSecond, .transfer = 0.4 * kSecond}};
  return report;
}

}  // namespace stint::cli
