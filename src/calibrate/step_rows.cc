#include "calibrate/step_rows.h"

#include <fmt/format.h>

namespace stint {

Result<LawRow> law_row(const StepRow& row, const OneWorkerTimes& alone, const JobFacts& facts) {
  if (!row.unusable.empty()) return bad_input(row.unusable);
  const auto estimate = alone.at(row);
  if (!estimate) {
    return bad_input(fmt::format("{} was not measured on one worker{}{}", row.job,
                                 row.device.empty() ? "" : " of ", row.device));
  }
  LawRow law{.job = row.job,
             .size_known = false,
             .input = {.alone = estimate->time,
                       .jitter = estimate->jitter,
                       .batch_per_worker = row.batch_per_worker,
                       .gradients = kAssumedGradients,
                       .vms = static_cast<int>(row.workers_by_vm.size()),
                       .workers = workers(row),
                       .workers_on_fullest_vm = workers_on_fullest_vm(row),
                       .servers = row.servers,
                       .asynchronous = row.asynchronous,
                       .network = row.network},
             .time = row.times_per_step * row.time.value_or(Seconds{})};
  const auto known = facts.find(row.job);
  std::optional<Bytes> gradients = row.gradient_bytes;
  if (!gradients) gradients = alone.gradient_bytes(row.job);
  if (!gradients && known != facts.end()) gradients = known->second.gradient_bytes;
  if (gradients) law.input.gradients = *gradients;
  law.size_known = gradients.has_value();
  if (row.times_per_step != 1 && !law.size_known) {
    law.scale = kAssumedStep / law.input.alone;
    law.input.alone = kAssumedStep;
    law.input.batch_per_worker = kAssumedBatch;
    law.time = law.scale * law.time;
  }
  return law;
}

}  // namespace stint
