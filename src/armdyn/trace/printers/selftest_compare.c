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
