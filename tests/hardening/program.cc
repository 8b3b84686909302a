// Has what the flags of a release change: an array on the stack, a call that can be checked, and
// the name of its file.
#include <cstdio>
#include <cstring>

int main(int count, char** words) {
  char text[64];
  std::strcpy(text, words[count - 1]);  // NOLINT: what is to be checked.
  return std::printf("%s: %s\n", __FILE__, text) > 0 ? 0 : 1;
}
