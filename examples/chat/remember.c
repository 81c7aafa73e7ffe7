/* remember.c -- what outlives a conversation: roles, preferences, entries; and how it is found.
 *
 * What fits a session by its topics goes into its prompts; whatever was ever said or noted is
 * found by its words. */
#include <stdio.h>

#include <valise.h>

static int note(valise *v, const char *key, const char *text, const char *topic, valise_error *err)
{
    const valise_str topics[] = {valise_str_of(topic)};
    valise_entry_options options = VALISE_ENTRY_OPTIONS_INIT;

    options.topics = topics;
    options.topic_count = 1;
    return valise_entry_put(NULL, v, key, text, &options, NULL, err);
}

/* What a program can say at each of its starts: where it is so already, nothing is written. */
static int set_up(valise *v, valise_error *err)
{
    const valise_str topics[] = {VALISE_STR("lamps")};
    valise_preference_options tone = VALISE_PREFERENCE_OPTIONS_INIT;
    valise_session_options shop = VALISE_SESSION_OPTIONS_INIT;
    int rc = valise_role_put(NULL, v, "clerk", "You sell lamps.", NULL, NULL, err);

    tone.slot = valise_str_of("tone");
    if (rc == 0)
        rc = valise_preference_put(NULL, v, "Be brief.", &tone, NULL, err);
    if (rc == 0)
        rc = note(v, "lamps/polar", "The Polar fits every socket.", "lamps", err);
    if (rc == 0)
        rc = note(v, "office/coffee", "The machine is broken.", "office", err);
    shop.label = valise_str_of("shop");
    shop.role = valise_str_of("clerk");
    shop.topics = topics;
    shop.topic_count = 1;
    return rc < 0 ? rc : valise_session_create(NULL, v, &shop, NULL, err);
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
