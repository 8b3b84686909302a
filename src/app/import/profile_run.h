#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/import/profile_job.h"

namespace stint {

/// The batch that a run asks for.
struct BatchAsk {
  std::optional<int> batch = {};  // Of the script, and of its DataLoaders; absent: its own.
  double scale = 1;               // Of the batch of each DataLoader.
  std::optional<int> max = {};    // At most so many samples, where the batch can be changed.
};

/// One run of the script under the hook.
struct ProfiledRun {
  ProfileSummary summary;
  std::vector<ProfileRecord> records;
};

/// Bad usage without a command, bad input for a script that is not there, unavailable for an
/// interpreter without torch.
Status check_training_command(const std::vector<std::string>& words);

/// What the job is called: as asked for, else like its script.
std::string profiled_name(const ProfileRequest& request);

/// Runs the script once. Failed: it measured nothing; interrupted: by a signal. What is measured
/// before it hangs or dies is kept, with a warning.
Result<ProfiledRun> run_script(const ProfileRequest& request, const BatchAsk& ask,
                               std::vector<std::string>& warnings);

/// Puts the goal in that was asked for. What was measured is kept, with a warning, even if the goal
/// cannot be.
void set_goal(const ProfileRequest& request, JobProfile& job, std::vector<std::string>& warnings);

/// Checks the profile, and writes it where the request says.
Status keep_profile(const ProfileRequest& request, const JobProfile& job);

}  // namespace stint
