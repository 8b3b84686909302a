#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace stint {

/// What a stream can show.
struct Terminal {
  bool interactive = false;  // A person is looking, not a pipe.
  bool colour = false;       // Interactive, NO_COLOR is not set, and TERM is not "dumb".
  int width = 80;            // COLUMNS if set, else the window's; 0 on a pipe: do not cut lines.
  bool ascii = false;        // The locale says that nothing else can be shown.
};

Terminal terminal_of(std::FILE* stream);

enum class Colour { kBold, kDim, kRed, kGreen, kYellow };

/// `text` in `colour` where the terminal shows colours, else as it is.
std::string painted(std::string_view text, Colour colour, const Terminal& terminal);

/// A bar on stderr that grows with the work, only on a terminal; it is wiped when it goes away.
class ProgressBar {
 public:
  ProgressBar(std::string label, const Terminal& terminal)
      : ProgressBar(std::move(label), terminal, stderr) {}
  ProgressBar(std::string label, const Terminal& terminal, std::FILE* stream);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();

  /// Shows `done` in [0, 1]; prints only when the picture changes.
  void show(double done);

 private:
  std::string label_;
  Terminal terminal_;
  std::FILE* stream_;
  std::string shown_;
};

/// The bar's picture: "label [#####.....]  50 %", at most `width` columns.
std::string progress_picture(std::string_view label, double done, int width);

}  // namespace stint
