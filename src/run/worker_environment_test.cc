#include "run/worker_environment.h"

#include <gtest/gtest.h>

namespace stint {
namespace {

using Texts = std::vector<std::string>;

TEST(WorkerEnvironment, PassesOnWhatTrainingReads) {
  for (const char* name :
       {"PATH", "HOME", "LC_ALL", "PYTHONPATH", "PYTHONHASHSEED", "OMP_NUM_THREADS", "NCCL_DEBUG",
        "CUDA_VISIBLE_DEVICES", "PYTORCH_CUDA_ALLOC_CONF", "HF_HOME", "TORCH_HOME",
        "LD_LIBRARY_PATH", "STINT_CRASH_AT", "ASAN_OPTIONS", "TOKENIZERS_PARALLELISM",
        "XDG_STATE_HOME", "ONEDNN_MAX_CPU_ISA", "DNNL_VERBOSE"}) {
    EXPECT_TRUE(is_usual_variable(name)) << name;
  }
}

TEST(WorkerEnvironment, KeepsSecretsBack) {
  for (const char* name :
       {"AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN", "WANDB_API_KEY",
        "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_HUB_TOKEN", "TORCH_API_KEY", "GITHUB_TOKEN",
        "SSH_AUTH_SOCK", "KUBECONFIG", "http_proxy", "DATABASE_URL", "PGPASSWORD", "CONDA_TOKEN",
        "STINT_SECRET", "", "path"}) {
    EXPECT_FALSE(is_usual_variable(name)) << name;
  }
}

TEST(WorkerEnvironment, TakesNamesAndValues) {
  EXPECT_EQ(*parse_worker_variables({"A,B", "C=1,2=3", "D="}), (Texts{"A", "B", "C=1,2=3", "D="}));
  EXPECT_EQ(*parse_worker_variables({"A=1", "B", "A=2"}), (Texts{"B", "A=2"}));  // The last counts.
  EXPECT_EQ(given_values({"A", "C=1,2=3", "D="}), (Texts{"C=1,2=3", "D="}));
  EXPECT_TRUE(parse_worker_variables({})->empty());
}

TEST(WorkerEnvironment, RefusesWhatIsNoVariableOrIsNotTheUsers) {
  for (const char* text : {"", "=x", "A B", "1A", "A,", "A-B=1", "A,B=1,2"}) {
    const auto read = parse_worker_variables({text});
    // "A,B=1,2" holds the name "B" with a value, and "2".
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().kind, ErrorKind::kUsage);
    EXPECT_NE(read.error().message.find("NAME=VALUE"), std::string::npos);
  }
  EXPECT_EQ(parse_worker_variables({"RANK=3"}).error().message,
            "--env cannot change RANK: stint sets it for each worker");
  EXPECT_FALSE(parse_worker_variables({"STINT_CONTROL=3"}).ok());
}

TEST(WorkerEnvironment, CountsWhatWorkersDoNotGet) {
  const Texts names = {"PATH", "PWD", "_", "WANDB_API_KEY", "EDITOR", "DATA"};
  EXPECT_EQ(withheld_variables({}, names), 3);
  EXPECT_EQ(withheld_variables({"WANDB_API_KEY", "DATA=/d"}, names), 1);
  EXPECT_TRUE(is_passed_on("WANDB_API_KEY", {"WANDB_API_KEY"}));
  EXPECT_FALSE(is_passed_on("WANDB_API_KEY", {"WANDB"}));
  EXPECT_EQ(missing_variable({"DATA", "X=1"}, names), std::nullopt);
  EXPECT_EQ(missing_variable({"DATA", "MISSING"}, names), "MISSING");
}

}  // namespace
}  // namespace stint
