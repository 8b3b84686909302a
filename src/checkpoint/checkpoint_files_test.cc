#include "checkpoint/checkpoint_files.h"

#include <csignal>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "base/temporary_folder.h"
#include "checkpoint/shard_file.h"

namespace stint {
namespace {

namespace fs = std::filesystem;

class CheckpointFilesTest : public testing::Test {
 protected:
  /// The contents of shard k of this step.
  static std::string bytes_of(std::int64_t step, int number) {
    return "state " + std::to_string(step) + "/" + std::to_string(number);
  }

  static Checkpoint checkpoint_of(std::int64_t step, int count = 2) {
    Checkpoint checkpoint{.step = step};
    for (int i = 0; i < count; ++i) {
      const std::string bytes = bytes_of(step, i);
      checkpoint.shards.push_back({.number = i,
                                   .bytes = static_cast<std::int64_t>(bytes.size()),
                                   .checksum = checksum_of(bytes)});
      checkpoint.bytes += checkpoint.shards.back().bytes;
    }
    return checkpoint;
  }

  void write_shards(std::int64_t step, int count = 2) const {
    const auto generation = PrivateFolder::make(folder_)->make_inside(generation_name(step));
    for (int i = 0; i < count; ++i) {
      const std::string bytes = bytes_of(step, i);
      ASSERT_TRUE(write_shard(*generation, {.step = step, .number = i, .count = count}, bytes,
                              checksum_of(bytes))
                      .ok());
    }
  }

  void save(std::int64_t step, int count = 2) const {
    write_shards(step, count);
    const Status status = acknowledge(folder_, checkpoint_of(step, count));
    ASSERT_TRUE(status.ok()) << status.error().message;
  }

  std::string path_of(std::int64_t step, const std::string& name) const {
    return folder_ + "/" + generation_name(step) + "/" + name;
  }

  std::int64_t latest_step() const {
    const auto found = latest(folder_);
    return found.ok() && found->checkpoint ? found->checkpoint->step : -1;
  }

  std::vector<std::string> generations() const {
    std::vector<std::string> names = PrivateFolder::find(folder_)->names();
    return names;
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::string folder_ = place_.path() + "/checkpoints";
};

using Names = std::vector<std::string>;

TEST_F(CheckpointFilesTest, FindsNothingWhereNothingIs) {
  const auto found = latest(folder_);
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->checkpoint.has_value());
  EXPECT_TRUE(found->warnings.empty());
  EXPECT_TRUE(acknowledged_steps(folder_).empty());
}

TEST_F(CheckpointFilesTest, FindsWhatWasAcknowledged) {
  save(40);
  const auto found = latest(folder_);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->checkpoint, checkpoint_of(40));
  EXPECT_TRUE(found->warnings.empty());
  struct stat whole {};
  ASSERT_EQ(::stat(path_of(40, "whole.json").c_str(), &whole), 0);
  EXPECT_EQ(whole.st_mode & 0777U, 0600U);
  ASSERT_EQ(::stat(folder_.c_str(), &whole), 0);
  EXPECT_EQ(whole.st_mode & 0777U, 0700U);
}

TEST_F(CheckpointFilesTest, DoesNotCountWhatWasNotAcknowledged) {
  save(40);
  write_shards(80);
  EXPECT_EQ(latest_step(), 40);
  EXPECT_TRUE(latest(folder_)->warnings.empty());
  EXPECT_EQ(acknowledged_steps(folder_), (std::vector<std::int64_t>{40}));
}

TEST_F(CheckpointFilesTest, KeepsTwoGenerations) {
  save(40);
  save(80);
  EXPECT_EQ(generations(), (Names{"step-40", "step-80"}));
  save(120, 4);
  EXPECT_EQ(generations(), (Names{"step-120", "step-80"}));
  EXPECT_EQ(acknowledged_steps(folder_), (std::vector<std::int64_t>{120, 80}));
}

TEST_F(CheckpointFilesTest, RemovesOlderOnesThatAreNotWholeAndSparesNewerOnes) {
  save(40);
  write_shards(60);
  write_shards(100);
  ASSERT_TRUE(write_file(folder_ + "/notes", "mine").ok());
  save(80);
  EXPECT_EQ(generations(), (Names{"notes", "step-100", "step-40", "step-80"}));
  EXPECT_EQ(latest_step(), 80);
}

TEST_F(CheckpointFilesTest, ASecondGenerationWithoutAShardIsNoSecondOne) {
  save(40);
  save(80);
  fs::remove(path_of(80, "shard-1-of-2"));
  save(120);
  EXPECT_EQ(generations(), (Names{"step-120", "step-40"}));
}

TEST_F(CheckpointFilesTest, RefusesWhatIsNotWhole) {
  write_shards(40);
  fs::remove(path_of(40, "shard-1-of-2"));
  const Status missing = acknowledge(folder_, checkpoint_of(40));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, "the checkpoint of step 40 in " + folder_ +
                                         " is incomplete (shard 1 of 2 is missing) and ignored");
  write_shards(40);
  ASSERT_TRUE(append_file(path_of(40, "shard-0-of-2"), "x").ok());
  const Status longer = acknowledge(folder_, checkpoint_of(40));
  ASSERT_FALSE(longer.ok());
  EXPECT_NE(longer.error().message.find("(shard 0 of 2 has 11 bytes instead of 10)"),
            std::string::npos)
      << longer.error().message;
  EXPECT_EQ(latest_step(), -1);
}

TEST_F(CheckpointFilesTest, RefusesSumsThatDoNotAddUp) {
  EXPECT_EQ(problem(checkpoint_of(1)), "");
  EXPECT_EQ(problem(Checkpoint{}), "has no shards");
  Checkpoint wrong = checkpoint_of(1);
  wrong.bytes += 1;
  EXPECT_EQ(problem(wrong), "its shards are shorter than the whole");
  wrong.bytes -= 2;
  EXPECT_EQ(problem(wrong), "its shards are longer than the whole");
  wrong = checkpoint_of(1);
  wrong.shards[1].number = 0;
  EXPECT_EQ(problem(wrong), "its shards are not numbered from 0 on");
  EXPECT_FALSE(acknowledge(folder_, wrong).ok());
  wrong = checkpoint_of(1);
  wrong.step = -1;
  EXPECT_FALSE(acknowledge(folder_, wrong).ok());
  EXPECT_FALSE(fs::exists(folder_ + "/step--1"));
}

TEST_F(CheckpointFilesTest, SkipsADamagedGenerationAndSaysSo) {
  save(80);
  save(120, 4);
  const std::string path = path_of(120, "shard-2-of-4");
  std::string bytes = *read_file(path);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  ASSERT_TRUE(write_file(path, bytes).ok());
  const auto found = latest(folder_);
  EXPECT_EQ(found->checkpoint, checkpoint_of(80));
  EXPECT_EQ(found->warnings, (Names{"the checkpoint of step 120 is damaged (shard 2 of 4 has a "
                                    "wrong checksum); using that of step 80"}));
  fs::remove(path_of(80, "shard-0-of-2"));
  EXPECT_EQ(
      latest(folder_)->warnings.back(),
      "the checkpoint of step 80 is damaged (shard 0 of 2 is missing); there is no earlier one");
  EXPECT_FALSE(latest(folder_)->checkpoint.has_value());
}

// Checksum, first byte, middle, last byte; one byte less, one more; empty; and missing.
TEST_F(CheckpointFilesTest, FindsDamageOfEveryKindInEveryFile) {
  const std::vector<std::function<void(std::string&)>> damages = {
      [](std::string& bytes) { bytes[0] = static_cast<char>(bytes[0] ^ 0x80); },
      [](std::string& bytes) { bytes[4] = static_cast<char>(bytes[4] ^ 1); },
      [](std::string& bytes) { bytes[bytes.size() / 2] ^= 16; },
      [](std::string& bytes) { bytes.back() = static_cast<char>(bytes.back() ^ 2); },
      [](std::string& bytes) { bytes.pop_back(); },
      [](std::string& bytes) { bytes += 'x'; },
      [](std::string& bytes) { bytes.clear(); }};
  for (const char* name : {"shard-0-of-2", "shard-1-of-2"}) {
    for (std::size_t kind = 0; kind < damages.size(); ++kind) {
      save(40);
      save(80);
      std::string bytes = *read_file(path_of(80, name));
      damages[kind](bytes);
      ASSERT_TRUE(write_file(path_of(80, name), bytes).ok());
      EXPECT_EQ(latest_step(), 40) << name << " " << kind;
      EXPECT_EQ(latest(folder_)->warnings.size(), 1U);
    }
  }
}

TEST_F(CheckpointFilesTest, AnAcknowledgementThatIsCutOrOfAnotherStepIsDamage) {
  save(40);
  save(80);
  const std::string whole = *read_file(path_of(80, "whole.json"));
  for (std::size_t size = 0; size + 1 < whole.size(); size += 7) {
    ASSERT_TRUE(write_file(path_of(80, "whole.json"), whole.substr(0, size)).ok());
    EXPECT_EQ(latest_step(), 40) << size;
  }
  ASSERT_TRUE(write_file(path_of(80, "whole.json"), *read_file(path_of(40, "whole.json"))).ok());
  EXPECT_EQ(latest(folder_)->warnings, (Names{"the checkpoint of step 80 is damaged (whole.json: "
                                              "from step 40); using that of step 40"}));
}

TEST_F(CheckpointFilesTest, FollowsNoLinks) {
  save(40);
  save(80);
  const std::string shard = path_of(80, "shard-0-of-2");
  fs::rename(shard, place_.path() + "/moved");
  fs::create_symlink(place_.path() + "/moved", shard);
  EXPECT_EQ(latest_step(), 40);
  fs::rename(folder_ + "/step-40", place_.path() + "/step-40");
  fs::create_directory_symlink(place_.path() + "/step-40", folder_ + "/step-40");
  EXPECT_EQ(latest_step(), -1);
}

TEST_F(CheckpointFilesTest, TrustsReceiversWithTheirShards) {
  for (const std::int64_t step : {40, 80, 120}) {
    const Status status = acknowledge(folder_, checkpoint_of(step), ShardPlace::kReceivers);
    ASSERT_TRUE(status.ok()) << status.error().message;
  }
  EXPECT_EQ(latest(folder_, ShardPlace::kReceivers)->checkpoint, checkpoint_of(120));
  EXPECT_EQ(acknowledged_steps(folder_), (std::vector<std::int64_t>{120, 80}));
  EXPECT_EQ(latest_step(), -1);
}

// A kill leaves the new checkpoint or the one before it as the newest; never a damaged one.
TEST_F(CheckpointFilesTest, SurvivesAKillAtEveryPoint) {
  const std::vector<std::pair<const char*, std::int64_t>> points = {{"acknowledge-begin", 80},
                                                                    {"acknowledge-written", 80},
                                                                    {"acknowledge-renamed", 120},
                                                                    {"prune", 120}};
  for (const auto& point : points) {
    fs::remove_all(folder_);
    save(40);
    save(80);
    write_shards(120);
    const auto child = fork_child([&](int) {
      ::setenv("STINT_CRASH_AT", point.first, 1);
      return acknowledge(folder_, checkpoint_of(120)).ok() ? 0 : 1;
    });
    ASSERT_TRUE(child.ok());
    EXPECT_EQ(wait_for_exit(child->pid), 128 + SIGKILL) << point.first;
    const auto found = latest(folder_);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->checkpoint, checkpoint_of(point.second)) << point.first;
    EXPECT_TRUE(found->warnings.empty()) << point.first;
    // The run continues, and the remains of the kill are removed.
    save(120);
    save(160);
    EXPECT_EQ(generations(), (Names{"step-120", "step-160"})) << point.first;
    EXPECT_EQ(latest_step(), 160);
  }
}

}  // namespace
}  // namespace stint
