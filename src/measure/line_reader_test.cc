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

class EachLineTest : public testing::Test {
 protected:
  /// The lines of a file with these bytes.
  Lines read(const std::string& bytes) {
    (void)write_file(path_, bytes);
    Lines lines;
    const Status read = each_line(path_, [&](const FileLine& line) {
      lines.emplace_back(line.text);
      number_ = line.number;
      cut_off_ = line.cut_off;
      return Status();
    });
    EXPECT_TRUE(read.ok());
    return lines;
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::string path_ = place_.path() + "/lines";
  int number_ = 0;  // Of the last line.
  bool cut_off_ = false;
};

Status fail_if_called(const FileLine& /*line*/) { return failed("there is a line"); }

TEST_F(EachLineTest, GivesEachLineThatIsNotBlankAndMarksOneWithoutItsEnd) {
  EXPECT_EQ(read(""), Lines{});
  EXPECT_EQ(read("one\n\nthree\n"), (Lines{"one", "three"}));
  EXPECT_EQ(number_, 3);
  EXPECT_FALSE(cut_off_);
  EXPECT_EQ(read("one\ntw"), (Lines{"one", "tw"}));
  EXPECT_TRUE(cut_off_);
}

TEST_F(EachLineTest, ReadsLinesThatAreLongerThanItsChunks) {
  const std::string large(200'000, 'x');
  EXPECT_EQ(read("a\n" + large + "\nb\n"), (Lines{"a", large, "b"}));
}

TEST_F(EachLineTest, EndsAtTheFirstError) {
  ASSERT_TRUE(write_file(path_, "one\ntwo\n").ok());
  const Status read = each_line(path_, fail_if_called);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message, "there is a line");
}

TEST_F(EachLineTest, OnlyAMissingFileCountsAsEmpty) {
  EXPECT_TRUE(each_line(path_, fail_if_called).ok());
  ASSERT_TRUE(std::filesystem::create_directory(path_));
  const Status folder = each_line(path_, fail_if_called);
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(folder.error().message.find(path_), std::string::npos);
}

TEST_F(EachLineTest, DoesNotWaitForTheWriterOfAFifo) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const Status fifo = each_line(path_, fail_if_called);
  ASSERT_FALSE(fifo.ok());
  EXPECT_NE(fifo.error().message.find("not a regular file"), std::string::npos);
}

}  // namespace
}  // namespace stint
