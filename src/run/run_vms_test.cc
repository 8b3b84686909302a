#include "run/run_vms.h"
