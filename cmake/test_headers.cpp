// Owns the precompiled headers of tests (Tilewright.cmake).
int main() { return 0; }
