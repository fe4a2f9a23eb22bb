@ABOUT@
#ifndef @GUARD@
#define @GUARD@

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
@MEMBERS@
} @PREFIX@_state;

/*
 * Call before the first step.
 */
@INIT@;

/*
 * One sample, called every @PERIOD@ s; tau are the torques until the next.
 */
@STEP@;

#ifdef __cplusplus
}
#endif

#endif
