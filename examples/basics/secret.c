/* secret.c -- a secret got into a workspace: take it out of every file.
 *
 * An overwrite or a deletion leaves it in the history, and that is what history is for. An erasure
 * does not: row, earlier versions, log and write-ahead log lose it. The log's chain still verifies,
 * and says who erased what, when and why. */
#include <stdio.h>
#include <string.h>

#include <valise.h>

static const char database[] = ".valise/valise.db", secret[] = "hunter2-hunter2";

/* 1: the secret is in the file. As somebody would look who has the disk, and not the library. */
static int is_in(const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t len = strlen(secret), at = 0;
    int c;

    if (!file)
        return 0;
    while (at < len && (c = getc(file)) != EOF)
        at = c == secret[at] ? at + 1 : c == secret[0]; /* no beginning of it stands within it */
    fclose(file);
    return at == len;
}

static void look(const char *when)
{
    int found = is_in(database) || is_in(".valise/valise.db-wal");

    printf("%-12s %s\n", when, found ? "it is on the disk" : "it is nowhere");
}

static int leak(valise_backpack *bag, valise_error *err)
{
    valise_blob *json = NULL;
    int rc = valise_json_format(&json, err, "{\"password\":%s}", secret);

    if (rc == 0)
        rc = valise_pack(NULL, bag, "login", valise_blob_text(json), NULL, err);
    valise_blob_unref(json);
    if (rc == 0)
        rc = valise_pack(NULL, bag, "login", "{\"password\":\"*****\"}", NULL, err);
    return rc;
}

/* The commits stay, and what they said is gone. */
static int print(void *arg, const valise_commit *commit, valise_error *err)
{
    (void)arg;
    (void)err;
    printf("  %.*s v%lld: %.*s\n", VALISE_STR_ARG(commit->key), (long long)commit->version,
           commit->summary.len ? (int)commit->summary.len : 8,
           commit->summary.len ? commit->summary.ptr : "(erased)");
    return 0;
}

static int erase(valise *v, valise_error *err)
{
    int rc = valise_dispatch(NULL, v, "backpack:erase",
                             "{\"backpack\":\"run-1\",\"key\":\"login\"}", NULL, err);

    return rc < 0 ? rc : valise_workspace_validate(v, NULL, NULL, NULL, err);
}

int main(void)
{
    valise_backpack_options durable = VALISE_BACKPACK_OPTIONS_INIT;
    valise_options options = VALISE_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise_backpack *bag = NULL;
    valise *v = NULL;
    int rc;

    options.flags = VALISE_OPEN_CREATE;
    durable.flags = VALISE_BACKPACK_DURABLE;
    rc = valise_open(&v, ".", &options, &err);
    if (rc == 0)
        rc = valise_backpack_open(&bag, v, "run-1", &durable, &err);
    if (rc == 0)
        rc = leak(bag, &err);
    if (rc == 0) {
        look("overwritten:");
        rc = erase(v, &err);
    }
    if (rc == 0) {
        look("erased:");
        rc = valise_history_each(bag, NULL, print, NULL, &err);
    }
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    valise_backpack_close(bag);
    valise_close(v);
    return rc < 0;
}
