/* prompt.c -- the request that a model gets of a session of the workspace in this folder.
 *
 *     example-prompt LABEL PROVIDER MODEL    what to send, and its id on standard error
 *     example-prompt --show ID               the same again, later; a session's last one by its
 * label example-prompt --blame ID              where each piece of it comes from */
#include <stdio.h>
#include <string.h>

#include <valise.h>

static int build(valise_prompt **out, valise *v, char **argv, valise_error *err)
{
    valise_prompt_options o = VALISE_PROMPT_OPTIONS_INIT;

    o.model = argv[3];
    o.window = 8000;
    return valise_prompt_build(out, v, argv[1], argv[2], &o, NULL, err);
}

static void print(const valise_prompt *prompt)
{
    char id[VALISE_ID_TEXT];

    printf("%.*s\n", VALISE_STR_ARG(prompt->wire));
    fprintf(stderr, "prompt %.8s, %lld of %lld tokens%s\n", valise_id_text(id, &prompt->id),
            (long long)prompt->tokens, (long long)prompt->limit,
            prompt->same ? "" : "; this is not what was sent");
}

/* One row for each stretch of the prompt. */
static int print_piece(void *arg, valise_str json)
{
    valise_error *err = arg;
    valise_blob *kind = NULL, *author = NULL, *text = NULL;
    int rc = valise_json_get_text(&kind, json, "/kind", err);

    if (rc > 0)
        rc = valise_json_get_text(&author, json, "/author", err);
    if (rc >= 0)
        rc = valise_json_get_text(&text, json, "/text", err);
    if (rc > 0) {
        valise_str k = valise_blob_bytes(kind), t = valise_blob_bytes(text);
        valise_str a = author ? valise_blob_bytes(author) : valise_str_of("-");
        printf("%-6.*s %-6.*s %.*s\n", VALISE_STR_ARG(k), VALISE_STR_ARG(a), VALISE_STR_ARG(t));
    }
    valise_blob_unref(text);
    valise_blob_unref(author);
    valise_blob_unref(kind);
    return rc < 0; /* ends it */
}

static int blame(valise *v, const char *prompt, valise_error *err)
{
    const valise_str type = VALISE_STR("prompt:blame");
    valise_blob *json = NULL;
    char payload[300];
    int rc = valise_json_quote(&json, valise_str_of(prompt), err);

    if (rc < 0)
        return rc;
    snprintf(payload, sizeof(payload), "{\"prompt\":%.*s}",
             VALISE_STR_ARG(valise_blob_bytes(json)));
    valise_blob_unref(json);
    rc = valise_stream(NULL, v, type, valise_str_of(payload), NULL, print_piece, err, err);
    return rc < 0 ? rc : err->code;
}

int main(int argc, char **argv)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_prompt *prompt = NULL;
    valise *v = NULL;
    int rc;

    if (argc != 4 && (argc != 3 || argv[1][0] != '-')) {
        fprintf(stderr, "usage: example-prompt LABEL PROVIDER MODEL | --show ID | --blame ID\n");
        return 2;
    }
    rc = valise_open(&v, ".", NULL, &err);
    if (rc == 0 && argc == 3 && strcmp(argv[1], "--blame") == 0)
        rc = blame(v, argv[2], &err);
    else if (rc == 0)
        rc = argc == 4 ? build(&prompt, v, argv, &err)
                       : valise_prompt_show(&prompt, v, argv[2], NULL, &err);
    if (rc == 0 && prompt)
        print(prompt);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    valise_prompt_free(prompt);
    valise_close(v);
    return rc < 0;
}
