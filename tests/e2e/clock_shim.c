// A library for LD_PRELOAD that shifts the clocks of a process, for tests of clocks that are set and
// of computers that are suspended. The system's clocks stay as they are.
//
// STINT_CLOCK_FILE names a file of two 64-bit numbers: the nanoseconds that are added to wall time,
// and to boot time. Other processes may change them at any moment.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000

static const volatile int64_t* offsets;

__attribute__((constructor)) static void begin(void) {
  const char* path = getenv("STINT_CLOCK_FILE");
  const int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void* memory = mmap(NULL, 2 * sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  if (memory != MAP_FAILED) offsets = memory;
  close(file);
}

static int64_t offset_of(clockid_t clock) {
  if (offsets == NULL) return 0;
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) return offsets[0];
  return clock == CLOCK_BOOTTIME ? offsets[1] : 0;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  if (syscall(SYS_clock_gettime, clock, now) != 0) return -1;
  const int64_t shifted = now->tv_nsec + offset_of(clock) % SECOND;
  now->tv_sec += offset_of(clock) / SECOND + shifted / SECOND;
  now->tv_nsec = shifted % SECOND;
  if (now->tv_nsec < 0) {
    now->tv_nsec += SECOND;
    --now->tv_sec;
  }
  return 0;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  (void)zone;
  struct timespec exact;
  if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return -1;
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* result) {
  struct timespec exact;
  if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return (time_t)-1;
  if (result != NULL) *result = exact.tv_sec;
  return exact.tv_sec;
}
