#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/import/profile_job.h"
#include "load/environment.h"
#include "measure/trace/operator_work.h"

namespace stint {

/// The name of `--for` that means every accelerator of the catalogue.
inline constexpr const char* kAllAccelerators = "all";

struct ProfileForRequest {
  ProfileRequest run;                           // How to run the script.
  std::vector<std::string> gpus;                // "A100", "H100-SXM", or "all".
  std::optional<WorkPrecision> precision = {};  // Absent: that of the script.
};

/// What a step is predicted to take on one accelerator.
struct PredictedStep {
  std::string gpu;
  Seconds forward;
  Seconds backward;
  Seconds update;
  Seconds lower;  // Of a 10–90 % interval of the sum.
  Seconds upper;
  Bytes memory;
  bool fits = true;

  Seconds step() const { return forward + backward + update; }
};

/// How the operators of a pass would change, and the steps with them.
struct ChangeEffect {
  std::string name;  // "autocast".
  double kernels = 0;
  std::vector<Seconds> steps;  // By accelerator, as in the report.
};

struct ProfileForReport {
  JobProfile job;
  OperatorCounts counts;              // Of a pass, as found.
  std::vector<int> batches;           // That the script ran with here.
  int batch = 1;                      // Per worker, of the predicted steps: the script's own.
  std::vector<PredictedStep> steps;   // In the order of the catalogue.
  std::vector<ChangeEffect> effects;  // The first is the script as it is.
  std::vector<std::string> changes;   // In words: autocast, fused attention, torch.compile.
  std::vector<std::string> warnings;
};

/// Runs a training script on the processor for a few steps at a small batch, twice where its batch
/// can be changed, and makes a profile of its operators: times on the named accelerators are
/// predicted from these (predict/work_time.h) and marked so. Bad usage: an accelerator that the
/// catalogue does not have or has no figures of, or one that lacks the precision. Else as
/// profile_job.
Result<ProfileForReport> profile_for(const Environment& environment,
                                     const ProfileForRequest& request);

}  // namespace stint
