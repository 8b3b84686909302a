// A month in minutes: the journal of a run of 10^7 steps on 1,000 machines with 10^4 losses, as the
// runner writes it. Prints its size, and how long its replay takes and in how much memory.
//
//   journal_bench                plays the run in a temporary folder, then replays it
//   journal_bench replay FOLDER  replays only, so that the memory is that of a replay

#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <sys/resource.h>

#include "base/check.h"
#include "base/descriptor.h"
#include "base/temporary_folder.h"
#include "run/month_world.h"

namespace stint {
namespace {

constexpr double kLimit = 64;  // MiB.

double peak_mebibytes() {
  struct rusage usage {};
  CHECK(::getrusage(RUSAGE_SELF, &usage) == 0);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

int replay_month(const std::string& folder) {
  const Seconds begin = steady_now();
  const auto run = replay_run_folder(folder);
  CHECK(run.ok());
  const RunStory story = story_of(*run);
  fmt::print("replay        {:8.2f} s, peak memory {:.0f} MiB\n",
             (steady_now() - begin).in(kSecond), peak_mebibytes());
  fmt::print("story         {} steps, {} machines, {} lost, {} lines kept of {}, ${:.2f}\n",
             story.reached, story.vms.size(), story.losses, story.lines.size(),
             story.lines.size() + static_cast<std::size_t>(story.lines_before),
             story.cost.in(kDollar));
  return 0;
}

int play_month(const std::string& program) {
  const auto folder = TemporaryFolder::make();
  CHECK(folder.ok());
  const Seconds begin = steady_now();
  MonthWorld month({}, folder->path(), 1);
  month.play();
  const double longest = static_cast<double>(month.longest()) / (1 << 20);
  fmt::print("run           {:8.2f} days, {} events, {} losses, played in {:.0f} s\n",
             month.supervisor().now().in(kDay), month.events(), month.losses(),
             (steady_now() - begin).in(kSecond));
  fmt::print("journal       {:8.2f} MiB at its longest (limit {:.0f})\n", longest, kLimit);
  CHECK(longest < kLimit);
  return std::system(fmt::format("'{}' replay '{}'", program, folder->path()).c_str());
}

}  // namespace
}  // namespace stint

int main(int argc, char** argv) {
  return argc == 3 ? stint::replay_month(argv[2]) : stint::play_month(argv[0]);
}
