#include "measure/measurement.h"

#include <algorithm>

#include "measure/line_reader.h"

namespace stint {

namespace {
constexpr Range kTime = Range::kNotNegative;
constexpr FieldRules kName{.range = Range::kAtLeastOne};
constexpr FieldRules kNumber{.range = Range::kNotNegative};
}  // namespace

template <class Walk>
void describe(Walk& walk, Like<Walk, RunStart>& it) {
  walk.field("job", it.job, "Name of the job.", kName);
  walk.field("layout", it.layout, "Split of the job over the cluster.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, IterationRecord>& it) {
  walk.field("number", it.number, "Number of the iteration, from 0 over the whole run.", kNumber);
  walk.number("time_s", it.time, kSecond, "Time of the whole iteration.", Range::kPositive);
  walk.number("forward_s", it.forward, kSecond, "Forward pass.", kTime);
  walk.number("backward_s", it.backward, kSecond, "Backward pass.", kTime);
  walk.number("synchronisation_s", it.synchronisation, kSecond, "Waiting for gradients.", kTime);
  walk.number("input_s", it.input, kSecond, "Waiting for data.", kTime);
  walk.number("update_s", it.update, kSecond, "Step of the trainer's optimizer.", kTime);
  walk.field("loss", it.loss, "Loss of the global batch.");
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, ReductionRecord>& it) {
  walk.field("vms", it.vms, "Numbers of the VMs, from 0 in the order of the cluster.", kNumber);
  walk.number("bytes", it.bytes, kByte, "Payload of the all-reduce.", Range::kPositive);
  walk.number("time_s", it.time, kSecond, "Time until all VMs had the sum.", Range::kPositive);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, VmEvent>& it) {
  walk.field("vm", it.vm, "Name of the VM.", kName);
  walk.field("reason", it.reason, "Reason of the event.");
  walk.number("grace_s", it.grace, kSecond, "Time left until the spot interruption.", kTime);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, CheckpointRecord>& it) {
  walk.field("iteration", it.iteration, "Last iteration that the checkpoint holds.", kNumber);
  walk.number("bytes", it.bytes, kByte, "Size of the checkpoint.", Range::kPositive);
  walk.number("stall_s", it.stall, kSecond, "Stall of training.", kTime);
  walk.number("transfer_s", it.transfer, kSecond, "Time until the checkpoint was safe.", kTime);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Charge>& it) {
  walk.number("amount_usd", it.amount, kDollar, "Amount of the charge.", Range::kNotNegative);
  walk.field("reason", it.reason, "Reason of the charge.", kName);
  walk.rest(it.unknown);
}

template <class Walk>
void describe(Walk& walk, Like<Walk, Measurement>& it) {
  walk.field("run", it.run, "Name of the run.", kName);
  walk.number("at_s", it.at, kSecond, "Time of the event, since 1970-01-01T00:00:00Z.", kTime);
  walk.field("start", it.start, "A run begins or continues on a cluster.");
  walk.field("iteration", it.iteration, "An iteration is done.");
  walk.field("reduction", it.reduction, "An all-reduce over some VMs was timed.");
  walk.field("vm_up", it.vm_up, "A VM is ready.");
  walk.field("notice", it.notice, "A VM received an interruption notice.");
  walk.field("vm_lost", it.vm_lost, "A VM was lost.");
  walk.field("checkpoint", it.checkpoint, "A checkpoint is safe.");
  walk.field("charge", it.charge, "Money was spent.");
  walk.rest(it.unknown);
}

std::string problem(const Measurement& it) {
  const int things = (it.start ? 1 : 0) + (it.iteration ? 1 : 0) + (it.reduction ? 1 : 0) +
                     (it.vm_up ? 1 : 0) + (it.notice ? 1 : 0) + (it.vm_lost ? 1 : 0) +
                     (it.checkpoint ? 1 : 0) + (it.charge ? 1 : 0);
  // A line of only unknown fields was written by a newer Stint; it is kept.
  if (things == 1 || (things == 0 && !it.unknown.empty())) return "";
  return "a line must have exactly one of start, iteration, reduction, vm_up, notice, vm_lost, "
         "checkpoint, charge";
}

Status check_line_count(std::string_view text, const std::string& source) {
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  if (lines <= kRecordLinesMax) return {};
  return bad_input(
      fmt::format("{}: the file has more than {} lines; split it", source, kRecordLinesMax));
}

Result<Loaded<std::vector<Measurement>>> read_measurements(std::string_view text,
                                                           const std::string& source) {
  const Status count = check_line_count(text, source);
  if (!count.ok()) return count.error();
  return read_json_lines<Measurement>(text, kMeasurementSchema, source);
}

Result<std::vector<std::string>> each_measurement(const std::string& path,
                                                  const std::function<bool(std::string_view)>& skip,
                                                  const std::function<void(Measurement)>& take) {
  std::vector<std::string> warnings;
  const Status read = each_line(path, [&](const FileLine& line) -> Status {
    if (skip(line.text)) return {};
    const auto json = parse_json(line.text, path, line.number);
    if (!json.ok() && line.cut_off) {
      warnings.push_back(
          fmt::format("{}:{}: truncated during a write; skipped", path, line.number));
      return {};
    }
    if (!json.ok()) return json.error();
    auto one = decode<Measurement>(*json, kMeasurementSchema, path);
    if (!one.ok()) return one.error();
    take(std::move(one->noun));
    for (std::string& warning : one->warnings) warnings.push_back(std::move(warning));
    return {};
  });
  if (!read.ok()) return read.error();
  return warnings;
}

std::string write_measurement(const Measurement& measurement) {
  return to_text(encode(measurement, kMeasurementSchema), JsonStyle::kLine) + "\n";
}

Status validate(const Measurement& measurement) { return check_fields(measurement, "measurement"); }

Json measurement_schema() {
  return schema_document(kMeasurementSchema, "One line of the append-only record of a run",
                         SchemaWalk::schema_of<Measurement>());
}

}  // namespace stint
