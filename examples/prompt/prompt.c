/* prompt.c -- the request that a model gets of a session of the workspace in this folder.
 *
 *     example-prompt LABEL PROVIDER MODEL    what to send, and its id on standard error
 *     example-prompt --show ID               the same again, later; of a session: its last one
 *     example-prompt --blame ID              where each piece of it comes from */
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

/* Each stretch of the prompt. */
static int print_piece(void *arg, const valise_prompt_piece *piece, valise_error *err)
{
    static const char *const kinds[] = {"turn",  "role", "preference", "entry",
                                        "frame", "item", "given"};

    (void)arg;
    (void)err;
    printf("%-6s %-6.*s %.*s\n", piece->denied ? "denied" : kinds[piece->kind],
           VALISE_STR_ARG(piece->author), VALISE_STR_ARG(piece->text));
    return 0;
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
        rc = valise_prompt_blame(v, argv[2], print_piece, NULL, NULL, &err);
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
