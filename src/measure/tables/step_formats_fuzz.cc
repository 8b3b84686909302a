// Published tables: the first byte chooses the reader. A row that is read must be one that the
// rest of the program can work with, and every data row of a table must come back.
#include "measure/tables/step_formats.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/check.h"
#include "base/csv.h"
#include "measure/tables/availability_trace.h"
#include "measure/tables/case_table.h"
#include "measure/tables/convergence_table.h"
#include "measure/tables/lifetime_table.h"
#include "measure/tables/memory_table.h"
#include "measure/tables/nccl_text.h"
#include "measure/tables/pair_table.h"

namespace {

using stint::StepFormat;
using stint::StepRow;

template <class Rows>
void check_count(const Rows& rows, std::string_view text) {
  if (!rows.ok()) {
    CHECK(!rows.error().message.empty());
    return;
  }
  const auto csv = stint::Csv::parse(text, "fuzz");
  CHECK(csv.ok());
  CHECK(rows->size() == csv->rows());
}

void check_time(const std::optional<stint::Seconds>& time) {
  if (!time) return;
  CHECK(*time > stint::Seconds{});
  CHECK(std::isfinite(time->in(stint::kSecond)));
}

void check_row(const StepRow& row) {
  CHECK(!row.job.empty() || !row.unusable.empty());
  CHECK(row.unmeasured.empty() || !row.time);
  CHECK(!row.workers_by_vm.empty());
  for (const int count : row.workers_by_vm) CHECK(count >= 1);
  CHECK(row.batch_per_worker > 0);
  CHECK(std::isfinite(row.batch_per_worker));
  CHECK(row.servers >= 0);
  check_time(row.time);
  check_time(row.repeat);
}

void try_steps(StepFormat format, std::string_view text) {
  const auto rows = stint::read_steps(format, text, "fuzz");
  if (format != StepFormat::kStint) check_count(rows, text);
  if (!rows.ok()) return;
  for (const StepRow& row : *rows) check_row(row);
}

void try_plans(std::string_view text) {
  const auto plans = stint::read_plan_memory(text, "fuzz");
  check_count(plans, text);
  if (!plans.ok()) return;
  for (const stint::PlanMemory& plan : *plans) {
    CHECK(!plan.stages.empty());
    for (const stint::PlanStage& stage : plan.stages) CHECK(!stage.replicas.empty());
  }
}

void try_runs(std::string_view text) {
  const auto rows = stint::read_convergence_table(text, "fuzz", stint::Measured::kOptional);
  check_count(rows, text);
  if (!rows.ok()) return;
  for (const stint::ConvergenceRow& row : *rows) {
    CHECK(!row.job.empty());
    CHECK(row.batch >= 1);
    if (row.iteration) CHECK(*row.iteration > 0);
    if (row.noise_ratio) CHECK(*row.noise_ratio > 0);
  }
}

void check_side(const stint::PackedSide& side) {
  CHECK(!side.job.job.empty());
  CHECK(side.job.batch >= 1);
  for (const auto& rate : {side.alone, side.packed}) {
    if (!rate) continue;
    CHECK(*rate > stint::PerSecond{});
    CHECK(std::isfinite(rate->in(1 / stint::kSecond)));
  }
}

void try_pairs(std::string_view text) {
  const auto pairs = stint::read_packed_pairs(text, "fuzz");
  check_count(pairs, text);
  if (!pairs.ok()) return;
  for (const stint::PackedPair& pair : *pairs) {
    check_side(pair.first);
    check_side(pair.second);
    CHECK(!pair.device.empty());
  }
}

void try_cases(std::string_view text) {
  check_count(stint::read_published_cases(text, "fuzz"), text);
  const auto cases = stint::read_cases(text, "fuzz");
  if (!cases.ok()) return;
  for (const stint::PublishedCase& it : *cases) {
    CHECK(!it.id.empty());
    if (it.value) CHECK(*it.value > 0);
    for (const auto& count : {it.batch_per_worker, it.global_batch, it.vms, it.workers}) {
      if (count) CHECK(*count >= 1);
    }
  }
}

void try_trace(std::string_view text) {
  const auto trace = stint::read_availability_trace(text, "fuzz");
  if (!trace.ok()) {
    CHECK(!trace.error().message.empty());
    return;
  }
  CHECK(trace->gap > stint::Seconds{});
  CHECK(!trace->counts.empty());
  for (const int count : trace->counts) CHECK(count >= 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  switch (bytes[0]) {
    case 'p':
      try_steps(StepFormat::kPollux, text);
      break;
    case 'g':
      try_steps(StepFormat::kGavel, text);
      check_count(stint::read_memory_marks(text, "fuzz"), text);
      check_count(stint::read_isolated_rates(text, "fuzz"), text);
      break;
    case 'n':
      try_steps(StepFormat::kNvidia, text);
      break;
    case 'c':
      try_steps(StepFormat::kCmdare, text);
      break;
    case 's':
      try_steps(StepFormat::kStint, text);
      break;
    case 'a':
      check_count(stint::read_collective_table(text, "fuzz"), text);
      break;
    case 'm':
      check_count(stint::read_pair_marks(text, "fuzz"), text);
      try_pairs(text);
      break;
    case 'l':
      check_count(stint::read_layer_sizes(text, "fuzz"), text);
      break;
    case 'v':
      try_runs(text);
      break;
    case 'd':
      check_count(stint::read_lifetimes(text, "fuzz"), text);
      check_count(stint::read_creation_failures(text, "fuzz"), text);
      check_count(stint::read_vm_startups(text, "fuzz"), text);
      check_count(stint::read_checkpoint_times(text, "fuzz"), text);
      break;
    case 'u':
      try_cases(text);
      break;
    case 't':
      try_trace(text);
      break;
    default:
      try_plans(text);
  }
  return 0;
}
