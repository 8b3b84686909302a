#pragma once

#include <optional>
#include <string_view>

#include "base/units.h"
#include "catalog/catalog.h"
#include "plan/layout.h"

namespace stint {

/// The duration of a part of a checkpoint for a number of bytes: latency + bytes / rate.
struct SaveLine {
  Seconds latency;
  BytesPerSecond rate;
};

/// Measured on Google Cloud (CM-DARE, ICDCS'20: 60 checkpoints of twelve TensorFlow networks, 6 to
/// 54 MB), by least squares. The whole remote write takes 3.208 s + bytes / 28.45 MB/s, with a
/// deviation of 0.29 s. The write to the VM's own disk is its first part; the rest is the transfer
/// to the object store over one connection, and the two lines add up to the remote write. Beyond
/// 54 MB they are extrapolated. A checkpoint that rank 0 writes while training waits stalls for
/// both; one that is only copied to host memory (HostCopy) needs neither to go on.
inline constexpr SaveLine kHostCopyMeasured{0.1081 * kSecond, 53.15 * kMB / kSecond};
inline constexpr SaveLine kObjectStoreMeasured{3.1001 * kSecond, 61.22 * kMB / kSecond};

/// How workers copy their state to host memory; the figures are data
/// (data/calibration/checkpoints.json).
struct HostCopy {
  Seconds latency;              // Of each checkpoint.
  double link_share = 1;        // Share of the rate of the host link that a copy reaches.
  BytesPerSecond rate_unknown;  // Of accelerators whose host link is not known.
};

/// The copy of an accelerator's state to its host; null: an accelerator without figures.
SaveLine copy_line(const HostCopy& copy, const Gpu* gpu);

/// One checkpoint of data-parallel training and the machines that take part in it.
///
/// All workers hold the same state, so that its bytes are copied and sent once in total. Sharded,
/// each worker copies its part and sends it over a connection of its own, as stint.Job does; else
/// rank 0 copies all and, to an object store, sends all, as most training scripts do. To an anchor
/// or a tier every VM sends its share.
struct SaveSetup {
  Bytes bytes;
  int senders = 1;            // Number of VMs that hold the state.
  int workers = 1;            // Number of workers on them.
  BytesPerSecond sender_nic;  // Rate of one sender's NIC.
  CheckpointPlace place = CheckpointPlace::kObjectStore;
  bool sharded = false;
  SaveLine copy_line = kHostCopyMeasured;  // Of one worker.
  SaveLine store = kObjectStoreMeasured;   // Of one connection.
  int receivers = 1;                       // Machines of a tier; an anchor is one.
  BytesPerSecond receiver_nic;  // Rate of the NIC of the anchor, or of one machine of the tier.
  Seconds network_latency;      // Latency to the anchor or the tier.
  bool asynchronous = true;
  std::optional<Seconds> copy;  // Measured: CheckpointSize::save_time. Absent: by copy_line.
};

/// The durations of one checkpoint. Training waits for the stall; the state is safe at the end of
/// the transfer, which begins after the stall.
struct SaveCost {
  Seconds stall;
  Seconds transfer;
  Seconds restore;  // From the place of the checkpoint to all workers.

  /// From the beginning of the checkpoint until the state is safe.
  Seconds until_safe() const { return stall + transfer; }
};

/// The cost of one checkpoint.
///
///   copy     = latency + bytes / (s · copy rate)    s workers that copy: all where sharded, else 1
///   transfer = latency + bytes / flow
///   flow     = min(NIC, store rate)                 to an object store, by rank 0
///            = min(n · NIC, s · store rate)         the same in shards, from n VMs
///            = min(n · NIC, m · receiver NIC)       to m receivers; an anchor is m = 1
///
/// Asynchronous (DeepVM's DeepCheck): stall = copy, and the transfer overlaps with training.
/// Blocking: stall = copy + transfer, and nothing is left to transfer. To restore, every VM reads
/// the whole state, all at once, in shards with a connection for each of its workers, and each
/// worker copies all of it to its device:
///
///   restore = latency + bytes / min(NIC, s/n · store rate) + whole copy    from an object store
///           = latency + n · bytes / min(n · NIC, m · receiver NIC) + whole copy
///
/// Requires bytes, counts and the rates in use above zero.
SaveCost save_cost(const SaveSetup& setup);

/// The smallest number of receivers at which the senders limit the transfer.
int receivers_needed(int senders, BytesPerSecond sender_nic, BytesPerSecond receiver_nic);

/// The interruption notice of a spot machine; absent for a provider without a published one. It is
/// 120 s for AWS, 30 s for Google Cloud and Azure, by their documentation.
std::optional<Seconds> spot_notice(std::string_view provider);

/// Whether a checkpoint that begins with the notice is safe before the machine is lost.
bool fits_in_notice(const SaveCost& save, Seconds notice);

}  // namespace stint
