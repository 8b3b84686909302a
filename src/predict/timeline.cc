#include "predict/timeline.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/check.h"
#include "base/json.h"

namespace stint {
namespace {

/// Adds events to one row, each after the one before.
class Row {
 public:
  Row(std::vector<TimelineEvent>& events, int group) : events_(events), group_(group) {}

  void add(std::string name, Seconds duration) {
    if (duration <= Seconds{}) return;
    events_.push_back(
        {.name = std::move(name), .group = group_, .start = now_, .duration = duration});
    now_ += duration;
  }
  void wait_until(std::string name, Seconds end) { add(std::move(name), end - now_); }

 private:
  std::vector<TimelineEvent>& events_;
  int group_;
  Seconds now_;
};

Seconds ready_time(const Bucket& bucket, const StepSetup& setup) {
  const double slowdown = 1 + setup.backward_slowdown;
  const double steps = setup.accumulation;
  Seconds ready;
  for (const StepGroup& group : setup.groups) {
    const Seconds before = steps * group.forward + (steps - 1) * group.backward;
    ready = std::max(ready, before + bucket.ready * slowdown * group.backward);
  }
  return (1 + straggling(setup)) * ready;
}

void add_buckets(std::vector<TimelineEvent>& events, const StepSetup& setup) {
  Seconds end;
  for (std::size_t k = 0; k < setup.buckets.size(); ++k) {
    const Seconds start = std::max(end, ready_time(setup.buckets[k], setup));
    const Seconds duration = bucket_time(setup.buckets[k].bytes, setup);
    end = start + duration;
    for (std::size_t g = 0; g < setup.groups.size(); ++g) {
      events.push_back({.name = fmt::format("bucket {}", k + 1),
                        .group = static_cast<int>(g),
                        .network = true,
                        .start = start,
                        .duration = duration});
    }
  }
}

Json metadata(const char* kind, int group, int row, const std::string& name) {
  Json names;
  names.add("name", Json(name));
  Json json;
  json.add("name", kind);
  json.add("ph", "M");
  json.add("pid", group);
  json.add("tid", row);
  json.add("args", names);
  return json;
}

}  // namespace

std::vector<TimelineEvent> timeline(const StepSetup& setup, const IterationParts& parts) {
  std::vector<TimelineEvent> events;
  const bool communicates = workers(setup) > 1;
  const Seconds whole = total(parts);
  const Seconds update_start = whole - parts.input - parts.update;
  for (std::size_t g = 0; g < setup.groups.size(); ++g) {
    const StepGroup& group = setup.groups[g];
    Row row(events, static_cast<int>(g));
    for (int step = 1; step <= setup.accumulation; ++step) {
      const bool last = communicates && step == setup.accumulation;
      row.add("forward", group.forward);
      row.add("backward", (last ? 1 + setup.backward_slowdown : 1) * group.backward);
    }
    row.wait_until("wait for gradients", update_start);
    row.add("update", group.update);
    row.wait_until("wait for data", whole);
  }
  if (communicates) add_buckets(events, setup);
  return events;
}

std::string chrome_trace(const std::vector<TimelineEvent>& events,
                         const std::vector<std::string>& groups) {
  Json::Array list;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const int group = static_cast<int>(g);
    list.push_back(metadata("process_name", group, 0, groups[g]));
    list.push_back(metadata("thread_name", group, 0, "compute"));
    list.push_back(metadata("thread_name", group, 1, "network"));
  }
  for (const TimelineEvent& event : events) {
    CHECK(static_cast<std::size_t>(event.group) < groups.size());
    Json json;
    json.add("name", Json(event.name));
    json.add("ph", "X");
    json.add("pid", event.group);
    json.add("tid", event.network ? 1 : 0);
    json.add("ts", event.start.in(kMicrosecond));
    json.add("dur", event.duration.in(kMicrosecond));
    list.push_back(std::move(json));
  }
  return to_text(Json(Json::Value{std::move(list)}), JsonStyle::kPretty) + "\n";
}

}  // namespace stint
