#pragma once

#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/codec.h"
#include "base/random.h"
#include "supervise/disaster_terms.h"
#include "supervise/supervisor.h"

namespace stint {

inline void print_moment(const RunEvent& event, const std::vector<RunAction>& actions) {
  fmt::print("{:.1f} {} vm {} attempt {} step {} count {} in {:.1f} s: {}\n", event.at.in(kSecond),
             name_of(event.kind), event.vm.value_or(-1), event.attempt.value_or(-1),
             event.step.value_or(-1), event.count.value_or(-1),
             event.duration.value_or(Seconds{}).in(kSecond), event.reason.value_or(""));
  for (const RunAction& it : actions) {
    fmt::print("  {} vm {} slot {} attempt {} vms [{}] step {} {}\n", name_of(it.kind), it.vm,
               it.slot, it.attempt, fmt::join(it.vms, " "), it.step, it.reason);
  }
}

/// Exchanges the supervisor of a world at random events for one that was restored from the text of
/// its snapshot. The one before must want the same from then on.
class SnapshotShadow {
 public:
  /// There are snapshots in every fourth world. An erratic policy does not begin anew.
  SnapshotShadow(const Disaster& disaster, Random random)
      : disaster_(disaster),
        random_(random),
        active_(random_.below(4) == 0 && disaster.policy != 1),
        terms_(disaster.terms) {}

  /// What is wrong after `supervisor` has handled an event; empty: nothing. `second` is restored
  /// from events, and may be null.
  std::string follow(std::unique_ptr<Supervisor>& supervisor, Supervisor* second,
                     const RunEvent& event, const std::optional<RunTerms>& terms,
                     const std::vector<RunAction>& actions) {
    if (terms) {
      // A policy decides about its first number of machines.
      policy_ = policy_ && training_slots(*terms).size() == training_slots(terms_).size();
      terms_ = *terms;
    }
    if (before_) {
      if (terms) before_->change_terms(*terms);
      if (before_->handle(event) != actions) return "after a snapshot it wants something else";
    }
    // The journal of a crash that is still to come knows of no snapshots.
    const bool may = active_ && (disaster_.crash_after == 0 || second != nullptr);
    if (!may || random_.below(kEventsPerSnapshot) != 0) return "";
    if (second != nullptr) second->settle();
    return exchange(supervisor);
  }

 private:
  static constexpr int kEventsPerSnapshot = 100;
  static constexpr const char* kSchema = "stint.supervisor/1";

  static std::string text_of(const Supervisor& supervisor) {
    return to_text(encode(supervisor.snapshot(), kSchema), JsonStyle::kLine);
  }

  std::string exchange(std::unique_ptr<Supervisor>& supervisor) {
    const std::string text = text_of(*supervisor);
    auto read = read_document<SupervisorSnapshot>(text, kSchema, "snapshot");
    if (!read.ok()) return read.error().message;
    auto restored =
        std::make_unique<Supervisor>(terms_, policy_ ? make_policy(disaster_) : nullptr);
    const Status done = restored->restore(std::move(read->noun));
    if (!done.ok()) return done.error().message;
    if (text_of(*restored) != text) return "a snapshot is restored to something else";
    supervisor->settle();
    before_ = std::exchange(supervisor, std::move(restored));
    return "";
  }

  const Disaster& disaster_;
  Random random_;
  bool active_;
  RunTerms terms_;      // The latest of the supervisor.
  bool policy_ = true;  // It still has a policy.
  std::unique_ptr<Supervisor> before_;
};

}  // namespace stint
