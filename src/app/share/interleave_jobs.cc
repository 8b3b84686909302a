#include "app/share/interleave_jobs.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "app/share/sharing_models.h"
#include "app/share/sharing_pair.h"
#include "app/sound_answer.h"
#include "base/file.h"
#include "base/text.h"
#include "interleave/pairing.h"
#include "load/predict_inputs.h"
#include "simulate/sharing_twin.h"

namespace stint {
namespace {

/// Below this saving of the total cost the user is told that sharing hardly pays.
constexpr double kHardly = 0.05;

/// Makes the answer from the results.
class Answering {
 public:
  Answering(const InterleaveInputs& inputs, const std::vector<ShareJob>& jobs,
            const PairTerms& terms, double compute_slowdown)
      : inputs_(inputs), jobs_(jobs), terms_(terms), compute_slowdown_(compute_slowdown) {}

  SharingAnswer answer(const Pairing& pairing, const std::vector<PairJudged>& judged) const {
    SharingAnswer it{.cluster = inputs_.cluster};
    for (std::size_t i = 0; i < jobs_.size(); ++i) it.jobs.push_back(job(i));
    for (const PairJudged& pair : pairing.pairs) {
      it.pairs.push_back(sharing_pair(jobs_, pair, terms_));
    }
    for (const std::size_t i : pairing.alone) it.alone.push_back(jobs_[i].name);
    for (const PairJudged& pair : judged) {
      it.considered.push_back(sharing_verdict(jobs_, pair, terms_));
    }
    it.speedup = pairing.separate / pairing.shared;
    it.separate = dollars(pairing.separate);
    it.cost = dollars(pairing.shared);
    it.price = inputs_.jobs.front().prediction.price;
    add_notes(it);
    return it;
  }

 private:
  std::optional<Dollars> dollars(Seconds time) const {
    if (!terms_.cluster.rate) return std::nullopt;
    return *terms_.cluster.rate * time;
  }

  SharingJob job(std::size_t index) const {
    const ShareJob& job = jobs_[index];
    const Seconds time = job.iterations * job.alone;
    const double deviation = time_deviation(job);
    return {.name = job.name,
            .global_batch = inputs_.jobs[index].prediction.global_batch.value_or(1),
            .iterations = job.iterations,
            .iteration = job.alone,
            .time = log_normal_time(time, deviation),
            .cost = dollars(time),
            .deadline = job.deadline,
            .p_deadline = p_deadline(job, time, deviation)};
  }

  void add_notes(SharingAnswer& it) const {
    for (const SharingJob& job : it.jobs) {
      if (!job.p_deadline || *job.p_deadline >= terms_.confidence) continue;
      it.notes.push_back(
          fmt::format("Even alone, {} meets its deadline with a probability of only {:.2f}: give "
                      "it more or faster machines.",
                      job.name, *job.p_deadline));
    }
    if (vms(jobs_.front().setup) == 1) {
      it.notes.emplace_back("On one VM, gradients never wait for a network: sharing gains little.");
    }
    if (it.pairs.empty()) {
      it.notes.emplace_back(
          "No two of the jobs should share: give each its own machines, or run them one after the "
          "other.");
    } else if (1 - 1 / it.speedup < kHardly) {
      it.notes.push_back(
          fmt::format("The saving is small: {:.1f} % of the bill.", 100 * (1 - 1 / it.speedup)));
    }
    add_assumptions(it);
  }

  void add_assumptions(SharingAnswer& it) const {
    std::vector<std::string>& all = it.assumptions;
    std::vector<std::string> unknown;
    for (const JobAlone& job : inputs_.jobs) {
      for (const std::string& assumption : job.assumptions) {
        if (std::find(all.begin(), all.end(), assumption) == all.end()) all.push_back(assumption);
      }
      if (!job.memory_known) unknown.push_back(job.job.name);
    }
    if (auto assumed = memory_assumption(unknown)) all.push_back(std::move(*assumed));
    all.emplace_back("Jobs start together, and the longer one continues alone.");
    if (emulated(inputs_.jobs.front().prediction.groups)) return;
    all.emplace_back(
        "The rates of jobs that share GPUs freely follow published pairs on one K80, P100 or "
        "V100.");
    if (compute_slowdown_ > 0) return;
    all.emplace_back(
        "Compute is not slowed while the other job communicates; this has not been measured on "
        "GPUs. See --compute-slowdown.");
  }

  const InterleaveInputs& inputs_;
  const std::vector<ShareJob>& jobs_;
  const PairTerms& terms_;
  double compute_slowdown_;
};

/// The first iterations of each pair, one pair below the other.
std::string drawing(const std::vector<ShareJob>& jobs, const Pairing& pairing,
                    const Cluster& cluster, const TwinOptions& options) {
  constexpr int kRounds = 6;
  std::vector<std::string> groups;
  for (const VmGroup& group : cluster.groups) groups.push_back(to_text(Cluster{.groups = {group}}));
  TurnTimeline all;
  for (const PairJudged& pair : pairing.pairs) {
    const PairOption& option = pair.verdict.options.front();
    const std::vector<SharedStepJob> shared{{.setup = jobs[pair.first].setup,
                                             .turns = option.turns[0],
                                             .iterations = kRounds * option.turns[0]},
                                            {.setup = jobs[pair.second].setup,
                                             .turns = option.turns[1],
                                             .iterations = kRounds * option.turns[1]}};
    TurnTerms terms = terms_of(option.mode);
    terms.compute_slowdown = options.compute_slowdown;
    terms.sharing = options.sharing;
    const SharedRun run = simulate_sharing(shared, terms, {.events = true});
    TurnTimeline picture =
        turn_timeline(run, {jobs[pair.first].name, jobs[pair.second].name}, groups);
    for (TimelineEvent& event : picture.events) {
      event.group += static_cast<int>(all.rows.size());
      all.events.push_back(std::move(event));
    }
    all.rows.insert(all.rows.end(), picture.rows.begin(), picture.rows.end());
  }
  return chrome_trace(all.events, all.rows);
}

/// The value of a list for job number `index`.
template <class T>
std::optional<T> value_at(const std::vector<T>& list, std::size_t index) {
  if (list.empty()) return std::nullopt;
  return list.size() == 1 ? list.front() : list[index];
}

Status check_length(const char* option, std::size_t length, std::size_t jobs) {
  if (length <= 1 || length == jobs) return {};
  return bad_usage(fmt::format("{} has {} values for {} jobs; give one for all or one each", option,
                               length, jobs));
}

Status check(const InterleaveRequest& request) {
  const std::size_t jobs = request.jobs.size();
  if (jobs < 2) {
    return bad_usage("two or more jobs are required, for example --jobs a.json b.json");
  }
  if (jobs > kShareJobsMax) {
    return bad_usage(fmt::format("--jobs takes at most {} jobs, not {}: every two are assessed",
                                 kShareJobsMax, jobs));
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

Result<InterleaveAnswer> interleave_jobs(const Environment& environment,
                                         const InterleaveRequest& request) {
  auto inputs = load_interleave_inputs(environment, request);
  if (!inputs.ok()) return inputs.error();
  std::vector<ShareJob> jobs;
  for (const JobAlone& it : inputs->jobs) jobs.push_back(it.job);
  const std::vector<PredictedGroup>& groups = inputs->jobs.front().prediction.groups;
  const SharingModels models = sharing_models(groups, request.compute_slowdown);
  const PairTerms terms{
      .cluster = inputs->shared, .models = models, .confidence = request.confidence};
  const std::vector<PairJudged> judged = judge_pairs(jobs, terms);
  const auto pairing = best_pairing(jobs, judged, inputs->shared);
  if (!pairing.ok()) return pairing.error();
  const Answering answering(*inputs, jobs, terms, request.compute_slowdown);
  InterleaveAnswer answer{.answer = answering.answer(*pairing, judged),
                          .warnings = std::move(inputs->warnings),
                          .drawn = !pairing->pairs.empty()};
  const Status sound = check_answer(check_fields(answer.answer, "answer"));
  if (!sound.ok()) return sound.error();
  if (request.timeline.empty() || !answer.drawn) return answer;
  const Status written = write_output(
      request.timeline,
      drawing(jobs, *pairing, inputs->cluster, twin_options(groups, request.compute_slowdown)));
  if (!written.ok()) return written.error();
  return answer;
}

Result<InterleaveInputs> load_interleave_inputs(const Environment& environment,
                                                const InterleaveRequest& request) {
  const Status fine = check(request);
  if (!fine.ok()) return fine.error();
  const auto cluster = parse_cluster(request.cluster);
  if (!cluster.ok()) return cluster.error();
  InterleaveInputs inputs{.cluster = *cluster};
  for (std::size_t i = 0; i < request.jobs.size(); ++i) {
    auto loaded = load_predict_inputs(environment, request.jobs[i], request.calibration, *cluster);
    if (!loaded.ok()) return loaded.error();
    auto alone = job_alone(*loaded, *cluster,
                           {.options = {.batch_per_worker = value_at(request.batch_per_worker, i),
                                        .workers_per_vm = value_at(request.workers_per_vm, i)},
                            .iterations = value_at(request.iterations, i),
                            .deadline = value_at(request.deadlines, i)});
    if (!alone.ok()) return alone.error();
    const Status sound = check_answer(check_fields(alone->prediction, "prediction"));
    if (!sound.ok()) return sound.error();
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
