@DATA@
static int test_@NAME@(void)
{
    int k, failures = 0;
    for (k = 0; k < @SAMPLES@; ++k) {
@RESULTS@
        @NAME@(@ARGUMENTS@);
@COMPARISONS@
    }
    printf("@NAME@: %s\n", failures ? "FAILED" : "ok");
    return failures;
}
