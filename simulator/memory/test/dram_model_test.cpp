#include "tilewright/simulator/dram_model.h"

#include <gtest/gtest.h>
