#include "converge/work.h"

#include <cmath>
#include <fmt/format.h>

namespace stint {

Result<Work> work_to_goal(const JobProfile& job) {
  if (!job.goal) {
    return bad_input(fmt::format(
        "the job {} has no goal; add \"goal\": {{\"epochs\": 90}} or another to it", job.name));
  }
  if (!job.batch) {
    return bad_input(fmt::format(
        "the job {} has no reference batch; add \"batch\": {{\"reference\": 256}}", job.name));
  }
  double samples = job.goal->samples.value_or(0);
  if (job.goal->epochs) {
    if (!job.samples_per_epoch) {
      return bad_input(fmt::format(
          "the goal of the job {} is in epochs, but it has no samples_per_epoch", job.name));
    }
    samples = *job.goal->epochs * static_cast<double>(*job.samples_per_epoch);
  }
  if (samples <= 0) {
    return bad_input(fmt::format(
        "how many samples the target of the job {} needs is not known; state the goal in epochs",
        job.name));
  }
  const int batch = job.batch->reference;
  return Work{.choices = {{.global_batch = batch, .iterations = std::ceil(samples / batch)}},
              .assumptions = {fmt::format(
                  "The profile has no noise record, so the global batch stays at its reference of "
                  "{}.",
                  batch)}};
}

}  // namespace stint
