#include "app/share/sharing_pair.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "interleave/pairing.h"
#include "predict/law.h"

namespace stint {
namespace {

/// Two jobs with the inputs of both forms of the answer.
class Stating {
 public:
  Stating(std::span<const ShareJob> jobs, const PairJudged& pair, const PairTerms& terms)
      : jobs_{&jobs[pair.first], &jobs[pair.second]}, terms_(terms) {}

  SharingChoice choice(const PairOption& option) const {
    SharingChoice it = ended_after(option.outcome.makespan);
    it.mode = option.mode;
    for (std::size_t i = 0; i < 2; ++i) {
      const ShareJob& job = *jobs_[i];
      it.members.push_back({.job = job.name,
                            .slowdown = option.outcome.slowdown[i],
                            .slowdown_together = option.pace.slowdown[i],
                            .iteration = option.pace.slowdown[i] * job.alone,
                            .time = log_normal_time(option.outcome.end[i], option.deviation[i]),
                            .p_deadline = option.p_deadline[i]});
    }
    if (option.mode == SharingMode::kFreely) return it;
    it.turns = {option.turns[0], option.turns[1]};
    it.period = option.turns[0] * it.members[0].iteration;
    return it;
  }

  SharingChoice separately() const {
    SharingChoice it = ended_after(separate());
    it.mode = SharingMode::kSeparately;
    for (const ShareJob* job : jobs_) {
      const Seconds time = job->iterations * job->alone;
      it.members.push_back({.job = job->name,
                            .iteration = job->alone,
                            .time = log_normal_time(time, time_deviation(*job)),
                            .p_deadline = p_deadline(*job, time, time_deviation(*job))});
    }
    return it;
  }

 private:
  Seconds separate() const {
    return jobs_[0]->iterations * jobs_[0]->alone + jobs_[1]->iterations * jobs_[1]->alone;
  }

  SharingChoice ended_after(Seconds time) const {
    Seconds plain;
    for (const ShareJob* job : jobs_) plain += job->iterations * time_without_overlap(*job);
    SharingChoice it{
        .speedup = separate() / time, .speedup_without_overlap = plain / time, .time = time};
    if (terms_.cluster.rate) it.cost = *terms_.cluster.rate * time;
    return it;
  }

  std::array<const ShareJob*, 2> jobs_;
  const PairTerms& terms_;
};

}  // namespace

TimeRange log_normal_time(Seconds mean, double deviation) {
  const double width = std::exp(kEightInTen * deviation);
  return {.mean = mean, .p10 = mean / width, .p90 = mean * width};
}

SharingPair sharing_pair(std::span<const ShareJob> jobs, const PairJudged& pair,
                         const PairTerms& terms) {
  CHECK(!pair.verdict.options.empty());
  const PairOption& option = pair.verdict.options.front();
  SharingPair it{.choice = Stating(jobs, pair, terms).choice(option)};
  if (!terms.cluster.rate) return it;
  const DollarsPerSecond rate = *terms.cluster.rate;
  const TimeRange saved = saved_range(jobs[pair.first], jobs[pair.second], option, terms);
  it.saved =
      SavedRange{.mean = rate * saved.mean, .p10 = rate * saved.p10, .p90 = rate * saved.p90};
  return it;
}

SharingVerdict sharing_verdict(std::span<const ShareJob> jobs, const PairJudged& pair,
                               const PairTerms& terms) {
  const Stating stating(jobs, pair, terms);
  const PairVerdict& verdict = pair.verdict;
  SharingVerdict it{.jobs = {jobs[pair.first].name, jobs[pair.second].name}};
  for (const PairOption& option : verdict.options) it.options.push_back(stating.choice(option));
  auto place = it.options.begin();
  if (verdict.refusal == PairRefusal::kNone) {
    it.recommended = verdict.options.front().mode;
    place = std::find_if(it.options.begin(), it.options.end(),
                         [](const SharingChoice& choice) { return choice.speedup < 1; });
  } else {
    it.reason = verdict.reason;
  }
  it.options.insert(place, stating.separately());
  return it;
}

}  // namespace stint
