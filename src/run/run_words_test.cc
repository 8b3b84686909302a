#include "run/run_words.h"
