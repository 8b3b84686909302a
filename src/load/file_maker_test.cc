#include "load/file_maker.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace stint {
namespace {

TEST(FileMaker, IsKeptInProfilesAndPlans) {
  const FileMaker here = this_maker();
  ASSERT_TRUE(here.host);
  EXPECT_EQ(here.user, static_cast<std::int64_t>(::geteuid()));
  JobProfile job;
  EXPECT_FALSE(maker_of(job).host);
  set_maker(here, job);
  EXPECT_EQ(maker_of(job).host, here.host);
  EXPECT_EQ(maker_of(job).user, here.user);
  PlanAnswer answer;
  set_maker(here, answer);
  EXPECT_EQ(maker_of(answer).host, here.host);
  EXPECT_EQ(maker_of(answer).user, here.user);
  const auto read = read_plan(write_plan(answer), "plan");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->noun.made_on, here.host);
}

TEST(FileMaker, OtherComputersUsersAndOwnersAreForeign) {
  const auto folder = TemporaryFolder::make();
  const std::string file = folder->path() + "/a.plan";
  ASSERT_TRUE(write_file(file, "").ok());
  const FileMaker here = this_maker();
  EXPECT_FALSE(foreign_reason(file, here));
  EXPECT_FALSE(foreign_reason(file, {}));  // One that does not say is ours if we own it.
  EXPECT_EQ(foreign_reason(file, {.host = *here.host + "x"}),
            "it was made on another computer, " + *here.host + "x");
  EXPECT_EQ(foreign_reason(file, {.user = *here.user + 1}),
            "it was made by another user, " + std::to_string(*here.user + 1));
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(file.c_str(), 12345, 12345), 0);
  EXPECT_EQ(foreign_reason(file, here), "it belongs to another user, 12345");
}

TEST(FileMaker, AUserThatIsNoNumberIsForeign) {
  JobProfile job;
  job.environment["made_by"] = "mallory";
  EXPECT_TRUE(foreign_reason("", maker_of(job)));
}

}  // namespace
}  // namespace stint
