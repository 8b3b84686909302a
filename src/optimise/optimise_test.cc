#include "optimise/optimise.h"

#include <gtest/gtest.h>
