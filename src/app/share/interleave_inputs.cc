#include "app/share/interleave_inputs.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "base/text.h"
#include "load/predict_inputs.h"

namespace stint {
namespace {

/// The value of a list for job number `index`.
template <class T>
std::optional<T> value_at(const std::vector<T>& list, std::size_t index) {
  if (list.empty()) return std::nullopt;
  return list.size() == 1 ? list.front() : list[index];
}

Status check_length(const char* option, std::size_t length, std::size_t jobs) {
  if (length <= 1 || length == jobs) return {};
  return bad_usage(fmt::format("{} has {} values for {} jobs; give one for all or one for each",
                               option, length, jobs));
}

Status check(const InterleaveRequest& request) {
  const std::size_t jobs = request.jobs.size();
  if (jobs < 2) {
    return bad_usage(
        "one job has nobody to share with: give two or more, for example --jobs a.json b.json");
  }
  const std::pair<const char*, std::size_t> lists[] = {
      {"--batch-per-worker", request.batch_per_worker.size()},
      {"--workers-per-vm", request.workers_per_vm.size()},
      {"--iterations", request.iterations.size()},
      {"--deadline", request.deadlines.size()}};
  for (const auto& [option, length] : lists) {
    const Status fine = check_length(option, length, jobs);
    if (!fine.ok()) return fine;
  }
  return {};
}

void number_names(std::vector<JobAlone>& jobs) {
  std::vector<std::string> names;
  for (const JobAlone& it : jobs) names.push_back(it.job.name);
  names = numbered(std::move(names));
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].job.name = names[i];
}

}  // namespace

Result<InterleaveInputs> load_interleave_inputs(const Environment& environment,
                                                const InterleaveRequest& request) {
  const Status fine = check(request);
  if (!fine.ok()) return fine.error();
  const auto cluster = parse_cluster(request.cluster);
  if (!cluster.ok()) return cluster.error();
  InterleaveInputs inputs{.cluster = *cluster};
  for (std::size_t i = 0; i < request.jobs.size(); ++i) {
    auto loaded = load_predict_inputs(environment, request.jobs[i], request.calibration);
    if (!loaded.ok()) return loaded.error();
    const Status laws = use_calibration_for(*cluster, request.calibration, *loaded);
    if (!laws.ok()) return laws.error();
    auto alone = job_alone(*loaded, *cluster,
                           {.options = {.batch_per_worker = value_at(request.batch_per_worker, i),
                                        .workers_per_vm = value_at(request.workers_per_vm, i)},
                            .iterations = value_at(request.iterations, i),
                            .deadline = value_at(request.deadlines, i)});
    if (!alone.ok()) return alone.error();
    for (std::string& warning : loaded->warnings) {
      const auto& told = inputs.warnings;
      if (std::find(told.begin(), told.end(), warning) != told.end()) continue;
      inputs.warnings.push_back(std::move(warning));
    }
    inputs.shared.memory = alone->accelerators;
    if (alone->prediction.price) inputs.shared.rate = alone->prediction.price->rate;
    inputs.jobs.push_back(std::move(*alone));
  }
  number_names(inputs.jobs);
  return inputs;
}

}  // namespace stint
