#include "measure/tables/step_formats.h"

#include <gtest/gtest.h>
#include <utility>

namespace stint {
namespace {

TEST(StepFormats, HaveNames) {
  EXPECT_STREQ(name_of(StepFormat::kPollux), "pollux");
  EXPECT_STREQ(name_of(StepFormat::kStint), "stint");
  EXPECT_EQ(names_of(StepFormat::kPollux).size(), 5U);
}

TEST(StepFormats, EachIsReadByItsReader) {
  const std::pair<StepFormat, const char*> tables[] = {
      {StepFormat::kPollux,
       "model,gpus_per_node,num_nodes,num_gpus,batch_per_gpu,step_time_s\nnet,2,1,2,8,0.5\n"},
      {StepFormat::kGavel,
       "gpu,consolidated,model,batch_per_gpu,num_gpus,steps_per_s_all_gpus\nK80,1,net,8,2,4\n"},
      {StepFormat::kNvidia,
       "example,heading,gpu,num_gpus,batch,batch_column,precision,throughput_column,throughput\n"
       "net,DGX-1,V100,2,8,Batch size / GPU,FP32,img/s,2\n"},
      {StepFormat::kCmdare,
       "model,gpu,num_workers,num_param_servers,cluster_steps_per_s_mean\nnet,K80,2,1,4\n"},
      {StepFormat::kStint,
       R"({"schema":"stint.measurement/1","run":"a","at_s":1,"start":{"job":"net","layout":)"
       R"({"cluster":"p3.8xlarge","groups":[{"workers_per_vm":2,"batch_per_worker":8}],)"
       R"("collective":"ring","accumulation":1}}})"
       "\n"
       R"({"schema":"stint.measurement/1","run":"a","at_s":2,)"
       R"("iteration":{"number":1,"time_s":0.5}})"
       "\n"},
  };
  for (const auto& [format, text] : tables) {
    const auto rows = read_steps(format, text, "a");
    ASSERT_TRUE(rows.ok()) << rows.error().message;
    ASSERT_EQ(rows->size(), 1U) << name_of(format);
    EXPECT_EQ(rows->front().job, "net");
    EXPECT_EQ(rows->front().time, 0.5 * kSecond) << name_of(format);
    EXPECT_EQ(workers(rows->front()), 2);
  }
}

TEST(StepFormats, ATableOfAnotherFormatIsBadInput) {
  for (const auto& [format, name] : names_of(StepFormat::kPollux)) {
    const auto rows = read_steps(format, "a,b\n1,2\n", "a");
    ASSERT_FALSE(rows.ok()) << name;
    EXPECT_EQ(rows.error().kind, ErrorKind::kBadInput);
  }
}

}  // namespace
}  // namespace stint
