/* bundle.c -- a workspace in one file, and another workspace made of it.
 *
 * A bundle is all there is: rows, log, objects, blobs. It is verified whole before anything of it
 * is taken in, and what comes out has the same hash as what went in. */
#include <stdio.h>
#include <string.h>

#include <valise.h>

static const char path[] = "backup.bundle";

/* What names the state of a workspace, whatever the store it is in. */
static int hash_of(char out[VALISE_ID_TEXT], valise *v, valise_error *err)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_blob *text = NULL;
    int rc = valise_dispatch(&reply, v, "workspace:hash", NULL, NULL, err);

    if (rc == 0)
        rc = valise_json_get_text(&text, valise_blob_bytes(reply.json), "/hash", err);
    if (rc > 0)
        snprintf(out, VALISE_ID_TEXT, "%.*s", VALISE_STR_ARG(valise_blob_bytes(text)));
    valise_blob_unref(text);
    valise_reply_release(&reply);
    return rc < 0 ? rc : 0;
}

static int with_file(valise *v, const char *type, const char *rest, valise_error *err)
{
    char payload[200];

    snprintf(payload, sizeof(payload), "{\"file\":\"%s\"%s}", path, rest);
    return valise_dispatch(NULL, v, type, payload, NULL, err);
}

static int save(char hash[VALISE_ID_TEXT], valise *v, valise_error *err)
{
    int rc = valise_dispatch(NULL, v, "role:add",
                             "{\"name\":\"tutor\",\"persona\":\"You explain in small steps.\"}",
                             NULL, err);

    if (rc == 0)
        rc = valise_dispatch(NULL, v, "session:create",
                             "{\"label\":\"algebra\",\"role\":\"tutor\"}", NULL, err);
    if (rc == 0)
        rc = hash_of(hash, v, err);
    return rc < 0 ? rc : with_file(v, "workspace:export", ",\"force\":true", err);
}

/* A bundle that was cut or altered is refused, and nothing of it comes in. */
static int damage(valise_error *err)
{
    FILE *file = fopen(path, "r+b");
    int bad = !file || fseek(file, 1000, SEEK_SET) != 0 || putc('!', file) == EOF;

    if (file && fclose(file) != 0)
        bad = 1;
    if (bad) {
        err->code = VALISE_E_IO;
        snprintf(err->message, sizeof(err->message), "%s cannot be changed", path);
    }
    return bad ? err->code : 0;
}

static int load(const char *hash, valise_error *err)
{
    char there[VALISE_ID_TEXT] = "";
    valise *v = NULL;
    int rc = valise_open(&v, ":memory:", NULL, err); /* another machine */

    if (rc == 0)
        rc = with_file(v, "workspace:import", "", err);
    if (rc == 0)
        rc = hash_of(there, v, err);
    if (rc == 0)
        printf("taken in, and it is %s\n", strcmp(there, hash) == 0 ? "the same" : "another");
    valise_close(v);
    return rc;
}

int main(void)
{
    valise_error err = VALISE_ERROR_INIT;
    char hash[VALISE_ID_TEXT] = "";
    valise *v = NULL;
    int rc = valise_open(&v, ":memory:", NULL, &err);

    if (rc == 0)
        rc = save(hash, v, &err);
    valise_close(v);
    if (rc == 0)
        rc = load(hash, &err);
    if (rc == 0)
        rc = damage(&err);
    if (rc == 0 && load(hash, &err) == VALISE_E_CORRUPT)
        printf("refused: %s\n", err.message);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    return rc < 0;
}
