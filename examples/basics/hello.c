/* hello.c -- open a workspace, run an operation in it, read the answer, and what an error says.
 *
 *     example-hello KEY TEXT     remember something
 *     example-hello              what is remembered
 *
 * Whatever the command `valise` can do is an operation with a name, JSON in and JSON out: `valise
 * commands` lists them. Most nouns have functions of their own besides; the other examples show
 * those. */
#include <stdio.h>

#include <valise.h>

/* What somebody typed becomes JSON, whatever is in it. */
static int remember(valise *v, const char *key, const char *text, valise_error *err)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_blob *payload = NULL;
    int rc = valise_json_format(&payload, err, "{\"key\":%s,\"text\":%s}", key, text);

    if (rc == 0)
        rc = valise_dispatch(&reply, v, "context:add", valise_blob_text(payload), NULL, err);
    if (rc == 0)
        printf("entry %lld of the log\n", (long long)reply.seq);
    valise_reply_release(&reply);
    valise_blob_unref(payload);
    return rc;
}

/* One line for each row of a list. */
static int print_row(void *arg, valise_str json, valise_error *err)
{
    (void)arg;
    (void)err;
    printf("%.*s\n", VALISE_STR_ARG(json));
    return 0;
}

static int list(valise *v, valise_error *err)
{
    return valise_stream(NULL, v, "context:list", NULL, print_row, NULL, NULL, err);
}

int main(int argc, char **argv)
{
    valise_options options = VALISE_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise *v = NULL;
    int rc;

    options.flags = VALISE_OPEN_CREATE; /* as `valise init`, where there is none */
    rc = valise_open(&v, ".", &options, &err);
    if (rc == 0)
        rc = argc == 3 ? remember(v, argv[1], argv[2], &err) : list(v, &err);
    if (rc < 0)
        fprintf(stderr, "%s: %s\n%s%s", valise_error_name(rc), err.message, err.hint,
                err.hint[0] ? "\n" : "");
    valise_close(v); /* NULL is fine */
    return rc < 0 ? valise_error_exit_code(rc) : 0;
}
