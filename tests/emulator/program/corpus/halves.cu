// The 16-bit and 8-bit floating-point types, one by one and packed.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__global__ void half_one(__half* x, __half a, __half b, __half c, float f, double d, int n, long long l) {
    x[0] = __hadd(a, b) + __hsub(a, b) * __hmul(a, b) / __hdiv(a, b);
    x[1] = __hadd_sat(a, b) + __hsub_sat(a, b) + __hmul_sat(a, b) + __hfma_sat(a, b, c);
    x[2] = __hfma(a, b, c) + __hfma_relu(a, b, c) + __hneg(a) + __habs(a);
    x[3] = __hadd_rn(a, b) + __hsub_rn(a, b) + __hmul_rn(a, b);
    x[4] = hsqrt(a) + hrsqrt(a) + hrcp(a) + hexp(a) + hexp2(a) + hexp10(a) + hlog(a) + hlog2(a) + hlog10(a) +
           hsin(a) + hcos(a) + htanh(a) + htanh_approx(a);
    x[5] = hfloor(a) + hceil(a) + htrunc(a) + hrint(a);
    x[6] = __hmax(a, b) + __hmin(a, b) + __hmax_nan(a, b) + __hmin_nan(a, b);
    x[7] = __float2half(f) + __float2half_rz(f) + __float2half_ru(f) + __float2half_rd(f) + __double2half(d);
    x[8] = __int2half_rn(n) + __int2half_rz(n) + __uint2half_ru(n) + __short2half_rn(n) +
           __ushort2half_rd(n) + __ll2half_rn(l) + __ull2half_rz(l);
    x[9] = __int2half_rn(__half2int_rn(a) + __half2int_rz(a) + __half2uint_ru(a) + __half2short_rd(a) +
                         __half2ushort_rn(a) + __half2ll_rz(a) + __half2ull_rn(a) + __half2char_rz(a) +
                         __half2uchar_rz(a));
    x[10] = __heq(a, b) || __hne(a, b) || __hlt(a, b) || __hle(a, b) || __hgt(a, b) || __hge(a, b) ||
                    __hequ(a, b) || __hneu(a, b) || __hltu(a, b) || __hisnan(a) || __hisinf(a)
                ? a
                : c;
    x[11] = __float2half(__half2float(a) * 2);
    x[12] = __shfl_sync(~0u, a, 3);
    x[13] = __shfl_xor_sync(~0u, a, 1);
    x[14] = __ushort_as_half(__half_as_ushort(a) ^ 1);
    x[15] = atomicAdd(x + 20, a);
}
__global__ void half_two(__half2* x, __half2 a, __half2 b, __half2 c, float2 f) {
    x[0] = __hadd2(a, b) + __hsub2(a, b) * __hmul2(a, b) / __h2div(a, b);
    x[1] = __hadd2_sat(a, b) + __hsub2_sat(a, b) + __hmul2_sat(a, b) + __hfma2_sat(a, b, c);
    x[2] = __hfma2(a, b, c) + __hfma2_relu(a, b, c) + __hneg2(a) + __habs2(a) + __hcmadd(a, b, c);
    x[3] = __hadd2_rn(a, b) + __hsub2_rn(a, b) + __hmul2_rn(a, b);
    x[4] = h2sqrt(a) + h2rsqrt(a) + h2rcp(a) + h2exp(a) + h2exp2(a) + h2log2(a) + h2sin(a) + h2tanh_approx(a);
    x[5] = __hmax2(a, b) + __hmin2(a, b) + __hmax2_nan(a, b) + __hmin2_nan(a, b);
    x[6] = __heq2(a, b) + __hne2(a, b) + __hlt2(a, b) + __hgtu2(a, b) + __hequ2(a, b) + __hisnan2(a);
    x[7] = __hbeq2(a, b) && __hblt2(a, b) && __hbgeu2(a, b) ? a : c;
    unsigned int mask = __heq2_mask(a, b) | __hltu2_mask(a, b);
    x[8] = *reinterpret_cast<__half2*>(&mask);
    x[9] = __floats2half2_rn(f.x, f.y) + __float22half2_rn(f);
    x[10] = __lows2half2(a, b) + __highs2half2(a, b) + __low2half2(a) + __lowhigh2highlow(a);
    x[11] = atomicAdd(x + 20, a);
    x[12] = __shfl_down_sync(~0u, a, 1);
    const float2 back = __half22float2(a);
    x[13] = __floats2half2_rn(back.y, back.x);
}
__global__ void bfloat_one(__nv_bfloat16* x, __nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c, float f,
                           double d, int n, long long l) {
    x[0] = __hadd(a, b) + __hsub(a, b) * __hmul(a, b) / __hdiv(a, b);
    x[3] = __hadd_rn(a, b) + __hsub_rn(a, b) + __hmul_rn(a, b);
#if __CUDA_ARCH__ >= 800
    x[1] = __hadd_sat(a, b) + __hmul_sat(a, b) + __hfma_sat(a, b, c);
    x[2] = __hfma(a, b, c) + __hfma_relu(a, b, c) + __hneg(a) + __habs(a);
    x[4] =
        hsqrt(a) + hrsqrt(a) + hrcp(a) + hexp(a) + hexp2(a) + hlog(a) + hlog2(a) + hsin(a) + htanh_approx(a);
    x[5] = hfloor(a) + hceil(a) + htrunc(a) + hrint(a);
#endif
    x[6] = __hmax(a, b) + __hmin(a, b) + __hmax_nan(a, b) + __hmin_nan(a, b);
    x[7] = __float2bfloat16(f) + __float2bfloat16_rz(f) + __float2bfloat16_ru(f) + __float2bfloat16_rd(f) +
           __double2bfloat16(d);
    x[8] = __int2bfloat16_rn(n) + __int2bfloat16_rz(n) + __ushort2bfloat16_rn(n) + __ll2bfloat16_rn(l);
    x[9] = __int2bfloat16_rn(__bfloat162int_rn(a) + __bfloat162int_rz(a) + __bfloat162uint_ru(a) +
                             __bfloat162short_rd(a) + __bfloat162ll_rz(a) + __bfloat162char_rz(a));
    x[10] = __heq(a, b) || __hne(a, b) || __hlt(a, b) || __hltu(a, b) || __hisnan(a) ? a : c;
    x[11] = __shfl_sync(~0u, a, 3);
    x[12] = atomicAdd(x + 20, a);
}
__global__ void bfloat_two(__nv_bfloat162* x, __nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c,
                           float2 f) {
    x[0] = __hadd2(a, b) + __hsub2(a, b) * __hmul2(a, b) / __h2div(a, b);
#if __CUDA_ARCH__ >= 800
    x[1] = __hadd2_sat(a, b) + __hfma2_sat(a, b, c);
    x[2] = __hfma2(a, b, c) + __hfma2_relu(a, b, c) + __hneg2(a) + __habs2(a);
    x[3] = h2sqrt(a) + h2exp(a) + h2tanh_approx(a);
#endif
    x[4] = __hmax2(a, b) + __hmin2(a, b) + __hmax2_nan(a, b) + __hmin2_nan(a, b);
    x[5] = __heq2(a, b) + __hne2(a, b) + __hgtu2(a, b);
    x[6] = __hbeq2(a, b) && __hblt2(a, b) ? a : c;
    x[7] = __floats2bfloat162_rn(f.x, f.y) + __float22bfloat162_rn(f);
    const float2 back = __bfloat1622float2(a);
    x[8] = __floats2bfloat162_rn(back.y, back.x);
    x[9] = atomicAdd(x + 20, a);
}
__global__ void eight_bits(__nv_fp8_e4m3* x, __nv_fp8_e5m2* y, float* z, float f, __half h, float2 p) {
    x[0] = __nv_fp8_e4m3(f);
    y[0] = __nv_fp8_e5m2(f);
    x[1] = __nv_fp8_e4m3(h);
    z[0] = static_cast<float>(x[2]) + static_cast<float>(y[2]);
    *reinterpret_cast<__nv_fp8x2_e4m3*>(x + 4) = __nv_fp8x2_e4m3(p);
    *reinterpret_cast<__nv_fp8x2_e5m2*>(y + 4) = __nv_fp8x2_e5m2(p);
    const float2 back = static_cast<float2>(*reinterpret_cast<__nv_fp8x2_e4m3*>(x + 6));
    z[1] = back.x + back.y;
}
