// Floating-point intrinsics and the mathematical functions of the CUDA headers.

#include <cmath>

#include <cuda_runtime.h>

__global__ void single(float* x, float a, float b, float c, int n) {
    x[0] = a + b * c - a / b;
    x[1] = __fadd_rn(a, b) + __fadd_rz(a, b) + __fadd_ru(a, b) + __fadd_rd(a, b);
    x[2] = __fsub_rn(a, b) + __fsub_rz(a, b) + __fsub_ru(a, b) + __fsub_rd(a, b);
    x[3] = __fmul_rn(a, b) + __fmul_rz(a, b) + __fmul_ru(a, b) + __fmul_rd(a, b);
    x[4] = __fmaf_rn(a, b, c) + __fmaf_rz(a, b, c) + __fmaf_ru(a, b, c) + __fmaf_rd(a, b, c);
    x[5] = __fdiv_rn(a, b) + __fdiv_rz(a, b) + __fdiv_ru(a, b) + __fdiv_rd(a, b) + __fdividef(a, b);
    x[6] = __frcp_rn(a) + __frcp_rz(a) + __frcp_ru(a) + __frcp_rd(a);
    x[7] = __fsqrt_rn(a) + __fsqrt_rz(a) + __fsqrt_ru(a) + __fsqrt_rd(a) + __frsqrt_rn(a);
    x[8] = __sinf(a) + __cosf(a) + __tanf(a) + __expf(a) + __exp10f(a) + __logf(a) + __log2f(a) +
           __log10f(a) + __powf(a, b);
    x[9] = __saturatef(a) + fminf(a, b) + fmaxf(a, b) + fabsf(a) + copysignf(a, b);
    x[10] = sinf(a) + cosf(a) + tanf(a) + asinf(a) + acosf(a) + atanf(a) + atan2f(a, b);
    x[11] = expf(a) + exp2f(a) + expm1f(a) + logf(a) + log2f(a) + log10f(a) + log1pf(a) + powf(a, b);
    x[12] = sqrtf(a) + rsqrtf(a) + cbrtf(a) + rcbrtf(a) + hypotf(a, b) + norm3df(a, b, c);
    x[13] = floorf(a) + ceilf(a) + truncf(a) + rintf(a) + roundf(a) + nearbyintf(a);
    x[14] = fmodf(a, b) + remainderf(a, b) + ldexpf(a, n) + scalbnf(a, n) + logbf(a) + ilogbf(a);
    x[15] = erff(a) + erfcf(a) + tgammaf(a) + lgammaf(a) + j0f(a) + sinhf(a) + coshf(a) + tanhf(a) +
            normcdff(a) + sinpif(a);
    x[16] = isnan(a) + isinf(a) + isfinite(a) + signbit(a) + (a < b) + (a <= b ? 1.0f : b) + (a != b);
    x[17] = __int_as_float(n) + __uint_as_float(n) + __float_as_int(a) + nextafterf(a, b) + fdimf(a, b);
    x[18] = __float2int_rn(a) + __float2int_rz(a) + __float2int_ru(a) + __float2int_rd(a) +
            __float2uint_rn(a) + __float2uint_rz(a) + __float2ll_rn(a) + __float2ull_rz(a) +
            __float2ll_ru(a) + __float2ull_rd(a);
    x[19] = __int2float_rn(n) + __int2float_rz(n) + __int2float_ru(n) + __int2float_rd(n) +
            __uint2float_rz(n) + __ll2float_rd(n) + __ull2float_ru(n);
    x[20] = static_cast<signed char>(a) + static_cast<unsigned char>(b) + static_cast<short>(a) +
            static_cast<unsigned short>(b);
}

__global__ void double_precision(double* x, double a, double b, double c, int n, long long l) {
    x[0] = a + b * c - a / b;
    x[1] = __dadd_rn(a, b) + __dadd_rz(a, b) + __dadd_ru(a, b) + __dadd_rd(a, b);
    x[2] = __dmul_rn(a, b) + __dmul_rz(a, b) + __dmul_ru(a, b) + __dmul_rd(a, b);
    x[3] = __fma_rn(a, b, c) + __fma_rz(a, b, c) + __fma_ru(a, b, c) + __fma_rd(a, b, c);
    x[4] = __ddiv_rn(a, b) + __ddiv_rz(a, b) + __ddiv_ru(a, b) + __ddiv_rd(a, b);
    x[5] = __drcp_rn(a) + __drcp_rz(a) + __dsqrt_rn(a) + __dsqrt_rd(a);
    x[6] = sin(a) + cos(a) + tan(a) + asin(a) + acos(a) + atan2(a, b) + sinh(a) + tanh(a);
    x[7] = exp(a) + exp2(a) + expm1(a) + log(a) + log2(a) + log10(a) + log1p(a) + pow(a, b);
    x[8] = sqrt(a) + rsqrt(a) + cbrt(a) + hypot(a, b) + fmod(a, b) + remainder(a, b) + ldexp(a, n);
    x[9] = floor(a) + ceil(a) + trunc(a) + rint(a) + round(a) + fmin(a, b) + fmax(a, b) + fabs(a) +
           copysign(a, b);
    x[10] = erf(a) + erfc(a) + tgamma(a) + lgamma(a) + j0(a) + normcdf(a) + sinpi(a);
    x[11] = __double2int_rn(a) + __double2uint_rz(a) + __double2ll_ru(a) + __double2ull_rd(a) +
            __double2float_rn(a) + __double2float_rz(a) + __double2float_ru(a) + __double2float_rd(a);
    x[12] = __int2double_rn(n) + __ll2double_rn(l) + __ll2double_rz(l) + __ull2double_ru(l);
    x[13] = __hiloint2double(n, 5) + __double2hiint(a) + __double2loint(a) + __longlong_as_double(l) +
            __double_as_longlong(a);
    x[14] = isnan(a) + isinf(a) + signbit(a) + (a < b) + (a != b ? 1.0 : c);
    x[15] = static_cast<float>(a) + static_cast<signed char>(a) + static_cast<unsigned short>(b);
}
