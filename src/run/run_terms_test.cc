#include "run/run_terms.h"
