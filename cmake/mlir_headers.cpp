// Owns the precompiled headers of MLIR (Tilewright.cmake).
