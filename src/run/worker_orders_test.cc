#include "run/worker_orders.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

std::string line(const Json& json) { return to_text(json, JsonStyle::kLine); }

TEST(WorkerOrders, TellEachRankItsPlaceAndAllShares) {
  TrainOrder order{.attempt = 3,
                   .master = "10.1.0.2",
                   .port = 29503,
                   .shares = {64, 32},
                   .micro_batches = {16, 8}};
  EXPECT_EQ(line(train_order(order, 1)),
            R"({"train":{"attempt":3,"rank":1,"world":2,"master":"10.1.0.2","port":29503,)"
            R"("shares":[64,32],"micro_batch":8}})");
  order.checkpoint =
      checkpoint_at({.step = 40, .bytes = 30, .shards = {{0, 10, 7}, {1, 20, 4294967295}}},
                    folder_place("/runs/a/checkpoints"));
  EXPECT_EQ(line(train_order(order, 0)),
            R"({"train":{"attempt":3,"rank":0,"world":2,"master":"10.1.0.2","port":29503,)"
            R"("shares":[64,32],"micro_batch":16,)"
            R"("checkpoint":{"step":40,"shards":2,"checksums":[7,4294967295],)"
            R"("place":{"folder":"/runs/a/checkpoints"}}}})");
}

TEST(WorkerOrders, SayWhenToSaveAndWhere) {
  EXPECT_EQ(line(save_order(2, 17, folder_place("/c"), false)),
            R"({"save":{"attempt":2,"step":17,"place":{"folder":"/c"}}})");
  RunRecord record;
  record.name = "a";
  record.secret = "5ec2e7";
  EXPECT_EQ(line(receivers_place({{"10.1.0.4", 29400}, {"10.1.0.5", 29400}}, record)),
            R"({"receivers":[["10.1.0.4",29400],["10.1.0.5",29400]],"secret":"5ec2e7","run":"a"})");
  EXPECT_EQ(line(receivers_place({}, record)), R"({"receivers":[],"secret":"5ec2e7","run":"a"})");
}

TEST(WorkerOrders, EndWithAnEmptyObject) { EXPECT_EQ(line(end_order()), R"({"end":{}})"); }

TEST(WorkerOrders, VariablesSpeakOfThePaceOnlyWhereItIsPaced) {
  RunRecord record;
  record.name = "a";
  record.global_batch = 96;
  record.steps = 60;
  RunMachines machines;
  machines.device = "Local-1x";
  machines.speed = 2.5;
  EXPECT_EQ(order_variables(record, machines, "/runs/a", 32),
            (std::vector<std::string>{"STINT_RUN=a", "STINT_BATCH_SIZE=32", "STINT_GLOBAL_BATCH=96",
                                      "STINT_STEPS=60", "STINT_CHECKPOINT_DIR=/runs/a/script",
                                      "STINT_SCRIPT_NOTES=/runs/a/script.jsonl"}));
  record.compute = RunCompute::kPacedReal;
  const std::vector<std::string> paced = order_variables(record, machines, "/runs/a", 32);
  EXPECT_EQ(std::vector<std::string>(paced.begin() + 6, paced.end()),
            (std::vector<std::string>{"STINT_PACE=/runs/a/job.json", "STINT_PACE_DEVICE=Local-1x",
                                      "STINT_PACE_SPEED=2.5"}));
}

}  // namespace
}  // namespace stint
