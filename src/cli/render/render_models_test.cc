#include "cli/render/render_models.h"

#include <gtest/gtest.h>

namespace stint::cli {
namespace {

KnownModel resnet() {
  KnownModel model{.name = "resnet50", .family = "resnet", .source = "timm"};
  model.date = *parse_date("2026-08-08");
  model.published_parameters = 25.56e6;
  model.image = ImageFacts{.parameters = 25.56e6, .multiply_adds = 4.11e9, .activations = 11.1e6};
  model.goal = CustomaryGoal{.data = "ImageNet-1k", .samples = 1281167, .epochs = 90};
  return model;
}

TEST(RenderModels, ShowParametersGoalAndSource) {
  const std::string table = model_table({resnet()}, Terminal{});
  EXPECT_NE(table.find("25.6 M"), std::string::npos) << table;
  EXPECT_NE(table.find("90 epochs of ImageNet-1k"), std::string::npos) << table;
  const std::string sheet = model_sheet(resnet(), Terminal{});
  EXPECT_NE(sheet.find("4.11 B multiply-adds"), std::string::npos) << sheet;
  EXPECT_NE(sheet.find("timm (2026-08-08)"), std::string::npos) << sheet;
  EXPECT_NE(models_json({resnet()}).find("\"schema\": \"stint.models/1\""), std::string::npos);
}

TEST(RenderModels, ShowWhatAJobAssumes) {
  JobProfile job{.name = "a", .gradient_bytes = 2 * kMB};
  job.work = JobWork{.model = "m", .notes = {"Global batch assumed: 128."}};
  const std::string sheet = job_sheet(job, Terminal{});
  EXPECT_NE(sheet.find("Global batch assumed: 128."), std::string::npos) << sheet;
  EXPECT_NE(sheet.find("2 MB"), std::string::npos) << sheet;
}

}  // namespace
}  // namespace stint::cli
