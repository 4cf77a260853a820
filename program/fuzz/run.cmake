# Makes the corpus and fuzzes for a fixed number of runs: cmake -DFUZZER=... -DCORPUS=... -P run.cmake
foreach(arguments "--make-corpus;${CORPUS}" "-runs=50000;-seed=1;-max_len=16384;-rss_limit_mb=1024;${CORPUS}")
  execute_process(COMMAND ${FUZZER} ${arguments} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
