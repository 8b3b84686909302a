#include "simulate/turn_timeline.h"

#include <fmt/format.h>

#include "base/check.h"

namespace stint {
namespace {

/// Adds events to the processes of a picture.
class Drawing {
 public:
  Drawing(const std::vector<std::string>& jobs, const std::vector<std::string>& groups)
      : jobs_(jobs), groups_(groups.size()) {
    for (const std::string& group : groups) picture.rows.push_back("turn on " + group);
    for (const std::string& job : jobs) {
      for (const std::string& group : groups) {
        picture.rows.push_back(fmt::format("{} on {}", job, group));
      }
    }
  }

  void add(const TurnEvent& event) {
    CHECK(event.job < jobs_.size());
    switch (event.kind) {
      case TurnEvent::Kind::kTurn:
        put(event, jobs_[event.job], event.group, false);
        put(event, fmt::format("iteration {}", event.number + 1), process(event), false);
        return;
      case TurnEvent::Kind::kUpdate:
        for (std::size_t g = 0; g < groups_; ++g) {
          put(event, "update", first_process(event) + g, false);
        }
        return;
      case TurnEvent::Kind::kBucket:
        for (std::size_t g = 0; g < groups_; ++g) {
          put(event, fmt::format("bucket {}", event.number + 1), first_process(event) + g, true);
        }
        return;
    }
    CHECK(false);
  }

  TurnTimeline picture;

 private:
  std::size_t first_process(const TurnEvent& event) const { return groups_ * (1 + event.job); }
  std::size_t process(const TurnEvent& event) const {
    CHECK(event.group < groups_);
    return first_process(event) + event.group;
  }

  void put(const TurnEvent& event, std::string name, std::size_t row, bool network) {
    if (event.end <= event.start) return;
    picture.events.push_back({.name = std::move(name),
                              .group = static_cast<int>(row),
                              .network = network,
                              .start = event.start,
                              .duration = event.end - event.start});
  }

  const std::vector<std::string>& jobs_;
  std::size_t groups_;
};

}  // namespace

TurnTimeline turn_timeline(const SharedRun& run, const std::vector<std::string>& jobs,
                           const std::vector<std::string>& groups) {
  Drawing drawing(jobs, groups);
  for (const TurnEvent& event : run.events) drawing.add(event);
  return std::move(drawing.picture);
}

}  // namespace stint
