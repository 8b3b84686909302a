#include "base/terminal.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace stint {
namespace {

std::string printed_by(const Terminal& terminal) {
  char* bytes = nullptr;
  std::size_t size = 0;
  std::FILE* stream = open_memstream(&bytes, &size);
  {
    ProgressBar bar("fit", terminal, stream);
    bar.show(0.5);
    bar.show(0.5);
  }
  std::fclose(stream);
  std::string text(bytes, size);
  std::free(bytes);
  return text;
}

TEST(Terminal, APipeIsNotInteractiveAndHasNoColour) {
  std::FILE* file = std::tmpfile();
  const Terminal terminal = terminal_of(file);
  EXPECT_FALSE(terminal.interactive);
  EXPECT_FALSE(terminal.colour);
  std::fclose(file);
}

TEST(Terminal, PaintsOnlyWhereColoursShow) {
  EXPECT_EQ(painted("x", Colour::kRed, {.colour = false}), "x");
  EXPECT_EQ(painted("x", Colour::kRed, {.colour = true}), "\x1b[31mx\x1b[0m");
}

TEST(ProgressBar, DrawsWithinTheWidth) {
  EXPECT_EQ(progress_picture("fit", 0.5, 22), "fit [#####.....]  50 %");
  EXPECT_EQ(progress_picture("fit", 2.0, 22), "fit [##########] 100 %");
  EXPECT_EQ(progress_picture("a long label", 0.25, 20), " 25 %");
}

TEST(ProgressBar, IsSilentOffATerminal) {
  EXPECT_EQ(printed_by({.interactive = false, .width = 22}), "");
}

TEST(ProgressBar, PrintsEachPictureOnceAndWipesIt) {
  EXPECT_EQ(printed_by({.interactive = true, .width = 22}), "\rfit [#####.....]  50 %\r\x1b[K");
}

}  // namespace
}  // namespace stint
