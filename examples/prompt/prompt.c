/* prompt.c -- the request that a model gets of a session of the workspace in this folder.
 *
 *     example-prompt LABEL PROVIDER MODEL    what to send, and its id on standard error
 *     example-prompt --show ID               the same again, later */
#include <stdio.h>
#include <string.h>

#include <valise.h>
#include <valise/prompt.h>

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

int main(int argc, char **argv)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_prompt *prompt = NULL;
    valise *v = NULL;
    int rc;

    if (argc != 4 && (argc != 3 || strcmp(argv[1], "--show") != 0)) {
        fprintf(stderr, "usage: example-prompt LABEL PROVIDER MODEL | --show ID\n");
        return 2;
    }
    rc = valise_open(&v, ".", NULL, &err);
    if (rc == 0)
        rc = argc == 4 ? build(&prompt, v, argv, &err)
                       : valise_prompt_show(&prompt, v, argv[2], NULL, &err);
    if (rc == 0)
        print(prompt);
    else
        fprintf(stderr, "%s\n", err.message);
    valise_prompt_free(prompt);
    valise_close(v);
    return rc < 0;
}
