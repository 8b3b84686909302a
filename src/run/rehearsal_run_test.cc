#include "run/rehearsal_run.h"
