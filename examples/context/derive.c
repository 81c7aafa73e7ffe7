/* derive.c -- keep what is said of folders in step with what is said of their files: `derive`
 * makes again what no longer holds; `derive TYPE` makes it of all folders for the first time. */
#include <stdio.h>

#include <valise.h>

static void print(const valise_derived *made)
{
    static const char *const outcomes[] = {"made",         "unchanged", "needs its author",
                                           "needs a run",  "unknown",   "orphaned",
                                           "out of scope", "missing",   "failed"};
    const size_t known = sizeof(outcomes) / sizeof(outcomes[0]);

    for (size_t i = 0; i < made->count; i++) {
        const valise_derived_slot *slot = made->items[i];
        if (slot->outcome != VALISE_DERIVED_UNCHANGED && (size_t)slot->outcome < known)
            printf("%-16s %.*s\n", outcomes[slot->outcome],
                   slot->path.len ? (int)slot->path.len : 1, slot->path.len ? slot->path.ptr : ".");
    }
    printf("%lld made\n", (long long)made->made);
}

/* From the innermost folder outwards; all of it counts at once, or nothing. */
static int synthesize(valise_derived **out, valise *v, const char *type, valise_error *err)
{
    valise_synthesize_options options = VALISE_SYNTHESIZE_OPTIONS_INIT;

    options.flags = VALISE_DERIVE_RECURSIVE;
    options.type = valise_str_of(type);
    options.policy = valise_str_of("summarization");
    return valise_synthesize(out, v, ".", &options, NULL, err);
}

static int regenerate(valise_derived **out, valise *v, valise_error *err)
{
    valise_regenerate_options options = VALISE_REGENERATE_OPTIONS_INIT;

    options.flags = VALISE_DERIVE_RECURSIVE;
    return valise_regenerate(out, v, ".", &options, NULL, err);
}

static int report(valise *v, valise_error *err)
{
    valise_report *report = NULL;
    int rc = valise_context_report(&report, v, NULL, NULL, NULL, err);

    if (rc == 0)
        printf("%lld of %lld heads hold\n", (long long)report->fresh, (long long)report->heads);
    valise_report_free(report);
    return rc;
}

int main(int argc, char **argv)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_derived *made = NULL;
    valise *v = NULL;
    int rc = valise_open(&v, ".", NULL, &err);

    if (rc == 0)
        rc = argc > 1 ? synthesize(&made, v, argv[1], &err) : regenerate(&made, v, &err);
    if (rc == 0) {
        print(made);
        rc = report(v, &err);
    }
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    valise_derived_free(made);
    valise_close(v);
    return rc < 0;
}
