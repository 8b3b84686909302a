#include "app/risk/risk_fit.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "base/date.h"
#include "base/file.h"
#include "calibrate/score.h"
#include "catalog/market.h"
#include "measure/tables/lifetime_table.h"
#include "risk/advisor.h"
#include "risk/hazard_fit.h"

namespace stint {
namespace {

constexpr double kHorizonHours[] = {1, 3, 6, 12, 24};

/// The contents of all files.
struct Tables {
  std::vector<AvailabilityTrace> traces;
  std::vector<Lifetime> lifetimes;
  std::vector<PoolStudy> studies;  // One for each file of lifetimes, and each published share.
  std::vector<VmStartup> startups;
  std::vector<CreationFailure> failures;
};

template <class Row>
Status append(std::vector<Row>& all, Result<std::vector<Row>> rows) {
  if (!rows.ok()) return rows.error();
  all.insert(all.end(), rows->begin(), rows->end());
  return {};
}

Status add_lifetimes(Tables& tables, Result<std::vector<Lifetime>> rows) {
  if (!rows.ok()) return rows.error();
  tables.studies.push_back(study_of(*rows));
  return append(tables.lifetimes, std::move(rows));
}

Status read_into(Tables& tables, const std::string& file, Seconds gap) {
  const auto text = read_file(file);
  if (!text.ok()) return text.error();
  if (is_availability_trace(*text)) {
    auto trace = read_availability_trace(*text, file, gap);
    if (!trace.ok()) return trace.error();
    tables.traces.push_back(std::move(*trace));
    return {};
  }
  const auto table = spot_table_of(*text);
  if (table == SpotTable::kLifetimes) {
    return add_lifetimes(tables, read_lifetimes(*text, file));
  }
  if (table == SpotTable::kPublishedLosses) {
    const auto published = read_published_losses(*text, file);
    if (!published.ok()) return published.error();
    for (const PublishedLosses& it : *published) tables.studies.push_back(study_of(it));
    return {};
  }
  if (table == SpotTable::kVmStartups) {
    return append(tables.startups, read_vm_startups(*text, file));
  }
  if (table == SpotTable::kCreationFailures) {
    return append(tables.failures, read_creation_failures(*text, file));
  }
  return bad_input(fmt::format(
      "{}: not a trace of machines, lifetimes, published losses, start-up times or failed "
      "starts; see 'stint risk fit --help' for their columns",
      file));
}

TimeSummary summary_of(std::vector<double> seconds) {
  TimeSummary summary{.count = static_cast<int>(seconds.size())};
  if (seconds.empty()) return summary;
  std::sort(seconds.begin(), seconds.end());
  for (const double it : seconds) {
    summary.mean += it / static_cast<double>(seconds.size()) * kSecond;
  }
  summary.median = quantile(seconds, 0.5) * kSecond;
  summary.p90 = quantile(seconds, 0.9) * kSecond;
  return summary;
}

TraceReport report_of(const AvailabilityTrace& trace, int machines) {
  std::vector<double> spells[2];
  int up = 0;
  for (std::size_t i = 0; i < trace.counts.size();) {
    const bool is_up = trace.counts[i] >= machines;
    std::size_t end = i;
    while (end < trace.counts.size() && (trace.counts[end] >= machines) == is_up) ++end;
    spells[is_up ? 1 : 0].push_back(static_cast<double>(end - i) * trace.gap.in(kSecond));
    if (is_up) up += static_cast<int>(end - i);
    i = end;
  }
  return {.name = trace.name,
          .gap = trace.gap,
          .ticks = static_cast<int>(trace.counts.size()),
          .most = *std::max_element(trace.counts.begin(), trace.counts.end()),
          .availability = up / static_cast<double>(trace.counts.size()),
          .up = summary_of(std::move(spells[1])),
          .down = summary_of(std::move(spells[0]))};
}

LifetimeReport report_of(const std::vector<Lifetime>& lifetimes) {
  const KaplanMeier measured(lifetimes);
  const HazardFit fit = fit_hazard(lifetimes);
  const Hazard constant = fit_exponential(lifetimes);
  LifetimeReport report{.machines = measured.machines(),
                        .losses = measured.losses(),
                        .exposure = fit.exposure,
                        .horizons = {},
                        .hazard = hazard_of(fit, {}),
                        .rate = constant.rate(Seconds()),
                        .kinds = fit.kinds};
  for (const double hours : kHorizonHours) {
    const Seconds age = hours * kHour;
    report.horizons.push_back({.age = age,
                               .measured = measured.at(age),
                               .fitted = report.hazard.survival(age),
                               .exponential = constant.survival(age)});
  }
  return report;
}

std::vector<StartupReport> report_of(const std::vector<VmStartup>& startups) {
  std::map<std::pair<std::string, Market>, std::vector<double>> times;
  for (const VmStartup& it : startups) {
    times[{it.device, it.market}].push_back(it.total().in(kSecond));
  }
  std::vector<StartupReport> reports;
  for (auto& [key, seconds] : times) {
    reports.push_back({.device = key.first,
                       .market = key.second == Market::kSpot ? "spot" : "on-demand",
                       .time = summary_of(std::move(seconds))});
  }
  return reports;
}

std::vector<FailureReport> report_of(const std::vector<CreationFailure>& failures) {
  std::map<std::string, std::vector<long>> hours;
  for (const CreationFailure& it : failures) {
    const std::string place = it.zone.empty() ? it.provider : it.provider + " " + it.zone;
    hours[place].push_back(static_cast<long>(std::floor(it.time.in(kHour))));
  }
  std::vector<FailureReport> reports;
  for (const auto& [place, list] : hours) {
    const std::set<long> failed(list.begin(), list.end());
    FailureReport report{.place = place,
                         .failures = static_cast<int>(list.size()),
                         .hours = static_cast<int>(*failed.rbegin() - *failed.begin() + 1)};
    report.hours_failed = static_cast<double>(failed.size()) / report.hours;
    int row = 0;
    for (const long hour : failed) {
      row = failed.count(hour - 1) > 0 ? row + 1 : 1;
      report.longest = std::max(report.longest, row);
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

Status write_prior(const Environment& environment, const RiskFitRequest& request,
                   const Tables& tables, const std::optional<GroupLoss>& group) {
  if (tables.lifetimes.empty() || !group) {
    return bad_usage("--out needs lifetimes and a trace of several machines with losses");
  }
  if (request.name.empty()) return bad_usage("--out needs --name, the name of the calibration");
  if (request.provenance.empty()) {
    return bad_usage("--out needs --provenance, the source of the files");
  }
  Calibration calibration = spot_calibration(pool_population(tables.studies), *group);
  calibration.name = request.name;
  calibration.date = date_at(environment.clock->now());
  calibration.data.push_back({.name = request.name,
                              .provenance = request.provenance,
                              .rows = static_cast<int>(tables.lifetimes.size()),
                              .jobs = {}});
  return write_output(request.out, write_calibration(calibration));
}

}  // namespace

Result<RiskFitReport> fit_risk(const Environment& environment, const RiskFitRequest& request) {
  Tables tables;
  for (const std::string& file : request.files) {
    const Status read = read_into(tables, file, request.gap);
    if (!read.ok()) return read.error();
  }
  RiskFitReport report;
  for (const AvailabilityTrace& it : tables.traces) {
    report.traces.push_back(report_of(it, request.machines));
  }
  report.group = fit_group_loss(tables.traces);
  if (!tables.lifetimes.empty()) report.lifetimes = report_of(tables.lifetimes);
  report.startups = report_of(tables.startups);
  report.failures = report_of(tables.failures);
  if (!request.out.empty()) {
    const Status written = write_prior(environment, request, tables, report.group);
    if (!written.ok()) return written.error();
  }
  return report;
}

}  // namespace stint
