#include "measure/line_reader.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <vector>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace stint {
namespace {

using Lines = std::vector<std::string>;

class LineReaderTest : public testing::Test {
 protected:
  Lines read(const std::string& bytes) {
    (void)write_file(path_, bytes);
    auto reader = LineReader::open(path_);
    EXPECT_TRUE(reader.ok());
    Lines lines;
    while (true) {
      const auto line = reader->next();
      EXPECT_TRUE(line.ok());
      if (!*line) break;
      lines.emplace_back(**line);
    }
    EXPECT_EQ(reader->number(), static_cast<int>(lines.size()));
    cut_off_ = reader->cut_off();
    return lines;
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::string path_ = place_.path() + "/lines";
  bool cut_off_ = false;
};

TEST_F(LineReaderTest, GivesEachLineAndMarksOneWithoutItsEnd) {
  EXPECT_EQ(read(""), Lines{});
  EXPECT_EQ(read("one\n\nthree\n"), (Lines{"one", "", "three"}));
  EXPECT_FALSE(cut_off_);
  EXPECT_EQ(read("one\ntw"), (Lines{"one", "tw"}));
  EXPECT_TRUE(cut_off_);
}

TEST_F(LineReaderTest, ReadsLinesThatAreLongerThanItsChunks) {
  const std::string large(200'000, 'x');
  EXPECT_EQ(read("a\n" + large + "\nb\n"), (Lines{"a", large, "b"}));
}

TEST_F(LineReaderTest, OnlyAMissingFileMayCountAsEmpty) {
  auto none = LineReader::open(path_, LineReader::Missing::kEmpty);
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(*none->next());
  EXPECT_FALSE(LineReader::open(path_).ok());
  ASSERT_TRUE(std::filesystem::create_directory(path_));
  const auto folder = LineReader::open(path_, LineReader::Missing::kEmpty);
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(folder.error().message.find(path_), std::string::npos);
}

TEST_F(LineReaderTest, DoesNotWaitForTheWriterOfAFifo) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const auto fifo = LineReader::open(path_);
  ASSERT_FALSE(fifo.ok());
  EXPECT_NE(fifo.error().message.find("not a regular file"), std::string::npos);
}

}  // namespace
}  // namespace stint
