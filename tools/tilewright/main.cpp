#include "cli.h"

int main(int argc, char **argv) { return tilewright::runTool(argc, argv); }
