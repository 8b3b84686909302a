#include "calibrate/device/zeus_table_model.h"

#include <fmt/format.h>

#include "calibrate/device/device_table_fixture.h"

namespace stint {
namespace {

constexpr const char* kHeader =
    "gpu,dataset,network,batch,optimizer,power_limit_w,epoch_s,average_power_w\n";

std::string epochs_on(const char* gpu, double seconds) {
  std::string text;
  for (const int batch : {16, 32, 64}) {
    text += fmt::format("{},set,net,{},adam,300,{},280\n", gpu, batch, seconds);
  }
  return text;
}

TEST(ZeusTableModel, PredictsAnotherGpuByDataSheets) {
  const Catalog catalog = two_gpus();
  const auto table = make_zeus_table(catalog);
  add_text(*table, kHeader + epochs_on("A10", 100), TableRole::kTrain);
  add_text(*table, std::string(kHeader) + "A40,set,net,32,sgd,300,,\nA40,set,other,32,sgd,300,,\n",
           TableRole::kTest);
  const auto forecasts = forecast_tests(*table);
  EXPECT_NEAR(forecasts[0].time->in(kSecond), 50, 3);
  EXPECT_LT(*forecasts[0].p10, *forecasts[0].time);
  EXPECT_EQ(forecasts[1].note, "no training row has the workload set other");
  EXPECT_NEAR(forecast_tests(*table, "peak-flops")[0].time->in(kSecond), 50, 1e-9);
  EXPECT_NEAR(forecast_tests(*table, "same-time")[0].time->in(kSecond), 100, 1e-9);
}

TEST(ZeusTableModel, DoesNotPredictGpusWithoutFigures) {
  const Catalog catalog = two_gpus();
  const auto table = make_zeus_table(catalog);
  add_text(*table, kHeader + epochs_on("A10", 100) + epochs_on("X1", 1), TableRole::kTrain);
  EXPECT_EQ(table->rows().back().unusable, "the catalogue has no figures of the GPU X1");
}

TEST(ZeusTableModel, NotesTablesWithoutTimes) {
  const Catalog catalog = two_gpus();
  const auto table = make_zeus_table(catalog);
  add_text(*table, "dataset,network,target_metric,epochs\na,b,1,2\n", TableRole::kTrain);
  EXPECT_TRUE(table->rows().empty());
  ASSERT_EQ(table->notes().size(), 1U);
  EXPECT_FALSE(table->forecast({}, "").ok());
}

}  // namespace
}  // namespace stint
