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

/// The frequency of spot interruptions of a VM type in a region, by the provider's own count.
struct AdvisedBand {
  std::string region;
  std::string vm;
  Interruption band;
};

/// Reads AWS's spot advisor as a table: region, instance_type and interruption_monthly_pct_range
/// ("<5", "5-10", ">20"); other columns are ignored. Unreadable cells are bad input with line and
/// column.
Result<std::vector<AdvisedBand>> read_advised_bands(std::string_view text,
                                                    const std::string& source);

// Published tables of the lifetimes of spot VMs, of their start-up times and of failed starts. All
// readers return one row per data row, in order; unreadable cells are bad input with line and
// column.

/// Google ends a preemptible VM at this age. That has no information about the time at which it
/// would have been preempted, so that such a lifetime is censored, not lost.
inline constexpr Seconds kGoogleLimit = 24 * kHour;

/// The lifetime of a spot VM: it ended after `at_least` and no later than `at_most`. Both are the
/// same where the moment is known; without `at_most` it was still up. A row without information is
/// alive at age zero.
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

/// Reads lifetimes, distinguished by the header: provider, gpu, num_gpus, zone,
/// last_seen_running_s, found_gone_s and preempted (0: still up), as of "training on a dime"; or
/// machine_type, zone, lifetime_s and preempted (0: stopped by its owner), as of Google's
/// preemptible VMs. The measured columns may be missing or blank together.
Result<std::vector<Lifetime>> read_lifetimes(std::string_view text, const std::string& source);

/// The share of spot VMs that a provider or a study says are lost within a time of their start.
struct PublishedLosses {
  std::string provider;
  Seconds within;
  double share_min = 0;  // Above 0,
  double share_max = 0;  // and below 1.
  std::string source;
};

/// Reads provider, within_h, lost_min_pct, lost_max_pct and source.
Result<std::vector<PublishedLosses>> read_published_losses(std::string_view text,
                                                           const std::string& source);

/// An attempt to start a VM that failed.
struct CreationFailure {
  std::string provider;
  std::string device;  // Empty where the log does not have it.
  std::string zone;    // Empty where the log does not have it.
  Seconds time;        // Since 1970.
};

/// Reads provider, gpu, zone and time_utc.
Result<std::vector<CreationFailure>> read_creation_failures(std::string_view text,
                                                            const std::string& source);

/// The start-up time of a VM.
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

/// The time to write one checkpoint.
struct CheckpointTime {
  std::string model;
  Bytes size;
  Seconds local;   // To the disk of the machine.
  Seconds remote;  // To the object store.
};

/// Reads model, checkpoint_MB, local_write_s and remote_write_s.
Result<std::vector<CheckpointTime>> read_checkpoint_times(std::string_view text,
                                                          const std::string& source);

/// The kind of table of a text.
enum class SpotTable {
  kLifetimes,
  kCreationFailures,
  kVmStartups,
  kCheckpointTimes,
  kPublishedLosses
};

/// Nothing when the header matches none of them.
std::optional<SpotTable> spot_table_of(std::string_view text);

/// The times of failed starts of one kind of machine, from the first failure on.
struct RefusalPattern {
  std::string provider;
  std::string device;          // Empty where the log does not have it.
  Seconds first;               // Since 1970.
  std::vector<Seconds> times;  // Since the first, rising.
};

/// The failures of the provider and GPU that have the most of them; rows without a GPU are ignored
/// unless there are no others. Bad input when there are no failures.
Result<RefusalPattern> refusal_pattern(std::span<const CreationFailure> failures,
                                       const std::string& source);

/// The ticks of `gap`, of a total of `ticks`, that contain a failure.
std::vector<bool> refused_ticks(const RefusalPattern& pattern, Seconds gap, int ticks);

}  // namespace stint
