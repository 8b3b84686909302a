#include "checkpoint/unproven.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "base/descriptor.h"

namespace stint {
namespace {

/// A connection, of which `near` is entered.
struct Ends {
  Ends() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    near = Descriptor(ends[0]);
    far = Descriptor(ends[1]);
  }

  /// Whether the far end finds the connection closed.
  bool closed() const {
    char byte = 0;
    return ::recv(far.get(), &byte, 1, MSG_DONTWAIT) == 0;
  }

  Descriptor near;
  Descriptor far;
};

TEST(Unproven, TheOldestMakesPlaceForTheNewest) {
  Unproven unproven(2);
  const Ends first;
  const Ends second;
  const Ends third;
  const std::uint64_t oldest = unproven.enter(first.near.get());
  unproven.enter(second.near.get());
  EXPECT_FALSE(first.closed());
  // As a thread of the receiver does: it leaves when its connection is closed.
  std::thread owner([&] {
    char byte = 0;
    EXPECT_EQ(::recv(first.near.get(), &byte, 1, 0), 0);
    unproven.leave(oldest);
  });
  unproven.enter(third.near.get());
  owner.join();
  EXPECT_TRUE(first.closed());
  EXPECT_FALSE(second.closed());
  EXPECT_FALSE(third.closed());
}

TEST(Unproven, WhoHasLeftIsNotClosed) {
  Unproven unproven(1);
  const Ends first;
  const Ends second;
  unproven.leave(unproven.enter(first.near.get()));
  unproven.enter(second.near.get());
  EXPECT_FALSE(first.closed());
}

}  // namespace
}  // namespace stint
