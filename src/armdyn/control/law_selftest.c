/*
 * Runs @PREFIX@.h for @SAMPLES@ samples and compares with armdyn.
 *
 * cc -std=c99 -O2 @PREFIX@.c @PREFIX@_update.c @PREFIX@_selftest.c -lm -o @PREFIX@_selftest
 */
#include <math.h>
#include <stdio.h>

#include "@PREFIX@.h"

@ROWS@

int main(void)
{
    @PREFIX@_state state;
    @DTYPE@ tau[@N@];
    double worst = 0.0;
    int k, i;
    @PREFIX@_init(&state);
    for (k = 0; k < @SAMPLES@; ++k) {
        @PREFIX@_step(&state, @ARGUMENTS@, tau);
        for (i = 0; i < @N@; ++i) {
            const double error = fabs((double)tau[i] - expected_rows[k][i]);
            if (!(error <= worst)) {
                worst = error;
            }
        }
    }
    printf("@PREFIX@: largest error %g, allowed @ALLOWED_TEXT@\n", worst);
    return !(worst <= @ALLOWED@);
}
