#include "app/search/search_job.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "app/search/search_live.h"
#include "base/file.h"
#include "checkpoint/private_folder.h"
#include "run/run_folder.h"
#include "run/run_replay.h"

namespace stint {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNoiseKept = 100;  // Records of earlier searches and this one.

/// A search and the run that it controls.
class LedRun {
 public:
  LedRun(const Environment& environment, PreparedSearch search, const SearchAudience& audience)
      : environment_(environment),
        earlier_(search.learned),
        audience_(audience),
        live_(std::move(search), [this](const SearchRecord& record) { keep(record); }) {}

  LiveSearch& live() { return live_; }

  /// The run's events and requests.
  RunAudience listeners() {
    RunAudience listeners = audience_.run;
    listeners.began = [this](const std::string& folder) {
      folder_ = folder;
      keep(live_.record());
      return kept_;
    };
    listeners.trained = [this](const GangNews& news) { live_.trained(news); };
    listeners.trained_meanwhile = [this](Seconds at) { live_.trained_meanwhile(at); };
    listeners.out_of_memory = [this](const std::string& type, int samples) {
      live_.out_of_memory(type, samples);
    };
    listeners.wish = [this](const Supervisor& supervisor, const RunPlan& plan) {
      return live_.wish(supervisor, plan);
    };
    return listeners;
  }

  Result<SearchResult> end(Result<RunResult> run) {
    live_.note_surface();
    if (!folder_.empty()) keep(live_.record());
    if (run.ok() && !live_.record().probes.empty()) remember();
    if (!run.ok()) return run.error();
    if (!kept_.ok()) return kept_.error();
    return SearchResult{
        .run = std::move(*run), .record = live_.record(), .shortfall = live_.shortfall()};
  }

 private:
  void keep(const SearchRecord& record) {
    if (folder_.empty()) return;
    const Status written = write_file(search_path(folder_), write_search(record));
    if (!written.ok()) kept_ = written;
    if (audience_.learned) audience_.learned(record);
  }

  void remember() {
    const std::string path = learned_path(environment_, live_.record().job);
    const auto made = PrivateFolder::make(fs::path(path).parent_path().string());
    if (!made.ok()) {
      kept_ = made.error();
      return;
    }
    const Status written = write_file(path, write_search(with_earlier(live_.record(), earlier_)));
    if (!written.ok()) kept_ = written;
  }

  const Environment& environment_;
  std::optional<SearchRecord> earlier_;
  const SearchAudience& audience_;
  std::string folder_;
  Status kept_;
  LiveSearch live_;
};

}  // namespace

SearchRecord with_earlier(SearchRecord record, const std::optional<SearchRecord>& earlier) {
  if (!earlier) return record;
  for (const SearchProbe& probe : earlier->probes) {
    const bool anew =
        std::any_of(record.probes.begin(), record.probes.end(),
                    [&](const SearchProbe& it) { return choice_of(it) == choice_of(probe); });
    if (!anew) record.probes.push_back(probe);
  }
  std::vector<SearchNoise> noise = earlier->noise;
  noise.insert(noise.end(), record.noise.begin(), record.noise.end());
  const std::size_t extra = noise.size() > kNoiseKept ? noise.size() - kNoiseKept : 0;
  noise.erase(noise.begin(), noise.begin() + static_cast<std::ptrdiff_t>(extra));
  record.noise = std::move(noise);
  for (const MemoryLimit& limit : earlier->memory) {
    const bool known =
        std::any_of(record.memory.begin(), record.memory.end(), [&](const MemoryLimit& it) {
          return it.type == limit.type && it.samples <= limit.samples;
        });
    if (!known) record.memory.push_back(limit);
  }
  return record;
}

Result<SearchResult> start_search(const Environment& environment, PreparedSearch search,
                                  const SearchAudience& audience) {
  PreparedRun run = search.run;
  LedRun led(environment, std::move(search), audience);
  return led.end(start_run(environment, std::move(run), led.listeners()));
}

Result<SearchResult> resume_search(const Environment& environment, const std::string& name,
                                   const SearchAudience& audience) {
  const auto folder = find_run(environment, name);
  if (!folder.ok()) return folder.error();
  const auto run = replay_run_folder(*folder);
  if (!run.ok()) return run.error();
  auto search = reopen_search(environment, *folder, run->record);
  if (!search.ok()) return search.error();
  LedRun led(environment, std::move(*search), audience);
  led.live().resume(run->plan);
  return led.end(resume_run(environment, name, led.listeners()));
}

Result<bool> is_search(const Environment& environment, const std::string& name) {
  const auto folder = find_run(environment, name);
  if (!folder.ok()) return folder.error();
  std::error_code error;
  return fs::exists(search_path(*folder), error);
}

}  // namespace stint
