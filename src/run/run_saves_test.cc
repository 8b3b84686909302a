#include "run/run_saves.h"
