#include "run/deadline_watch.h"
