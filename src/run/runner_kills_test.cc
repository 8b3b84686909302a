// A runner that is killed between what its journal says and what its engine does.
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

#include "base/process.h"
#include "base/random.h"
#include "provider/inline_provider.h"
#include "run/runner_fixture.h"

namespace stint {
namespace {

namespace fs = std::filesystem;

/// An engine whose machines are files, which outlive the process that asks: NAME is rented and
/// NAME.gone was released. The call of number `fatal` ends the process, before or after its effect.
class KillingEngine : public Engine {
 public:
  KillingEngine(std::string folder, int fatal, bool after)
      : folder_(std::move(folder)), fatal_(fatal), after_(after) {}

  Result<std::optional<MachineRefusal>> request(const MachineOrder& order) const override {
    const bool now = ++calls_ == fatal_;
    if (now && !after_) ::_exit(kKilled);
    if (!has(order.name)) {
      if (running() >= kSlots) put("too-many");
      put(order.name);
    }
    if (now) ::_exit(kKilled);
    return std::optional<MachineRefusal>();
  }

  Status release(const std::string& name) const override {
    const bool now = ++calls_ == fatal_;
    if (now && !after_) ::_exit(kKilled);
    if (has(name)) put(name + ".gone");
    if (now) ::_exit(kKilled);
    return {};
  }

  Result<MachineList> look() const override {
    MachineList list;
    for (const std::string& name : rented()) {
      const bool gone = has(name + ".gone");
      list.machines.push_back({.name = name,
                               .type = "local.small",
                               .market = Market::kSpot,
                               .phase = gone ? MachinePhase::kGone : MachinePhase::kUp,
                               .address = "127.0.0.1",
                               .released = gone,
                               .price = 0.36 * kDollar / kHour,
                               .cost = Dollars{}});
    }
    return list;
  }

  Result<pid_t> spawn(const std::string& /*name*/, Command command) const override {
    return start_process(command);
  }

  int running() const {
    int count = 0;
    for (const std::string& name : rented()) count += has(name + ".gone") ? 0 : 1;
    return count;
  }

  bool has(const std::string& name) const { return fs::exists(folder_ + "/" + name); }

  static constexpr int kKilled = 9;
  static constexpr int kSlots = 2;

 private:
  std::vector<std::string> rented() const {
    std::vector<std::string> names;
    for (const auto& file : fs::directory_iterator(folder_)) {
      const std::string name = file.path().filename();
      if (name.starts_with("vm") && !name.ends_with(".gone")) names.push_back(name);
    }
    return names;
  }

  void put(const std::string& name) const {
    (void)Descriptor(::open((folder_ + "/" + name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  }

  std::string folder_;
  int fatal_;
  bool after_;
  mutable int calls_ = 0;
};

/// Where a process is killed.
struct Kill {
  int call = 0;  // At this call of the engine,
  bool after = false;
  int event = 0;  // or between the journal and the performance of this event.
};

Kill draw_kill(Random& random) {
  const int number = 1 + random.below(5);
  if (random.below(2) == 0) return {.event = 1 + random.below(12)};
  return {.call = number, .after = random.below(2) == 0};
}

class RunnerKills : public RunnerTest {
 protected:
  void SetUp() override {
    prepare();
    record_.command = {"/bin/true"};
    record_.began = clock_.now();
    (void)write_file(record_path(folder_), write_run(record_));
  }

  /// Conducts the run in a process of its own, from the journal as it is.
  int conduct(const Kill& kill, const std::string& machines) {
    const auto child = fork_child([&](int /*report*/) {
      const KillingEngine engine(machines, kill.call, kill.after);
      engine_here_.emplace(engine, EnginePace{.look = 5 * kMillisecond});
      auto replayed = replay_run_folder(folder_);
      const bool resumes = replayed.ok() && !replayed->supervisor->vms().empty();
      supervisor_ = resumes ? std::move(replayed->supervisor) : make_supervisor(record_);
      RunListeners listeners;
      listeners.happened = [&, events = 0](const RunEvent&, const std::vector<RunAction>&) mutable {
        if (++events == kill.event) ::_exit(KillingEngine::kKilled);
      };
      Runner it = runner(std::move(listeners));
      if (resumes && !it.take_over().ok()) return 1;
      const auto end = it.run();
      return end.ok() && end->outcome == RunVerdict::kTrained ? 0 : 1;
    });
    return child.ok() ? wait_for_exit(child->pid) : 1;
  }

  Provider& provider() override { return *engine_here_; }

  std::optional<InlineProvider> engine_here_;
};

// The first two processes are killed; the last one finishes. STINT_KILLS is the number of seeds.
TEST_F(RunnerKills, NeverRentTwoMachinesForOneSlotNorForgetOne) {
  const char* wanted = std::getenv("STINT_KILLS");
  const int seeds = wanted == nullptr ? 15 : std::atoi(wanted);
  ASSERT_GT(seeds, 0);
  int killed = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const std::string machines = fmt::format("{}/machines-{}", place_.path(), seed);
    fs::create_directory(machines);
    int code = KillingEngine::kKilled;
    for (int process = 0; code == KillingEngine::kKilled && process < 3; ++process) {
      code = conduct(process < 2 ? draw_kill(random) : Kill{}, machines);
      killed += code == KillingEngine::kKilled ? 1 : 0;
    }
    EXPECT_EQ(code, 0) << "seed " << seed << "\n" << lines();
    const KillingEngine engine(machines, 0, false);
    EXPECT_EQ(engine.running(), 0) << "seed " << seed << "\n" << lines();
    EXPECT_FALSE(engine.has("too-many")) << "seed " << seed << "\n" << lines();
    fs::remove_all(folder_);
    prepare();
    record_.command = {"/bin/true"};
    (void)write_file(record_path(folder_), write_run(record_));
  }
  EXPECT_GT(killed, seeds / 2);
}

}  // namespace
}  // namespace stint
