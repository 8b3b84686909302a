#include "run/run_speed.h"
