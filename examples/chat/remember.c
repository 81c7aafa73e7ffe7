/* remember.c -- what outlives a conversation: roles, preferences, entries; and how it is found.
 *
 * What fits a session by its topics goes into its prompts; whatever was ever said or noted is
 * found by its words. */
#include <stdio.h>

#include <valise.h>

/* All of it at once, or nothing: a batch is one transaction. */
static int set_up(valise *v, valise_error *err)
{
    static const valise_command commands[] = {
        {VALISE_STR("role:add"), VALISE_STR("{\"name\":\"clerk\",\"persona\":\"You sell lamps.\"}"),
         NULL},
        {VALISE_STR("preference:add"), VALISE_STR("{\"slot\":\"tone\",\"content\":\"Be brief.\"}"),
         NULL},
        {VALISE_STR("context:add"),
         VALISE_STR("{\"key\":\"lamps/polar\",\"text\":\"The Polar fits every socket.\","
                    "\"topics\":[\"lamps\"]}"),
         NULL},
        {VALISE_STR("context:add"),
         VALISE_STR("{\"key\":\"office/coffee\",\"text\":\"The machine is broken.\","
                    "\"topics\":[\"office\"]}"),
         NULL},
        {VALISE_STR("session:create"),
         VALISE_STR("{\"label\":\"shop\",\"role\":\"clerk\",\"topics\":[\"lamps\"]}"), NULL},
    };

    return valise_dispatch_batch(NULL, v, commands, sizeof(commands) / sizeof(commands[0]), NULL,
                                 err);
}

static int say(valise *v, const char *text, valise_error *err)
{
    valise_turn_options turn = VALISE_TURN_OPTIONS_INIT;

    turn.role = VALISE_TURN_USER;
    turn.text = valise_str_of(text);
    return valise_turn_add(NULL, v, "shop", &turn, NULL, err);
}

static int print_request(valise *v, valise_error *err)
{
    valise_prompt_options options = VALISE_PROMPT_OPTIONS_INIT;
    valise_prompt *prompt = NULL;
    int rc;

    options.model = "small-1";
    rc = valise_prompt_build(&prompt, v, "shop", "openai", &options, NULL, err);
    if (rc == 0)
        printf("%.*s\n", VALISE_STR_ARG(prompt->wire));
    valise_prompt_free(prompt);
    return rc;
}

static int print_hits(valise *v, const char *query, valise_error *err)
{
    valise_hits *hits = NULL;
    int rc = valise_search(&hits, v, query, NULL, NULL, err);

    for (size_t i = 0; rc == 0 && i < hits->count; i++) {
        const valise_hit *hit = hits->items[i];
        printf("%-8s %-12.*s %.*s\n", hit->kind == VALISE_HIT_TURN ? "said" : "noted",
               VALISE_STR_ARG(hit->key), VALISE_STR_ARG(hit->snippet));
    }
    valise_hits_free(hits);
    return rc;
}

int main(void)
{
    valise_error err = VALISE_ERROR_INIT;
    valise *v = NULL;
    int rc = valise_open(&v, ":memory:", NULL, &err);

    if (rc == 0)
        rc = set_up(v, &err);
    if (rc == 0)
        rc = say(v, "Which lamp fits my old socket?", &err);
    if (rc == 0)
        rc = print_request(v, &err);
    if (rc == 0)
        rc = print_hits(v, "socket", &err);
    if (rc < 0)
        fprintf(stderr, "%s%s%s\n", err.path, err.path[0] ? ": " : "", err.message);
    valise_close(v);
    return rc < 0;
}
