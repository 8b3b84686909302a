#include "app/version.h"

#include "catalog/catalog.h"
#include "job/job.h"
#include "measure/measurement.h"
#include "plan/calibration.h"
#include "plan/plan.h"
#include "plan/prediction.h"
#include "plan/sharing.h"
#include "plan/validation.h"

namespace stint {

Version version() {
  return {.number = STINT_VERSION,
          .compiler = __VERSION__,
          .schemas = {kCalibrationSchema, kCatalogSchema, kSharingSchema, kJobSchema,
                      kMeasurementSchema, kPlanSchema, kPredictionSchema, kValidationSchema}};
}

}  // namespace stint
