/* Prints the time of one step of an exported law [ns], the best of some batches; compiled.py fills it in. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>
#include "@HEADER@"

#define BATCHES 40
#define CALLS 5000

int main(void)
{
    static const double held[@N@] = {@NUMBERS@};
    double measured[@N@], tau[@N@], best = 1e30, sum = 0.0;
    @PREFIX@_state state;
    int b, k, i;
    @PREFIX@_init(&state);
    for (b = 0; b < BATCHES; ++b) {
        struct timespec from, to;
        double ns;
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (k = 0; k < CALLS; ++k) {
            for (i = 0; i < @N@; ++i) measured[i] = held[i] + 1e-9 * (k & 7);
            @PREFIX@_step(&state, measured, held, held, held, held, tau);
            sum += tau[0];
        }
        clock_gettime(CLOCK_MONOTONIC, &to);
        ns = ((to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec)) / CALLS;
        if (ns < best) best = ns;
    }
    printf("%.1f %g\n", best, sum);
    return 0;
}
