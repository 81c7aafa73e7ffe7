/* chat.c -- talk in a session of the workspace in this folder.
 *
 *     example-chat LABEL                   what was said
 *     example-chat LABEL WHO TEXT          say something; WHO is user or assistant
 *     example-chat LABEL --again TEXT      the last turn in other words
 *     example-chat LABEL --fork NAME       another session from here on */
#include <stdio.h>
#include <string.h>

#include <valise.h>

static int print(void *arg, const valise_turn *turn, valise_error *err)
{
    static const char *const who[] = {"user", "assistant", "system", "tool"};

    (void)arg;
    (void)err;
    printf("%-9s %.*s\n", who[turn->role], VALISE_STR_ARG(turn->blocks));
    return 0;
}

/* The session is made when it is not there. */
static int find_or_make(valise *v, const char *label, valise_error *err)
{
    valise_session_options o = VALISE_SESSION_OPTIONS_INIT;
    valise_session *session = NULL;
    int rc = valise_session_open(&session, v, label, NULL, err);

    valise_session_free(session);
    if (rc != VALISE_E_NOT_FOUND)
        return rc;
    o.label = valise_str_of(label);
    return valise_session_create(NULL, v, &o, NULL, err);
}

static int talk(valise *v, int argc, char **argv, valise_error *err)
{
    const char *label = argv[1];
    valise_turn_options turn = VALISE_TURN_OPTIONS_INIT;
    valise_session_options o = VALISE_SESSION_OPTIONS_INIT;
    int rc = find_or_make(v, label, err);

    if (rc < 0 || argc < 4)
        return rc < 0 ? rc : valise_transcript(v, label, NULL, print, NULL, NULL, err);
    turn.text = valise_str_of(argv[3]);
    turn.role = strcmp(argv[2], "assistant") == 0 ? VALISE_TURN_ASSISTANT : VALISE_TURN_USER;
    if (strcmp(argv[2], "--again") == 0)
        return valise_turn_edit(NULL, v, label, "HEAD", &turn, NULL, err);
    if (strcmp(argv[2], "--fork") != 0)
        return valise_turn_add(NULL, v, label, &turn, NULL, err);
    o.label = valise_str_of(argv[3]);
    return valise_session_fork(NULL, v, label, NULL, &o, NULL, err);
}

int main(int argc, char **argv)
{
    valise_options options = VALISE_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise *v = NULL;
    int rc;

    if (argc < 2 || argc == 3) {
        fprintf(stderr, "usage: example-chat LABEL [WHO TEXT | --again TEXT | --fork NAME]\n");
        return 2;
    }
    options.flags = VALISE_OPEN_CREATE;
    rc = valise_open(&v, ".", &options, &err);
    if (rc == 0)
        rc = talk(v, argc, argv, &err);
    if (rc < 0)
        printf("%s\n", err.message);
    valise_close(v);
    return rc < 0;
}
