// The first report of the thread sanitizer ends the process, also one that a test started and kills
// in the end, so that the test fails.

extern "C" const char* __tsan_default_options() { return "halt_on_error=1"; }
