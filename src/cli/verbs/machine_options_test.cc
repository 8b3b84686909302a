#include "cli/verbs/machine_options.h"

#include <gtest/gtest.h>

namespace stint::cli {
namespace {

TEST(MachineOptions, AreListsOfNames) {
  for (const OptionSpec& option : machine_options()) EXPECT_TRUE(option.list) << option.name;
}

TEST(MachineOptions, SayWhichMachinesAreConsidered) {
  const Invocation invocation{.options = {{"--gpu", {"A100", "H100"}},
                                          {"--types", {"p4*"}},
                                          {"--exclude", {"p4de.*"}},
                                          {"--arch", {"arm64"}}}};
  const MachineFilter filter = machines_of(invocation);
  EXPECT_EQ(filter.gpus, (std::vector<std::string>{"A100", "H100"}));
  EXPECT_EQ(filter.types, (std::vector<std::string>{"p4*"}));
  EXPECT_EQ(filter.excluded, (std::vector<std::string>{"p4de.*"}));
  EXPECT_EQ(filter.processors, (std::vector<std::string>{"arm64"}));
  EXPECT_FALSE(filter.unusual);
  EXPECT_TRUE(machines_of({}).gpus.empty());
}

}  // namespace
}  // namespace stint::cli
