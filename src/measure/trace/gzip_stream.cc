#include "measure/trace/gzip_stream.h"

#include <fmt/format.h>
#include <utility>
#include <vector>
#include <zlib.h>

#include "base/check.h"

namespace stint {
namespace {

constexpr std::string_view kMagic = "\x1F\x8B";
constexpr std::size_t kOutputBytes = std::size_t{1} << 20;
constexpr int kGzipWindow = 16 + MAX_WBITS;  // 16 asks zlib for gzip's header and checksum.

}  // namespace

struct GzipStream::Inflater {
  Inflater() : output(kOutputBytes) { CHECK(inflateInit2(&stream, kGzipWindow) == Z_OK); }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream{};
  std::vector<char> output;
  bool ended = false;  // One member is whole; another may follow.
};

GzipStream::GzipStream(std::string source, Sink sink)
    : source_(std::move(source)), sink_(std::move(sink)) {}

GzipStream::~GzipStream() = default;

Status GzipStream::push(std::string_view chunk) {
  if (started_) return inflater_ ? inflate(chunk) : sink_(chunk);
  first_.append(chunk);
  return first_.size() < kMagic.size() ? Status() : start(first_);
}

Status GzipStream::start(std::string_view chunk) {
  started_ = true;
  if (!chunk.starts_with(kMagic)) return sink_(chunk);
  inflater_ = std::make_unique<Inflater>();
  return inflate(chunk);
}

Status GzipStream::inflate(std::string_view chunk) {
  z_stream& stream = inflater_->stream;
  // zlib promises not to write to its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(chunk.data()));  // NOLINT
  stream.avail_in = static_cast<uInt>(chunk.size());
  // A full output may leave more of it inside zlib after the last byte of input was taken.
  bool more = true;
  while (stream.avail_in > 0 || more) {
    if (inflater_->ended) {
      if (stream.avail_in == 0) break;
      CHECK(inflateReset(&stream) == Z_OK);
      inflater_->ended = false;
    }
    stream.next_out = reinterpret_cast<Bytef*>(inflater_->output.data());
    stream.avail_out = static_cast<uInt>(kOutputBytes);
    const int code = ::inflate(&stream, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      return bad_input(fmt::format("{}: byte {}: damaged gzip ({}); copy the file again", source_,
                                   passed_ + chunk.size() - stream.avail_in,
                                   stream.msg == nullptr ? "no reason given" : stream.msg));
    }
    inflater_->ended = code == Z_STREAM_END;
    more = stream.avail_out == 0;
    const Status status = sink_({inflater_->output.data(), kOutputBytes - stream.avail_out});
    if (!status.ok()) return status;
  }
  passed_ += chunk.size();
  return {};
}

Status GzipStream::finish() {
  if (!started_ && !first_.empty()) return start(first_);
  if (!inflater_ || inflater_->ended) return {};
  return bad_input(
      fmt::format("{}: the gzip stream ends at byte {}; it is truncated, so copy the whole file",
                  source_, passed_));
}

}  // namespace stint
