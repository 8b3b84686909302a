#include "app/risk/risk_saves.h"

#include <fmt/format.h>

#include "catalog/lookup.h"
#include "load/catalog_cases.h"
#include "load/checkpoint_times.h"
#include "load/predict_inputs.h"
#include "optimise/spot_risk.h"
#include "predict/cluster_price.h"
#include "predict/resolve.h"
#include "risk/checkpoint_schedule.h"

namespace stint {
namespace {

SaveInterval interval_of(const IntervalWaste& it, Seconds work) {
  SaveInterval interval{.waste = it.waste};
  if (it.interval < work) interval.interval = it.interval;
  return interval;
}

/// Rank 0 writes where training waits for it; else each worker copies its shard.
Result<SaveSetup> setup_of(const Catalog& catalog, const VmType& type,
                           const SavesRequest& request) {
  const auto network = network_rate(type);
  if (!network || !(*network > BytesPerSecond{})) {
    return bad_usage(
        fmt::format("--vm: the network of {} is unknown, so the checkpoint time is too; see 'stint "
                    "catalog show {}'",
                    type.name, type.name));
  }
  return SaveSetup{
      .bytes = *request.bytes,
      .senders = request.machines.count,
      .workers = request.machines.count * (type.accelerator ? type.accelerator->count : 1),
      .sender_nic = *network,
      .place = request.place,
      .sharded = !request.blocking,
      .copy_line =
          request.blocking ? kHostCopyMeasured : copy_line(host_copy(), gpu_of(catalog, type)),
      .receivers = request.receivers,
      .receiver_nic = *network,
      .asynchronous = !request.blocking,
      .copy = request.copy};
}

}  // namespace

Result<SavesReport> plan_saves(const Environment& environment, const SavesRequest& request) {
  const auto survive = survive_risk(environment, request.machines);
  if (!survive.ok()) return survive.error();
  const auto catalog = show_vm(environment, request.machines.vm);
  if (!catalog.ok()) return catalog.error();
  const VmType& type = catalog->noun.types.front();
  const auto hazard = pool_hazard(type, request.machines);
  if (!hazard.ok()) return hazard.error();
  const double machines =
      events_rate(survive->group, request.machines.count, 1 / kSecond).in(1 / kSecond);
  SpotGang gang{.hazard = gang_hazard(hazard->typical, machines), .horizon = request.machines.time};
  if (!request.bytes) return plan_saves(gang, std::nullopt).error();
  const auto setup = setup_of(catalog->noun, type, request);
  if (!setup.ok()) return setup.error();
  const SaveCost save = save_cost(*setup);
  SavesReport report{.vm = survive->vm,
                     .count = survive->count,
                     .work = request.machines.time,
                     .stall = save.stall,
                     .transfer = save.transfer,
                     .hazard_origin = survive->hazard_origin,
                     .warnings = survive->warnings};
  if (const auto notice = spot_notice(type.provider)) {
    report.fits_in_notice = fits_in_notice(save, *notice);
    if (*report.fits_in_notice) gang.without_notice = kLossesUnannounced;
  }
  report.without_notice = gang.without_notice;
  const auto plan = plan_saves(gang, save);
  if (!plan.ok()) return plan.error();
  report.begins = plan->begins;
  report.waste = plan->waste.fraction();
  report.constant = interval_of(plan->constant, report.work);
  report.young = interval_of(plan->young, report.work);
  report.daly = interval_of(plan->daly, report.work);
  return report;
}

}  // namespace stint
