#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "job/job.h"
#include "measure/trace/profile_summary.h"
#include "plan/plan.h"

namespace stint {

struct ProfileRequest {
  std::vector<std::string> command;  // That trains.
  int steps = 20;                    // To measure, after which the script is ended.
  int warmup = 5;                    // Before these.
  // Per worker, one run each; empty: the script's own and, where it can be asked for others, two
  // around it.
  std::vector<int> batches = {};
  bool own = false;             // The script's own batch beside these, and no others.
  std::string batch_flag = {};  // That tells the script; empty: stint.batch_size() and DataLoaders.
  Seconds limit = 10 * kMinute;  // For one run.
  int workers = 1;               // Above 1: DDP ranks on this computer.
  std::string name = {};         // Of the job; empty: the script's.
  std::string device = {};       // What to call what it ran on; empty: by its own name.
  std::string out = {};          // Where the profile goes; empty: nowhere.
  bool keep_command = false;     // In the profile, which may be passed on; it may hold a password.
  bool silent = false;           // What the script prints is not shown.
  bool operators = false;        // The hook writes operators with their shapes.
  JobOverrides overrides = {};   // What the profile is to say of the job, such as its goal.
};

/// The noise of gradients with one batch.
struct ProfiledNoise {
  NoiseRecord record;
  int samples = 0;              // Iterations that were looked at.
  std::optional<double> scale;  // Φ, in samples; absent: there is only a lower bound.
  double lower = 0;             // Of a 10–90 % interval by Fieller.
  std::optional<double> upper;
};

struct ProfileReport {
  JobProfile job;
  std::vector<ProfileSummary> runs;  // By batch.
  std::vector<ProfiledNoise> noise;
  std::string communication;  // Why buckets were not timed; empty when they were.
  std::string one_batch;      // Why only one batch was measured, though others were wanted.
  std::vector<std::string> warnings;
};

/// Runs a training script under the hook, once per batch, and makes a profile of what it took; what
/// was measured before a script died or hung is kept, with a warning. A batch counts only where the
/// tensors that the script trained on had its size. Bad input: a script that is
/// not there. Unavailable: an interpreter without torch. Failed: a run that measured nothing.
/// Interrupted: by a signal.
Result<ProfileReport> profile_job(const ProfileRequest& request);

}  // namespace stint
