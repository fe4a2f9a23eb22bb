/*
 * Checks the functions of @PREFIX@.h against values computed by armdyn.
 *
 * cc -std=c99 -O2 @PREFIX@.c @PREFIX@_selftest.c -lm -o @PREFIX@_selftest && ./@PREFIX@_selftest
 */
#include <math.h>
#include <stdio.h>

#include "@PREFIX@.h"

static int compare(const char *what, const @DTYPE@ *got, const double *want, int n, double allowed)
{
    double worst = 0.0;
    int i;
    for (i = 0; i < n; ++i) {
        const double g = (double)got[i], w = want[i];
        const double error = (isnan(w) ? isnan(g) : g == w) ? 0.0 : fabs(g - w);
        if (!(error <= worst)) {
            worst = error;
        }
    }
    if (worst <= allowed) {
        return 0;
    }
    printf("FAILED %s: largest error %g, allowed %g\n", what, worst, allowed);
    return 1;
}

@TESTS@
int main(void)
{
    int failures = 0;
@CALLS@
    printf("%d failure(s)\n", failures);
    return failures != 0;
}
