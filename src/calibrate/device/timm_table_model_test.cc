#include "calibrate/device/timm_table_model.h"

#include <fmt/format.h>

#include "calibrate/device/device_table_fixture.h"

namespace stint {
namespace {

constexpr const char* kHeader =
    "model,gpu,precision,layout,torch,image_size,batch,step_s,params_m,gmacs_forward,"
    "activations_m_forward\n";

/// Sixty models of three families, 10 ms per GMAC and 5 ms per million activations of an image.
std::string train_rows() {
  std::string text = kHeader;
  for (int i = 1; i <= 60; ++i) {
    const double gmacs = 0.5 * i;
    const double activations = 3.0 + i % 7;
    const double step = 64 * (0.010 * gmacs + 0.005 * activations);
    text += fmt::format("{}net{},a10,amp,nchw,1.12,{},64,{:.6f},{},{},{}\n", "abc"[i % 3], i,
                        160 + 32 * (i % 5), step, 5 + i % 11, gmacs, activations);
  }
  return text;
}

TEST(TimmTableModel, PredictsAnotherFamilyFromItsShape) {
  const Catalog catalog = two_gpus();
  const auto table = make_timm_table(catalog);
  add_text(*table, train_rows(), TableRole::kTrain);
  add_text(*table, std::string(kHeader) + "znet,a10,amp,nchw,1.12,224,64,,9,12,6\n",
           TableRole::kTest);
  EXPECT_EQ(table->rows().back().family, "znet");
  const auto forecasts = forecast_tests(*table);
  // 64 · (0.12 + 0.03) s.
  EXPECT_NEAR(forecasts[0].time->in(kSecond), 9.6, 0.3);
  EXPECT_LE(*forecasts[0].p10, *forecasts[0].time);
  EXPECT_GE(*forecasts[0].p90, *forecasts[0].time);
  EXPECT_NEAR(forecast_tests(*table, "two-constants")[0].time->in(kSecond), 9.6, 0.01);
}

TEST(TimmTableModel, CarriesTimesToAnotherGpuAndSaysSo) {
  const Catalog catalog = two_gpus();
  const auto table = make_timm_table(catalog);
  add_text(*table, train_rows(), TableRole::kTrain);
  add_text(*table,
           std::string(kHeader) +
               "znet,a40,amp,nchw,1.12,224,64,,9,12,6\nznet,h900,amp,nchw,1.12,224,64,,9,12,6\n",
           TableRole::kTest);
  const auto forecasts = forecast_tests(*table);
  EXPECT_NEAR(forecasts[0].time->in(kSecond), 4.8, 0.15);
  EXPECT_EQ(forecasts[0].note, "carried over from a10");
  EXPECT_FALSE(forecasts[1].time);
  EXPECT_EQ(forecasts[1].note, "the catalogue has no figures of the GPU h900");
}

TEST(TimmTableModel, CorrectsAModelThatItKnowsFromAnotherGpu) {
  const Catalog catalog = two_gpus();
  const auto table = make_timm_table(catalog);
  // A model that takes three times as long as its shape says.
  add_text(*table, train_rows() + "slow,a10,amp,nchw,1.12,224,64,28.8,9,12,6\n", TableRole::kTrain);
  add_text(*table, std::string(kHeader) + "slow,a40,amp,nchw,1.12,224,64,,9,12,6\n",
           TableRole::kTest);
  EXPECT_NEAR(forecast_tests(*table)[0].time->in(kSecond), 14.4, 1.0);
}

TEST(TimmTableModel, TakesAMissingShapeFromAnotherImageSizeOfTheModel) {
  const Catalog catalog = two_gpus();
  const auto table = make_timm_table(catalog);
  add_text(*table, train_rows(), TableRole::kTrain);
  add_text(*table,
           std::string(kHeader) +
               "znet,a10,amp,nchw,1.12,224,64,,9,12,6\nznet,a10,amp,nchw,1.12,448,64,,9,,\n"
               "ynet,a10,amp,nchw,1.12,224,64,,9,,\n",
           TableRole::kTest);
  const auto two = forecast_tests(*table, "two-constants");
  // Four times the area of an image has four times the arithmetic and activations.
  EXPECT_NEAR(*two[1].time / *two[0].time, 4, 1e-6);
  EXPECT_FALSE(two[2].time);
  EXPECT_FALSE(two[2].note.empty());
}

TEST(TimmTableModel, RefusesOtherTablesAndTrainingWithoutTimes) {
  const Catalog catalog = two_gpus();
  const auto table = make_timm_table(catalog);
  EXPECT_FALSE(table->add(*Csv::parse("gpu,b\n", "t.csv"), "t.csv", TableRole::kTrain).ok());
  EXPECT_FALSE(table->forecast({}, "").ok());
}

}  // namespace
}  // namespace stint
