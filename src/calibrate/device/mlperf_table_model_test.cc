#include "calibrate/device/mlperf_table_model.h"

#include "calibrate/device/device_table_fixture.h"

namespace stint {
namespace {

constexpr const char* kHeader =
    "round,submitter,benchmark,accelerator,gpu,accelerators,nodes,accelerators_per_node,"
    "global_batch,step_s\n";

TEST(MlperfTableModel, PredictsAnotherGpuByDataSheets) {
  const Catalog catalog = two_gpus();
  const auto table = make_mlperf_table(catalog);
  add_text(*table,
           std::string(kHeader) +
               "v3.1,Dell,resnet,NVIDIA A10,A10,8,1,8,800,1\n"
               "v3.1,Dell,resnet,NVIDIA A10,A10,4,1,4,400,1\n",
           TableRole::kTrain);
  add_text(*table,
           std::string(kHeader) +
               "v3.1,Dell,resnet,NVIDIA A40,A40,8,1,8,800,\n"
               "v3.1,Dell,resnet,NVIDIA A40,A40,16,2,8,800,\n"
               "v3.1,Dell,bert,NVIDIA A40,A40,8,1,8,800,\n"
               "v3.1,Dell,resnet,TPU-v9,TPU,8,1,8,800,\n",
           TableRole::kTest);
  const auto forecasts = forecast_tests(*table);
  EXPECT_NEAR(forecasts[0].time->in(kSecond), 0.5, 0.02);
  EXPECT_LT(*forecasts[0].p10, *forecasts[0].time);
  EXPECT_EQ(forecasts[1].note, "the row is of several machines; only one is predicted");
  EXPECT_EQ(forecasts[2].note, "no training row has the benchmark bert");
  EXPECT_EQ(forecasts[3].note, "the catalogue has no figures of the accelerator TPU-v9");
  EXPECT_NEAR(forecast_tests(*table, "bandwidth")[0].time->in(kSecond), 0.5, 1e-9);
}

TEST(MlperfTableModel, MarksArchitecturesWithoutRows) {
  Catalog catalog = two_gpus();
  catalog.gpus[1].architecture = "Hopper";
  const auto table = make_mlperf_table(catalog);
  add_text(*table, std::string(kHeader) + "v3.1,Dell,resnet,A10,A10,8,1,8,800,1\n",
           TableRole::kTrain);
  add_text(*table, std::string(kHeader) + "v3.1,Dell,resnet,A40,A40,8,1,8,800,\n",
           TableRole::kTest);
  EXPECT_EQ(forecast_tests(*table)[0].note,
            "unvalidated: no training row is of the architecture Hopper");
}

TEST(MlperfTableModel, NamesGpusByTheirAccelerator) {
  const Catalog catalog = two_gpus();
  const auto table = make_mlperf_table(catalog);
  add_text(*table, std::string(kHeader) + "v3.1,Dell,resnet,NVIDIA L40,L4,8,1,8,800,1\n",
           TableRole::kTrain);
  EXPECT_EQ(table->rows()[0].gpu, "L40");
  add_text(*table, "round,benchmark,epoch_stops\nv1.0,bert,3\n", TableRole::kPrior);
  EXPECT_EQ(table->notes().size(), 1U);
}

}  // namespace
}  // namespace stint
