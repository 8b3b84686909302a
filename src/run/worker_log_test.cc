#include "run/worker_log.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "base/text.h"

namespace stint {
namespace {

using testing::ElementsAre;

class WorkerLogTest : public testing::Test {
 protected:
  void append(const std::string& text) { std::ofstream(path_, std::ios::app) << text; }

  static std::vector<std::string> all(WorkerLog& log, bool rest) {
    std::vector<std::string> lines;
    while (auto line = log.next(rest)) lines.push_back(*line);
    return lines;
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::string path_ = place_.path() + "/vm1-worker.log";
};

TEST_F(WorkerLogTest, GivesWholeLinesAsTheyCome) {
  append("one\ntwo\nthr");
  auto log = WorkerLog::open(path_);
  ASSERT_TRUE(log.ok());
  EXPECT_THAT(all(*log, false), ElementsAre("one", "two"));
  EXPECT_EQ(log->offset(), 8);
  append("ee\n\nlast");
  EXPECT_THAT(all(*log, false), ElementsAre("three", ""));
  EXPECT_THAT(all(*log, true), ElementsAre("last"));
  EXPECT_EQ(log->offset(), log->size());
  EXPECT_THAT(all(*log, true), ElementsAre());
}

TEST_F(WorkerLogTest, KeepsTheLastLines) {
  std::string text;
  for (int i = 1; i <= 30000; ++i) text += "line " + std::to_string(i) + "\n";
  append(text);
  const auto last = [&](std::int64_t lines) {
    auto log = WorkerLog::open(path_);
    EXPECT_TRUE(log->keep_last(lines).ok());
    return all(*log, true);
  };
  EXPECT_THAT(last(2), ElementsAre("line 29999", "line 30000"));
  EXPECT_EQ(last(20000).size(), 20000U);  // More than is read at once.
  EXPECT_EQ(last(20000)[0], "line 10001");
  EXPECT_EQ(last(30000).size(), 30000U);
  EXPECT_EQ(last(99999).size(), 30000U);
  append("open");
  EXPECT_THAT(last(1), ElementsAre("open"));
  EXPECT_THAT(last(2), ElementsAre("line 30000", "open"));
}

// Of a line of 200,000 bytes no more than 65,536 are held at once.
TEST_F(WorkerLogTest, LongLinesComeInPieces) {
  append(std::string(200000, 'x') + "\nshort\n");
  auto log = WorkerLog::open(path_);
  const auto lines = all(*log, false);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0].size(), 65536U);
  EXPECT_EQ(lines[3].size(), 200000U - 3 * 65536U);
  EXPECT_EQ(lines[4], "short");
}

TEST_F(WorkerLogTest, FilesAreNamedAfterMachines) {
  EXPECT_EQ(worker_log_path("/run", 0), "/run/log/vm1-worker.log");
  EXPECT_EQ(worker_log_path("/run", Seat(0, 1)), "/run/log/vm1.2-worker.log");
  EXPECT_EQ(worker_log_seat("vm12-worker.log"), Seat(11));
  EXPECT_EQ(worker_log_seat("vm12.3-worker.log"), Seat(11, 2));
  for (const char* other :
       {"vm1-receiver.log", "vm-worker.log", "vm0-worker.log", "x-worker.log", "vm1-turns.jsonl",
        "vm1x-worker.log", "vm1.1-worker.log", "vm1.-worker.log"}) {
    EXPECT_FALSE(worker_log_seat(other)) << other;
  }
}

TEST(LogText, IsWhatATerminalWouldLeaveAndHarmless) {
  EXPECT_EQ(log_text("plain\ttext ä"), "plain\ttext ä");
  EXPECT_EQ(log_text("\x1b[1;31mred\x1b[0m"), "red");
  EXPECT_EQ(log_text(" 10 %\r 20 %\r 30 %\r"), " 30 %");
  EXPECT_EQ(log_text("\x1b]0;title\a!\x1b]2;x\x1b\\."), "!.");
  EXPECT_EQ(log_text("a\x1b[2Jb\x07\b\x7f"), "ab???");
  EXPECT_EQ(log_text("\xff\xfe bad \xc2\x9b"
                     "31m"),
            "?? bad ?31m");
  EXPECT_EQ(log_text("\x1b["), "");
  EXPECT_EQ(log_text("\x1b"), "");
  EXPECT_TRUE(is_utf8(log_text(std::string("\x00\xc3", 2))));
}

TEST(MarkedRank, IsReadFromLinesOfStintOnly) {
  EXPECT_EQ(marked_rank("[stint] attempt 2, rank 3 of 4"), 3);
  EXPECT_EQ(marked_rank("--- stint: rank=0 attempt=1 ---"), 0);
  EXPECT_EQ(marked_rank(R"({"stint": {"rank": 12}})"), 12);
  EXPECT_FALSE(marked_rank("rank 3 of 4 is ready"));
  EXPECT_FALSE(marked_rank("[stint] started"));
  EXPECT_FALSE(marked_rank("[stint] rank"));
  EXPECT_FALSE(marked_rank(""));
}

}  // namespace
}  // namespace stint
