// A library that is called as cuBLAS is, or as the CUDA driver.
int not_cublas = 0;
extern "C" int cuInit(unsigned int) { return 0; }
extern "C" int cuNoSuchFunction() { return 0; }
