#include "measure/tables/step_formats.h"

#include "base/check.h"
#include "measure/tables/cmdare_steps.h"
#include "measure/tables/gavel_steps.h"
#include "measure/tables/nvidia_steps.h"
#include "measure/tables/stint_steps.h"

namespace stint {

std::span<const EnumName<StepFormat>> names_of(StepFormat /*type*/) {
  static constexpr EnumName<StepFormat> kNames[] = {{StepFormat::kPollux, "pollux"},
                                                    {StepFormat::kGavel, "gavel"},
                                                    {StepFormat::kNvidia, "nvidia"},
                                                    {StepFormat::kCmdare, "cmdare"},
                                                    {StepFormat::kStint, "stint"}};
  return kNames;
}

Result<std::vector<StepRow>> read_steps(StepFormat format, std::string_view text,
                                        const std::string& source) {
  switch (format) {
    case StepFormat::kPollux:
      return read_pollux_steps(text, source);
    case StepFormat::kGavel:
      return read_gavel_steps(text, source);
    case StepFormat::kNvidia:
      return read_nvidia_steps(text, source);
    case StepFormat::kCmdare:
      return read_cmdare_steps(text, source);
    case StepFormat::kStint:
      return read_stint_steps(text, source);
  }
  CHECK(false);
  return std::vector<StepRow>();
}

}  // namespace stint
