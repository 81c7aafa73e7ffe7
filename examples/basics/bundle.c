/* bundle.c -- a workspace in one file, and another workspace made of it.
 *
 * A bundle is all there is: rows, log, objects, blobs. It is verified whole before anything of it
 * is taken in, and what comes out has the same hash as what went in. */
#include <stdio.h>
#include <string.h>

#include <valise.h>

static const char path[] = "backup.bundle";

/* hash: what names the state of a workspace, whatever the store it is in. */
static int save(valise_id *hash, valise *v, valise_error *err)
{
    valise_export_options options = VALISE_EXPORT_OPTIONS_INIT;
    valise_session_options algebra = VALISE_SESSION_OPTIONS_INIT;
    int rc = valise_role_put(NULL, v, "tutor", "You explain in small steps.", NULL, NULL, err);

    algebra.label = valise_str_of("algebra");
    algebra.role = valise_str_of("tutor");
    if (rc == 0)
        rc = valise_session_create(NULL, v, &algebra, NULL, err);
    if (rc == 0)
        rc = valise_workspace_hash(hash, v, NULL, err);
    options.flags = VALISE_EXPORT_REPLACE;
    return rc < 0 ? rc : valise_workspace_export(v, path, &options, NULL, err);
}

/* A bundle that was cut or altered is refused, and nothing of it comes in. */
static int damage(valise_error *err)
{
    FILE *file = fopen(path, "r+b");
    int bad = !file || fseek(file, 1000, SEEK_SET) != 0 || putc('!', file) == EOF;

    if (file && fclose(file) != 0)
        bad = 1;
    return bad ? valise_error_set(err, VALISE_E_IO, "%s cannot be changed", path) : 0;
}

static int load(const valise_id *hash, valise_error *err)
{
    valise_id there;
    valise *v = NULL;
    int rc = valise_open(&v, ":memory:", NULL, err); /* another machine */

    if (rc == 0)
        rc = valise_workspace_import(v, path, NULL, err);
    if (rc == 0)
        rc = valise_workspace_hash(&there, v, NULL, err);
    if (rc == 0)
        printf("taken in, and it is %s\n",
               memcmp(&there, hash, sizeof(there)) == 0 ? "the same" : "another");
    valise_close(v);
    return rc;
}

int main(void)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_id hash = {{0}};
    valise *v = NULL;
    int rc = valise_open(&v, ":memory:", NULL, &err);

    if (rc == 0)
        rc = save(&hash, v, &err);
    valise_close(v);
    if (rc == 0)
        rc = load(&hash, &err);
    if (rc == 0)
        rc = damage(&err);
    if (rc == 0 && load(&hash, &err) == VALISE_E_CORRUPT)
        printf("refused: %s\n", err.message);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    return rc < 0;
}
