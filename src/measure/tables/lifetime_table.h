#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "catalog/catalog.h"
#include "catalog/market.h"

namespace stint {

/// How often spot VMs of a type are taken back in a region, by the provider's own count.
struct AdvisedBand {
  std::string region;
  std::string vm;
  Interruption band;
};

/// Reads AWS's spot advisor as a table: region, instance_type and interruption_monthly_pct_range
/// ("<5", "5-10", ">20"); other columns do not matter. What cannot be read is bad input with line
/// and column.
Result<std::vector<AdvisedBand>> read_advised_bands(std::string_view text,
                                                    const std::string& source);

// Published tables on how long spot VMs live, how long they take to come and how often they do not
// come at all. All readers return one row per data row, in order; what cannot be read is bad input
// with line and column.

/// Google ends a preemptible VM when it is this old. That says nothing about when it would have
/// been preempted, so such a life counts as cut short, not as lost.
inline constexpr Seconds kGoogleLimit = 24 * kHour;

/// How long a spot VM lived: its life ended after `at_least` and no later than `at_most`. Both are
/// the same where the moment is known; without `at_most` it was still alive. A row that says
/// nothing is alive at age zero.
struct Lifetime {
  std::string provider;
  std::string machine;  // The VM type, or the accelerator where only that is known.
  int gpus = 0;
  std::string zone;
  Seconds at_least;
  std::optional<Seconds> at_most;

  bool operator==(const Lifetime&) const = default;
};

/// "K80 x8", "n1-highcpu-16".
std::string kind_of(const Lifetime& lifetime);

/// Reads lifetimes, told by the header: provider, gpu, num_gpus, zone, last_seen_running_s,
/// found_gone_s and preempted (0: still up), as of "training on a dime"; or machine_type, zone,
/// lifetime_s and preempted (0: stopped by its owner), as of Google's preemptible VMs. The measured
/// columns may be missing or blank together.
Result<std::vector<Lifetime>> read_lifetimes(std::string_view text, const std::string& source);

/// An attempt to start a VM that failed.
struct CreationFailure {
  std::string provider;
  std::string device;  // Empty where the log does not say.
  std::string zone;    // Empty where the log does not say.
  Seconds time;        // Since 1970.
};

/// Reads provider, gpu, zone and time_utc.
Result<std::vector<CreationFailure>> read_creation_failures(std::string_view text,
                                                            const std::string& source);

/// How long a VM took to come.
struct VmStartup {
  std::string device;
  Market market = Market::kSpot;
  std::string region;
  Seconds provisioning;
  Seconds staging;
  Seconds booting;

  Seconds total() const { return provisioning + staging + booting; }
};

/// Reads gpu, market (on-demand or preemptible), region, provisioning_s, staging_s and booting_s.
Result<std::vector<VmStartup>> read_vm_startups(std::string_view text, const std::string& source);

/// How long writing one checkpoint took.
struct CheckpointTime {
  std::string model;
  Bytes size;
  Seconds local;   // To the disk of the machine.
  Seconds remote;  // To the object store.
};

/// Reads model, checkpoint_MB, local_write_s and remote_write_s.
Result<std::vector<CheckpointTime>> read_checkpoint_times(std::string_view text,
                                                          const std::string& source);

/// Which of the tables above a text is.
enum class SpotTable { kLifetimes, kCreationFailures, kVmStartups, kCheckpointTimes };

/// Nothing when the header is of none of them.
std::optional<SpotTable> spot_table_of(std::string_view text);

/// When starts of one kind of machine failed, from the first failure on.
struct RefusalPattern {
  std::string provider;
  std::string device;          // Empty where the log does not say.
  Seconds first;               // Since 1970.
  std::vector<Seconds> times;  // Since the first, rising.
};

/// The failures of the provider and GPU that have the most of them; rows that do not say a GPU are
/// left aside unless there are no others. Bad input when there are no failures.
Result<RefusalPattern> refusal_pattern(std::span<const CreationFailure> failures,
                                       const std::string& source);

/// The ticks of `gap`, of `ticks` in all, that hold a failure.
std::vector<bool> refused_ticks(const RefusalPattern& pattern, Seconds gap, int ticks);

}  // namespace stint
