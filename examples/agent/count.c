/* count.c -- an agent that counts lines: `count FILE...` in a workspace notes how many each file
 * has, and then what the folder has; `count --through COMMAND FILE...` does so through another
 * process. The agent itself does not know the difference. */
#include <stdio.h>
#include <string.h>

#include <valise.h>

/* ---- the agent: all it has is an adapter ---- */

static long count_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    long lines = 0;
    int c;

    if (!file)
        return -1;
    while ((c = getc(file)) != EOF)
        lines += c == '\n';
    fclose(file);
    return lines;
}

/* What is known and still holds need not be found out again. */
static int is_known(const valise_agent_adapter *agent, const char *path, valise_error *err)
{
    valise_frames *known = NULL;
    int rc = agent->read_context(&known, agent->self, path, "type=lines,state=fresh", NULL, err);

    if (rc < 0)
        return rc == VALISE_E_NOT_FOUND ? 0 : rc; /* nobody has looked at the file yet */
    rc = known->count > 0 && !known->outdated;
    if (rc)
        printf("%s: known: %.*s\n", path, VALISE_STR_ARG(known->items[0]->content));
    valise_frames_free(known);
    return rc;
}

static int work_on(const valise_agent_adapter *agent, const char *path, valise_error *err)
{
    valise_frame_options options = VALISE_FRAME_OPTIONS_INIT;
    char text[64];
    int rc = is_known(agent, path, err);

    if (rc != 0)
        return rc < 0 ? rc : 0;
    options.type = valise_str_of("lines");
    snprintf(text, sizeof(text), "%ld lines", count_lines(path));
    printf("%s: %s\n", path, text);
    return agent->write_context(NULL, agent->self, path, valise_str_of(text), &options, err);
}

static int work(const valise_agent_adapter *agent, char **paths, valise_error *err)
{
    valise_synthesize_options options = VALISE_SYNTHESIZE_OPTIONS_INIT;
    valise_derived *made = NULL;
    int rc = 0;

    for (; rc == 0 && *paths; paths++)
        rc = work_on(agent, *paths, err);
    options.type = valise_str_of("lines");
    if (rc == 0)
        rc = agent->synthesize(&made, agent->self, ".", &options, err);
    if (rc == 0)
        printf("the folder: %s\n", made->made ? "told anew" : "as before");
    valise_derived_free(made);
    return rc;
}

/* ---- the host: who it is, and where the workspace is ---- */

static int host(valise *v, char **words, valise_error *err)
{
    valise_agent_adapter *agent = NULL;
    int rc;

    if (strcmp(words[0], "--through") == 0 && words[1]) {
        const char *const argv[] = {words[1], "agent", "serve", "--as", "counter", NULL};
        valise_agent_process process = VALISE_AGENT_PROCESS_INIT;
        process.argv = argv;
        rc = valise_agent_start(&agent, &process, err);
        words += 2;
    } else {
        rc = valise_open(&v, ".", NULL, err);
        if (rc == 0)
            rc = valise_agent_open(&agent, v, "counter", err);
    }
    if (rc == 0)
        rc = work(agent, words, err);
    valise_agent_close(agent);
    valise_close(v);
    return rc;
}

int main(int argc, char **argv)
{
    valise_error err = VALISE_ERROR_INIT;

    if (argc < 2) {
        fprintf(stderr, "usage: count [--through COMMAND] FILE...\n");
        return 2;
    }
    if (host(NULL, argv + 1, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    return 0;
}
