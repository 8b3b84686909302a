#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "job/job.h"
#include "models/known_model.h"
#include "models/model_job.h"

namespace stint {

/// The models inside the binary, in the order of their files.
const std::vector<KnownModel>& known_models();

/// The model in the config.json at the path `name`, or the known one called so.
Result<KnownModel> load_model(const std::string& name);

/// The job of a text such as "model:resnet50,epochs=90" (models/model_job.h).
Result<JobProfile> load_model_job(const std::string& text);

}  // namespace stint
