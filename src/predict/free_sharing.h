#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "plan/calibration.h"

namespace stint {

// What two jobs get of a GPU that they share freely, both at once and neither waiting for the
// other, when nothing was measured of either beside another one.
//
// It rests on Gavel's table (OSDI'20): two training jobs, a process each, on one K80, P100 or V100
// that is nobody else's, of six models, with no network between workers. So it cannot say what
// happens to gradients on their way, between more than two jobs, on a GPU that is cut into parts or
// whose processes share a context, on newer GPUs (their interval is the widest of those measured),
// or when host processors or disks run short, unless that was so there: V100s are far less
// predictable than the others for that reason. Whether both fit into memory is another question.

/// Of one GPU.
struct FreeSharingDevice {
  double log_share = 0;  // Of what it is alone, for two jobs with equally long steps.
  double spread = 0;     // Deviation of the logarithm.
};

/// The fitted constants, see calibrate/free_sharing_fit.h.
struct FreeSharingLaw {
  double slope = 0;
  FreeSharingDevice elsewhere;                       // On GPUs that were not measured.
  std::map<std::string, FreeSharingDevice> devices;  // By family: "V100".
};

/// The constants slope, log_share and spread of "free sharing", and of "free sharing: GPU" for each
/// GPU measured; bad input when one is missing or out of range.
Result<FreeSharingLaw> free_sharing_law(const Calibration& calibration);

/// The law as constants of a calibration.
std::vector<Constant> free_sharing_constants(const FreeSharingLaw& law);

struct FreeShares {
  std::array<double, 2> share = {1, 1};  // Rate of each over its rate alone.
  double deviation = 0;                  // Of the logarithm of each.
};

/// What two jobs get of a `device` ("V100", or an accelerator of that family) when a step of theirs
/// takes `steps` alone:
///
///   log r_a = min(0, log_share_d + slope (log step_a − log step_b))
///
/// because devices give turns in slices of time, so that a job of short kernels waits more.
/// Requires steps above zero.
FreeShares free_shares(const FreeSharingLaw& law, std::string_view device,
                       const std::array<Seconds, 2>& steps);

}  // namespace stint
