#include "app/run/run_logs.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <vector>

#include "app/run/run_job.h"
#include "base/descriptor.h"
#include "run/run_folder.h"
#include "run/run_replay.h"
#include "run/worker_log.h"

namespace stint {
namespace {

namespace fs = std::filesystem;

constexpr Seconds kStoryAge = 2 * kSecond;  // After which ranks may have changed.

/// What the journal tells of the worker on a machine.
struct WorkerFacts {
  int rank = 0;
  std::int64_t steps = -1;  // That it trained with this rank.
  Seconds from;
  Seconds until;
};

std::map<int, WorkerFacts> facts_of(const RunStory& story) {
  std::map<int, WorkerFacts> facts;
  for (const StoryAttempt& attempt : story.attempts) {
    const std::int64_t steps = attempt.to_step - attempt.from_step;
    for (std::size_t rank = 0; rank < attempt.vms.size(); ++rank) {
      const auto [found, first] = facts.try_emplace(attempt.vms[rank]);
      WorkerFacts& it = found->second;
      if (first) it.from = attempt.ordered;
      it.until = std::max(attempt.until, attempt.ordered);
      // Of equal ones the later counts.
      if (steps < it.steps) continue;
      it.steps = steps;
      it.rank = static_cast<int>(rank);
    }
  }
  return facts;
}

/// The largest number of workers on a machine of the run.
int workers_max(const ReplayedRun& run) {
  int most = 1;
  for (const RunPlan* plan : {&run.record.plan, &run.plan}) {
    for (const RunMachines& machines : plan->machines) most = std::max(most, workers_on(machines));
  }
  return most;
}

/// The largest number of ranks that the run had, or will have.
int ranks_of(const ReplayedRun& run, const RunStory& story) {
  int most = workers_of(run.record.plan);
  for (const StoryAttempt& attempt : story.attempts) {
    most = std::max(most, static_cast<int>(attempt.vms.size()) * workers_max(run));
  }
  return most;
}

/// The output of the workers in one seat.
struct Source {
  WorkerLog log;
  WorkerFacts facts;
  bool marked = false;  // Its rank is from the log itself.
  std::int64_t size = 0;
  std::optional<std::string> head = {};  // Read, but not yet handed over,
  Seconds at;                            // and when it was printed, by what is said above.
};

class LogReader {
 public:
  LogReader(std::string folder, const LogsRequest& request, const LogListener& listener)
      : folder_(std::move(folder)), request_(request), listener_(listener) {}

  Result<LogsEnd> read() {
    const Status known = look_up();
    if (!known.ok()) return known.error();
    if (request_.rank && *request_.rank >= ranks_) {
      return bad_usage(ranks_ == 1
                           ? fmt::format("the run {} has rank 0 only", end_.run)
                           : fmt::format("the run {} has ranks 0 to {}; there is no rank {}",
                                         end_.run, ranks_ - 1, *request_.rank));
    }
    bool going = request_.follow && running_process(folder_).has_value();
    Status opened = open_new(request_.lines);
    if (!opened.ok()) return opened.error();
    merge(!going);
    while (going) {
      if (!listener_.pause()) {
        end_.interrupted = true;
        return end_;
      }
      // Looked at before the logs, so that the last lines are not missed.
      going = running_process(folder_).has_value();
      opened = open_new({});
      if (!opened.ok()) return opened.error();
      for (auto& entry : sources_) drain(entry.second, !going);
    }
    return end_;
  }

 private:
  Status look_up() {
    const auto run = replay_run_folder(folder_);
    if (!run.ok()) return run.error();
    const RunStory story = story_of(*run);
    facts_ = facts_of(story);
    workers_ = workers_max(*run);
    ranks_ = std::max(ranks_, ranks_of(*run, story));
    end_.run = run->record.name;
    looked_ = steady_now();
    for (auto& [seat, source] : sources_) {
      if (!source.marked && facts_.contains(seat.vm)) source.facts.rank = facts_in(seat).rank;
    }
    return {};
  }

  /// What is known of a worker before its log says its rank.
  WorkerFacts facts_in(Seat seat) {
    WorkerFacts facts = facts_[seat.vm];
    facts.rank = facts.rank * workers_ + seat.local;
    return facts;
  }

  /// Opens the logs that were not there before.
  Status open_new(std::optional<std::int64_t> lines) {
    std::vector<Seat> found;
    std::error_code error;
    for (fs::directory_iterator entry(log_folder(folder_), error), end; !error && entry != end;
         entry.increment(error)) {
      const auto seat = worker_log_seat(entry->path().filename().string());
      if (seat && !sources_.contains(*seat)) found.push_back(*seat);
    }
    const bool old = request_.follow && steady_now() - looked_ > kStoryAge;
    if (old || (!found.empty() && !sources_.empty())) {
      const Status known = look_up();
      if (!known.ok()) return known;
    }
    for (const Seat& seat : found) {
      auto log = WorkerLog::open(worker_log_path(folder_, seat));
      if (!log.ok()) return log.error();
      const std::int64_t size = log->size();
      const Status kept = lines ? log->keep_last(*lines) : Status();
      if (!kept.ok()) return kept;
      sources_.emplace(seat, Source{.log = std::move(*log), .facts = facts_in(seat), .size = size});
    }
    return {};
  }

  /// Hands over what is there now, in the order in which it was probably printed.
  void merge(bool rest) {
    while (true) {
      Source* first = nullptr;
      for (auto& entry : sources_) {
        Source& source = entry.second;
        if (!source.head) read_head(source, rest);
        if (source.head && (first == nullptr || source.at < first->at)) first = &source;
      }
      if (first == nullptr) return;
      hand_over(*first, *first->head);
      first->head.reset();
    }
  }

  static void read_head(Source& source, bool rest) {
    const double share = static_cast<double>(source.log.offset()) /
                         static_cast<double>(std::max<std::int64_t>(1, source.size));
    source.at = source.facts.from + share * (source.facts.until - source.facts.from);
    // What is printed meanwhile is left for the next look.
    if (source.log.offset() < source.size) source.head = source.log.next(rest);
  }

  void drain(Source& source, bool rest) {
    while (const auto line = source.log.next(rest)) hand_over(source, *line);
  }

  void hand_over(Source& source, const std::string& line) {
    if (const auto rank = marked_rank(line)) {
      source.facts.rank = *rank;
      source.marked = true;
    }
    if (request_.rank && source.facts.rank != *request_.rank) return;
    ++end_.lines;
    listener_.line(source.facts.rank, log_text(line));
  }

  std::string folder_;
  const LogsRequest& request_;
  const LogListener& listener_;
  LogsEnd end_;
  int ranks_ = 0;
  int workers_ = 1;  // On a machine, at most.
  Seconds looked_;
  std::map<int, WorkerFacts> facts_;  // By machine.
  std::map<Seat, Source> sources_;
};

}  // namespace

Result<LogsEnd> show_logs(const Environment& environment, const LogsRequest& request,
                          const LogListener& listener) {
  const auto folder = find_run(environment, request.run);
  if (!folder.ok()) return folder.error();
  return LogReader(*folder, request, listener).read();
}

}  // namespace stint
