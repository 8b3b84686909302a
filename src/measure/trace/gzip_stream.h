#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stint {

/// Inflates a stream of chunks if it is gzip, told by its first two bytes, and passes it on as it
/// is if not. It holds one chunk of output, however long the stream is.
class GzipStream {
 public:
  /// Takes the next bytes of the text, which are gone afterwards; an error stops the stream.
  using Sink = std::function<Status(std::string_view chunk)>;

  /// `source` names the file in errors.
  GzipStream(std::string source, Sink sink);
  ~GzipStream();
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  /// Goes on with the next bytes. After an error nothing more may be pushed.
  Status push(std::string_view chunk);

  /// Says whether a gzip stream was whole; where it broke off if not.
  Status finish();

 private:
  struct Inflater;  // What zlib needs.

  Status inflate(std::string_view chunk);
  Status start(std::string_view chunk);

  std::string source_;
  Sink sink_;
  std::string first_;  // Bytes held back until the kind is known.
  bool started_ = false;
  std::size_t passed_ = 0;
  std::unique_ptr<Inflater> inflater_;
};

}  // namespace stint
