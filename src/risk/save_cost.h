#pragma once

#include <optional>
#include <string_view>

#include "base/units.h"
#include "plan/layout.h"

namespace stint {

/// What a step of a save takes for so many bytes: latency + bytes / rate.
struct SaveLine {
  Seconds latency;
  BytesPerSecond rate;
};

/// Measured on Google Cloud (CM-DARE, ICDCS'20: 60 saves of twelve TensorFlow networks, 6 to 54
/// MB), by least squares. The remote write from beginning to end is 3.208 s + bytes / 28.45 MB/s,
/// with a deviation of 0.29 s around it. The write to the VM's own disk is the first part of it and
/// stands for the copy; the rest is the way to the object store, and the two lines add up to that
/// of the remote write. Beyond 54 MB they are extrapolated, and a copy that stays in memory is
/// faster: a job's own save time is better than the first.
inline constexpr SaveLine kHostCopyMeasured{0.1081 * kSecond, 53.15 * kMB / kSecond};
inline constexpr SaveLine kObjectStoreMeasured{3.1001 * kSecond, 61.22 * kMB / kSecond};

/// One checkpoint of data-parallel training and the machines that it passes.
///
/// All workers hold the same state, so its bytes leave once in total. To an anchor or a tier every
/// VM sends its share; to an object store the VM of rank 0 sends all, because that is what training
/// scripts do, unless the job is said to write in shards.
struct SaveSetup {
  Bytes bytes;
  int senders = 1;            // VMs that hold the state.
  BytesPerSecond sender_nic;  // Of one of them.
  CheckpointPlace place = CheckpointPlace::kObjectStore;
  bool sharded = false;  // To an object store.
  SaveLine store = kObjectStoreMeasured;
  int receivers = 1;            // Of a tier; an anchor is one.
  BytesPerSecond receiver_nic;  // Of the anchor, or of one machine of the tier.
  Seconds network_latency;      // To the anchor or the tier.
  bool asynchronous = true;
  std::optional<Seconds> copy;  // Measured: CheckpointSize::save_time. Absent: by the line above.
};

/// What one save takes. Training waits for the stall; the state is safe when the transfer is over,
/// which begins after the stall.
struct SaveCost {
  Seconds stall;
  Seconds transfer;
  Seconds restore;  // From the place to all workers.

  /// From the beginning of the save until the state is safe.
  Seconds until_safe() const { return stall + transfer; }
};

/// The cost of one save.
///
///   transfer = latency + bytes / flow
///   flow     = s · min(NIC, store rate)            to an object store, s VMs that send
///            = min(n · NIC, m · receiver NIC)      to m receivers; an anchor is m = 1
///
/// Asynchronous (DeepVM's DeepCheck): stall = copy, and the transfer goes on beside training.
/// Blocking: stall = copy + transfer, and nothing is left to transfer. To restore, every VM reads
/// the whole state, all at once, and copies it to its device:
///
///   restore = latency + bytes / min(NIC, store rate) + copy         from an object store
///           = latency + n · bytes / min(n · NIC, m · receiver NIC) + copy
///
/// Requires bytes, counts and the rates in use above zero.
SaveCost save_cost(const SaveSetup& setup);

/// The fewest receivers at which not they but the senders limit the transfer.
int receivers_needed(int senders, BytesPerSecond sender_nic, BytesPerSecond receiver_nic);

/// How long before it is taken away a spot machine is told; absent for a provider that does not
/// say. AWS tells 120 s before, Google Cloud and Azure 30 s, by their documentation.
std::optional<Seconds> spot_notice(std::string_view provider);

/// Whether a save that begins with the notice is safe before the machine is gone.
bool fits_in_notice(const SaveCost& save, Seconds notice);

}  // namespace stint
