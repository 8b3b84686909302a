#include "base/connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

namespace stint {
namespace {

class ConnectionTest : public testing::Test {
 protected:
  /// Both ends of a connection.
  ConnectionTest() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    near_ = Connection(Descriptor(ends[0]), 50 * kMillisecond);
    far_ = Descriptor(ends[1]);
  }

  std::string read(std::size_t bytes) {
    std::string buffer(bytes, '\0');
    return near_.read(buffer.data(), bytes) ? buffer : "none";
  }

  Connection near_ = Connection(Descriptor(), Seconds());
  Descriptor far_;
};

TEST_F(ConnectionTest, ReadsLinesAndWhatFollowsThem) {
  ASSERT_TRUE(write_all(far_.get(), "one\ntwo\nbytes and more\n"));
  EXPECT_EQ(near_.read_line(10), "one");
  EXPECT_EQ(near_.read_line(10), "two");
  EXPECT_EQ(read(5), "bytes");
  EXPECT_EQ(near_.read_line(20), " and more");
}

TEST_F(ConnectionTest, TakesNoLineThatIsLonger) {
  ASSERT_TRUE(write_all(far_.get(), "12345\n123456\n"));
  EXPECT_EQ(near_.read_line(5), "12345");
  EXPECT_FALSE(near_.read_line(5).has_value());
  ASSERT_TRUE(write_all(far_.get(), std::string(2000, 'x')));
  EXPECT_FALSE(near_.read_line(5).has_value());
}

TEST_F(ConnectionTest, GivesUpOnSilence) {
  ASSERT_TRUE(write_all(far_.get(), "12"));
  EXPECT_EQ(read(3), "none");
  EXPECT_FALSE(near_.read_line(5).has_value());
  EXPECT_FALSE(near_.skip(1));
}

TEST_F(ConnectionTest, GivesUpOnAnEndThatIsClosed) {
  far_.close();
  EXPECT_EQ(read(1), "none");
  EXPECT_FALSE(near_.write("x"));
}

TEST_F(ConnectionTest, GivesUpOnAnEndThatTakesNothing) {
  EXPECT_FALSE(near_.write(std::string(64U << 20U, 'x')));
}

// Each byte comes in time, and all together do not.
TEST_F(ConnectionTest, GivesUpOnAnEndThatDripsBytes) {
  auto patient = Connection(std::move(far_), kMinute);
  near_.set_limit(Seconds());
  ASSERT_TRUE(patient.write("12\n"));
  EXPECT_EQ(read(1), "none");
  near_.set_limit(kMinute);
  EXPECT_EQ(read(1), "1");
  near_.set_limit(std::nullopt);
  EXPECT_EQ(near_.read_line(5), "2");
}

TEST_F(ConnectionTest, ReadsAsManyBytesAsWereAskedFor) {
  ASSERT_TRUE(write_all(far_.get(), "123456"));
  EXPECT_EQ(read(3), "123");
  EXPECT_TRUE(near_.skip(2));
  EXPECT_EQ(read(1), "6");
  EXPECT_EQ(read(0), "");
  EXPECT_TRUE(near_.skip(0));
}

TEST_F(ConnectionTest, FinishesWhenTheOtherEndDoes) {
  ASSERT_TRUE(write_all(far_.get(), "more"));
  ASSERT_TRUE(near_.write("last\n"));
  ::shutdown(far_.get(), SHUT_WR);
  near_.finish();
  EXPECT_EQ(read_line(far_.get(), kMinute), "last");
}

}  // namespace
}  // namespace stint
