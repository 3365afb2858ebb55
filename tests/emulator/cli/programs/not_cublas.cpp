// A library that is called as cuBLAS is.
int not_cublas = 0;
