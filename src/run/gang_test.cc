#include "run/gang.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

/// Two workers, on vm1 and vm3, which share 48 samples.
Gang pair() { return {4, {0, 2}, {32, 16}}; }

Json facts(const std::string& text) { return *parse_json(text, "test"); }

GangNews step(Gang& gang, int vm, const std::string& rest) {
  return gang.hear(vm, "step", facts(R"({"attempt":4,)" + rest + "}"));
}

GangNews shard(Gang& gang, int number, const std::string& rest = "") {
  return gang.hear(number == 0 ? 0 : 2, "saved",
                   facts(R"({"attempt":4,"step":9,"of":2,"shard":)" + std::to_string(number) +
                         R"(,"bytes":100,"whole":200,"checksum":7,"stall_s":0.1,"copy_s":0.2,)" +
                         R"("transfer_s":0.3)" + rest + "}"));
}

bool is_silent(const GangNews& news) {
  return !news.training_after && !news.step && !news.saved && !news.save_failed && !news.complaint;
}

TEST(Gang, TrainsOnceAllHaveSaidSo) {
  Gang gang = pair();
  EXPECT_TRUE(is_silent(gang.hear(0, "training", facts(R"({"attempt":4,"step":7})"))));
  EXPECT_TRUE(is_silent(gang.hear(0, "training", facts(R"({"attempt":4,"step":7})"))));
  EXPECT_FALSE(gang.training());
  const GangNews news = gang.hear(2, "training", facts(R"({"attempt":4,"step":7})"));
  EXPECT_EQ(news.training_after, 7);
  EXPECT_TRUE(gang.training());
  EXPECT_EQ(gang.reached(), 7);
  EXPECT_TRUE(is_silent(gang.hear(2, "training", facts(R"({"attempt":4,"step":7})"))));
}

TEST(Gang, WaitsForEveryWorkerOfAVm) {
  Gang gang(4, {Seat(0, 0), Seat(0, 1)}, {16, 16});
  EXPECT_TRUE(is_silent(gang.hear(Seat(0, 0), "training", facts(R"({"attempt":4,"step":7})"))));
  EXPECT_TRUE(gang.hear(Seat(0, 1), "training", facts(R"({"attempt":4,"step":7})")).training_after);
  EXPECT_FALSE(gang.has(Seat(0, 2)));
}

TEST(Gang, WithoutWorkersNeverTrains) { EXPECT_FALSE(Gang().training()); }

TEST(Gang, DoesNotHearStrangersAndOtherAttempts) {
  Gang gang = pair();
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(is_silent(gang.hear(1, "training", facts(R"({"attempt":4,"step":7})"))));
    EXPECT_TRUE(is_silent(gang.hear(2 * i, "training", facts(R"({"attempt":3,"step":7})"))));
    EXPECT_TRUE(is_silent(gang.hear(2 * i, "training", facts(R"({"step":7})"))));
  }
  EXPECT_FALSE(gang.training());
  EXPECT_EQ(gang.reached(), 0);
}

// Losses 0.75 + 0.5 of the two workers are the loss of the global batch; the slower took 1.5 s.
TEST(Gang, HasDoneAStepWhenAllHave) {
  Gang gang = pair();
  EXPECT_TRUE(is_silent(step(gang, 2, R"("number":8,"time_s":1.5,"loss":0.5,"samples":16)")));
  EXPECT_EQ(gang.reached(), 8);
  const GangNews news = step(gang, 0, R"("number":8,"time_s":1.0,"loss":0.75,"samples":32)");
  ASSERT_TRUE(news.step);
  EXPECT_EQ(news.step->number, 8);
  EXPECT_EQ(news.step->time, 1.5 * kSecond);
  EXPECT_EQ(news.step->loss, 1.25);
  EXPECT_FALSE(news.complaint);
}

TEST(Gang, KeepsStepsApartWhenOneWorkerIsAhead) {
  Gang gang = pair();
  (void)step(gang, 0, R"("number":8,"time_s":1,"loss":1,"samples":32)");
  (void)step(gang, 0, R"("number":9,"time_s":2,"loss":2,"samples":32)");
  EXPECT_TRUE(
      is_silent(step(gang, 0, R"("number":9,"time_s":9,"loss":9,"samples":32)")));  // A repetition.
  EXPECT_EQ(step(gang, 2, R"("number":8,"time_s":1,"loss":0.5,"samples":16)").step->loss, 1.5);
  const GangNews second = step(gang, 2, R"("number":9,"time_s":1,"loss":0.5,"samples":16)");
  EXPECT_EQ(second.step->loss, 2.5);
  EXPECT_EQ(second.step->time, 2 * kSecond);
}

TEST(Gang, HasNoLossWhereAWorkerHasNone) {
  Gang gang = pair();
  (void)step(gang, 0, R"("number":8,"time_s":1,"loss":null,"samples":32)");
  const GangNews news = step(gang, 2, R"("number":8,"time_s":1,"loss":0.5,"samples":16)");
  ASSERT_TRUE(news.step);
  EXPECT_FALSE(news.step->loss);
}

TEST(Gang, ComplainsOnceOfAWorkerThatDoesNotTakeItsShare) {
  Gang gang = pair();
  const GangNews news = step(gang, 2, R"("number":8,"time_s":1,"loss":1,"samples":24)");
  ASSERT_TRUE(news.complaint);
  EXPECT_NE(news.complaint->find("vm3 trained on 24 samples per step instead of 16"),
            std::string::npos)
      << *news.complaint;
  EXPECT_FALSE(step(gang, 2, R"("number":9,"time_s":1,"loss":1,"samples":24)").complaint);
  EXPECT_TRUE(step(gang, 0, R"("number":8,"time_s":1,"loss":1,"samples":24)").complaint);
}

TEST(Gang, HasSavedWhenEveryShardIsSafe) {
  Gang gang = pair();
  EXPECT_TRUE(is_silent(shard(gang, 0)));  // No checkpoint was requested.
  gang.expect_save(9);
  EXPECT_TRUE(is_silent(shard(gang, 1)));
  EXPECT_TRUE(is_silent(shard(gang, 1)));
  const GangNews news = gang.hear(
      0, "saved",
      facts(R"({"attempt":4,"step":9,"shard":0,"of":2,"bytes":101,"whole":200,"checksum":4294967295,
               "stall_s":0.4,"copy_s":0.2,"transfer_s":0.1})"));
  ASSERT_TRUE(news.saved);
  EXPECT_EQ(news.saved->checkpoint,
            (Checkpoint{.step = 9, .bytes = 201, .shards = {{0, 101, 4294967295}, {1, 100, 7}}}));
  EXPECT_EQ(news.saved->stall, 0.4 * kSecond);     // Of the worker that waited longest.
  EXPECT_EQ(news.saved->transfer, 0.3 * kSecond);  // Of the slower worker.
  EXPECT_TRUE(is_silent(shard(gang, 0)));          // The checkpoint is complete.
}

TEST(Gang, BeginsASaveAnewWhenAnotherIsOrdered) {
  Gang gang = pair();
  gang.expect_save(8);
  EXPECT_TRUE(is_silent(shard(gang, 0)));  // It belongs to step 9.
  gang.expect_save(9);
  EXPECT_TRUE(is_silent(shard(gang, 1)));
  const GangNews news = shard(gang, 0);
  ASSERT_TRUE(news.saved);
  EXPECT_EQ(news.saved->checkpoint.bytes, 200);
}

TEST(Gang, TellsOnceThatASaveFailed) {
  Gang gang = pair();
  const Json failed = facts(R"({"attempt":4,"step":9,"reason":"no\u001bspace"})");
  EXPECT_TRUE(is_silent(gang.hear(0, "save_failed", failed)));
  gang.expect_save(9);
  (void)shard(gang, 1);
  const GangNews news = gang.hear(0, "save_failed", failed);
  ASSERT_TRUE(news.save_failed);
  // No control character of a terminal.
  EXPECT_EQ(news.save_failed->find('\x1b'), std::string::npos);
  EXPECT_NE(news.save_failed->find("space"), std::string::npos);
  EXPECT_TRUE(is_silent(gang.hear(2, "save_failed", failed)));
  EXPECT_TRUE(is_silent(shard(gang, 0)));
  gang.expect_save(10);
  EXPECT_EQ(gang.hear(0, "save_failed", facts(R"({"attempt":4,"step":10})")).save_failed,
            "no reason given");
}

TEST(Gang, TakesNoNoticeOfNonsense) {
  Gang gang = pair();
  gang.expect_save(9);
  for (const char* kind : {"training", "step", "saved", "dance", ""}) {
    for (const char* text :
         {R"({"attempt":4})", R"({"attempt":"4"})", "[]", "null", "7",
          R"({"attempt":4,"step":"9"})",
          R"({"attempt":4,"step":1.5,"number":1.5,"shard":0,"bytes":1,"checksum":1})",
          R"({"attempt":4,"number":0})", R"({"attempt":4,"number":-3})",
          R"({"attempt":4,"step":9,"shard":2,"bytes":1,"checksum":1})",
          R"({"attempt":4,"step":9,"shard":-1,"bytes":1,"checksum":1})",
          R"({"attempt":4,"step":9,"shard":0,"bytes":-1,"checksum":1})",
          R"({"attempt":4,"step":9,"shard":0,"bytes":1,"checksum":-1})",
          R"({"attempt":4,"step":9,"shard":0,"bytes":1,"checksum":4294967296})"}) {
      if (std::string(kind) == "training" &&
          std::string(text).find(R"("step":9)") != std::string::npos)
        continue;
      EXPECT_TRUE(is_silent(gang.hear(0, kind, facts(text)))) << kind << text;
    }
  }
  EXPECT_EQ(gang.reached(), 0);
  EXPECT_FALSE(gang.training());
}

TEST(Gang, RefusesShardsOfStatesThatDiffer) {
  Gang gang(4, {0, 2}, {8, 8});
  gang.expect_save(9);
  EXPECT_TRUE(is_silent(shard(gang, 0, R"(,"layout":1)")));
  EXPECT_EQ(shard(gang, 1, R"(,"layout":2)").save_failed,
            "the workers have states of different structure");
}

// 2^63 − 1 twice would overflow, as steps after a checkpoint or as bytes of two shards.
TEST(Gang, DoesNotHearNumbersThatNoRunReaches) {
  Gang gang = pair();
  const std::string most = "9223372036854775807";
  for (const int vm : {0, 2}) {
    EXPECT_TRUE(is_silent(gang.hear(
        vm, "counted", facts(R"({"attempt":4,"steps":)" + most + R"(,"base":)" + most + "}"))));
    EXPECT_TRUE(is_silent(step(gang, vm, R"("number":)" + most)));
  }
  EXPECT_EQ(gang.reached(), 0);
}

}  // namespace
}  // namespace stint
