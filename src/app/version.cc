#include "app/version.h"

#include "catalog/catalog.h"
#include "checkpoint/checkpoint_files.h"
#include "cloud/cluster_status.h"
#include "job/job.h"
#include "measure/measurement.h"
#include "plan/calibration.h"
#include "plan/plan.h"
#include "plan/prediction.h"
#include "plan/sharing.h"
#include "plan/validation.h"
#include "run/run_journal.h"
#include "run/run_record.h"
#include "run/search_record.h"

namespace stint {

Version version() {
  return {.number = STINT_VERSION,
          .compiler = __VERSION__,
          .schemas = {kCalibrationSchema, kCatalogSchema, kCheckpointSchema, kClusterSchema,
                      kSharingSchema, kJobSchema, kMeasurementSchema, kPlanSchema, kTogetherSchema,
                      kPredictionSchema, kRunEventSchema, kRunPlanSchema, kRunSnapshotSchema,
                      kRunSchema, kSearchSchema, kValidationSchema}};
}

}  // namespace stint
