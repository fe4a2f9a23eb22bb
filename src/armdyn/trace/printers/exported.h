/*
@ABOUT@
 *
 * C99 without allocation, state or dependencies but math.h, so reentrant and fit for real-time use.
 * Matrices are stored row by row. Outputs are written last and may overlap inputs.
 * Units are SI and radians unless a description says otherwise.
 */
#ifndef @GUARD@
#define @GUARD@

@SIZES@#ifdef __cplusplus
extern "C" {
#endif

@FUNCTIONS@
#ifdef __cplusplus
}
#endif

#endif
