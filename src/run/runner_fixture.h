#pragma once

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/temporary_folder.h"
#include "cloud/namespaces.h"
#include "provider/asked_provider.h"
#include "provider/emulated/emulated_engine.h"
#include "run/run_fixture.h"
#include "run/run_replay.h"
#include "run/runner.h"

namespace stint {

/// A worker without PyTorch, which behaves like stint.job on the control channel: steps of 20 ms,
/// checkpoints to the folder, and the end. Its arguments: the batch that it claims, and the number
/// of steps after which it fails.
inline constexpr const char* kTinyWorker = R"(
import json, os, socket, struct, sys, time, zlib
control = socket.socket(fileno=int(os.environ["STINT_CONTROL"]))
unread = b""
def tell(kind, **facts):
    control.setblocking(True)
    control.sendall((json.dumps({kind: facts}) + "\n").encode())
def order(wait):
    global unread
    control.setblocking(wait)
    while b"\n" not in unread:
        try:
            unread += control.recv(65536) or sys.exit(3)
        except BlockingIOError:
            return None, None
    line, unread = unread.split(b"\n", 1)
    return list(json.loads(line).items())[0]
batch = int(sys.argv[1]) or int(os.environ["STINT_GLOBAL_BATCH"])
falls = int(sys.argv[2])
steps = int(os.environ["STINT_STEPS"])
tell("ready", step=-1, batch=batch, steps=steps)
kind, facts = order(True)
place = facts
done = (facts.get("checkpoint") or {"step": 0})["step"]
tell("training", attempt=facts["attempt"], step=done)
save = None
while True:
    if save and save["step"] <= done:
        folder = "%s/step-%d" % (save["place"]["folder"], done)
        os.makedirs(folder, exist_ok=True)
        data = b"x" * 100
        name = "%s/shard-%d-of-%d" % (folder, place["rank"], place["world"])
        open(name, "wb").write(struct.pack("<I", zlib.crc32(data)) + data)
        tell("saved", attempt=place["attempt"], step=done, shard=place["rank"],
             of=place["world"], bytes=100, whole=100 * place["world"], checksum=zlib.crc32(data),
             stall_s=0.001, copy_s=0.001, transfer_s=0.002)
        save = None
    if done == falls:
        print("the dog ate my gradients", file=sys.stderr, flush=True)
        sys.exit(1)
    if done < steps:
        time.sleep(0.02)
        done += 1
        tell("step", attempt=place["attempt"], number=done, time_s=0.02, loss=1.0 / done,
             samples=place["shares"][place["rank"]])
    kind, facts = order(done == steps and not save)
    if kind == "end":
        sys.exit(0)
    if kind == "save":
        save = facts
    if kind == "train":
        place = facts
        tell("training", attempt=facts["attempt"], step=done)
)";

/// A clock that can be set, and that may go faster than time.
class LooseClock : public Clock {
 public:
  Seconds now() const override { return shown_ + rate_ * (boot_time() - since_); }
  void jump(Seconds time) { set(now() + time, rate_); }
  void go(double rate) { set(now(), rate); }

 private:
  void set(Seconds shown, double rate) {
    shown_ = shown;
    since_ = boot_time();
    rate_ = rate;
  }

  Seconds shown_ = 1e9 * kSecond;
  Seconds since_ = boot_time();
  double rate_ = 1;
};

/// A run on a real cluster of the emulated cloud, with workers that need no PyTorch.
class RunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    const HostSupport host = examine_host();
    for (const Status& status : {host.namespaces, host.network, host.shaping}) {
      if (!status.ok()) GTEST_SKIP() << "no emulated cloud here: " << status.error().message;
    }
    prepare();
  }

  void prepare() {
    record_ = small_record();
    record_.folder = place_.path();
    record_.secret = std::string(64, '5');
    record_.checkpoint.interval = 0.3 * kSecond;
    for (RunStepTime& step : record_.plan.steps) {
      step.mean = step.p10 = step.p90 = 20 * kMillisecond;
    }
    std::filesystem::create_directories(checkpoint_folder(folder_));
    std::filesystem::create_directories(log_folder(folder_));
    std::filesystem::create_directories(script_folder(folder_));
    use_script(kTinyWorker, {"0", "-1"});
  }
  void TearDown() override {
    if (cluster_) (void)cluster_->down();
  }

  /// Makes the workers run this Python script.
  void use_script(const std::string& text, const std::vector<std::string>& arguments = {}) {
    (void)write_file(place_.path() + "/train.py", text);
    record_.command = {"/usr/bin/python3", "train.py"};
    record_.command.insert(record_.command.end(), arguments.begin(), arguments.end());
  }

  const LocalCluster& cluster() {
    if (!cluster_) {
      auto made = LocalCluster::start(
          place_.path() + "/clusters",
          {.name = fmt::format("r{}", ::getpid()), .vms = {}, .notice = record_.notice});
      EXPECT_TRUE(made.ok()) << made.error().message;
      cluster_ = std::move(*made);
    }
    return *cluster_;
  }

  virtual Provider& provider() {
    if (!provider_) {
      engine_.emplace(cluster());
      provider_.emplace(*engine_);
    }
    return *provider_;
  }

  /// The outcome of the run. `happened` observes it.
  Result<RunAction> run(RunListeners listeners = {}) {
    record_.began = clock_.now();
    (void)write_file(record_path(folder_), write_run(record_));
    supervisor_ = make_supervisor(record_);
    return runner(std::move(listeners)).run();
  }

  Runner runner(RunListeners listeners) {
    return Runner({.record = record_,
                   .folder = folder_,
                   .program = STINT_TEST_AGENT,
                   .variables = {},
                   .clock = &clock_},
                  provider(), *supervisor_, record_.plan,
                  std::move(*RunJournal::open(journal_path_of(folder_))), std::move(listeners));
  }

  /// The story as replayed from the journal.
  RunStory story() {
    const auto run = replay_run_folder(folder_);
    EXPECT_TRUE(run.ok()) << run.error().message;
    return story_of(*run);
  }

  /// All lines of the story, for messages.
  std::string lines() {
    std::string text;
    for (const StoryLine& line : story().lines) {
      text += fmt::format("{:.2f} {}\n", line.at.in(kSecond), line.text);
    }
    return text;
  }

  bool tells(const std::string& words) {
    for (const StoryLine& line : story().lines) {
      if (line.text.find(words) != std::string::npos) return true;
    }
    return false;
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::string folder_ = place_.path() + "/run";
  RunRecord record_;
  LooseClock clock_;
  std::optional<LocalCluster> cluster_;
  std::optional<EmulatedEngine> engine_;
  std::optional<AskedProvider> provider_;
  std::unique_ptr<Supervisor> supervisor_;
};

}  // namespace stint
