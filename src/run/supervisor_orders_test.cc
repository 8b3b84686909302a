#include "run/supervisor.h"
