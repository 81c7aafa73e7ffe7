/* operation.c -- an operation of our own, in the program itself: points for teams.
 *
 * A table of fields, a table of the operation, a function: the rest comes with it. Arguments are
 * checked, each call is in the log, rows can be asked for as of any state. notes.c is more. */
#include <stdio.h>

#include <valise.h>
#include <valise/sys/extension.h>

/* ---- a collection: one row for each team ---- */

typedef struct team {
    valise_str name;
    int64_t points;
} team;

static const valise_field team_fields[] = {
    VALISE_FIELD(team, name, STR, VALISE_KEY, "Its name."),
    VALISE_FIELD(team, points, INT, 0, "How many it has."),
    VALISE_FIELD_END,
};

static const valise_coll teams = {.size = sizeof(valise_coll),
                                  .name = "league.team",
                                  .help = "A team.",
                                  .fields = team_fields,
                                  .row_size = sizeof(team)};

/* ---- team:score: a view in, changes out; no clock, no files, no randomness ---- */

static const valise_field score_in[] = {
    VALISE_FIELD_WITH(team, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Which team.", .min = 1,
                      .max = 50),
    VALISE_FIELD_WITH(team, points, INT, VALISE_REQUIRED | VALISE_POSITIONAL, "How many more.",
                      .min = 1, .max = 3),
    VALISE_FIELD_END,
};

static int score_decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    const team *more = args;
    team row = {more->name, 0};
    int rc = valise_view_get(&row, view, &teams, err); /* 0: a new one, and row is as it was */

    if (rc < 0)
        return rc;
    row.points += more->points;
    *(team *)result = row;
    return valise_view_put(view, &teams, &row, err);
}

static const valise_op score = {.size = sizeof(valise_op),
                                .name = "team:score",
                                .brief = "Give points to a team.",
                                .kind = VALISE_COMMAND,
                                .needs = "team:write",
                                .in = score_in,
                                .in_size = sizeof(team),
                                .out = team_fields,
                                .out_size = sizeof(team),
                                .decide = score_decide,
                                .example = "{\"name\":\"red\",\"points\":3}"};

static const valise_coll *const collections[] = {&teams, NULL};
static const valise_op *const operations[] = {&score, NULL};
static const valise_extension league = {.size = sizeof(valise_extension),
                                        .abi = VALISE_EXTENSION_ABI,
                                        .name = "league",
                                        .version = "1.0",
                                        .collections = collections,
                                        .operations = operations};

/* `show` knows each row of each collection: now, or (at) as it was. */
static int print_red(valise *v, const char *at, valise_error *err)
{
    valise_call call = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;
    int64_t points = 0;
    int rc;

    call.at = valise_str_of(at);
    rc = valise_dispatch(&reply, v, "workspace:show", "{\"target\":\"league.team/red\"}", &call,
                         err);
    if (rc == 0)
        rc = valise_json_get_int(&points, valise_blob_bytes(reply.json), "/value/points", err);
    if (rc >= 0)
        printf("red has %lld%s%s\n", (long long)points, at[0] ? " at " : "", at);
    valise_reply_release(&reply);
    return rc < 0 ? rc : 0;
}

static int play(valise *v, valise_error *err)
{
    int rc = valise_dispatch(NULL, v, "team:score", "{\"name\":\"red\",\"points\":3}", NULL, err);

    if (rc == 0)
        rc = valise_dispatch(NULL, v, "team:score", "{\"name\":\"red\",\"points\":1}", NULL, err);
    if (rc == 0)
        rc = print_red(v, "", err);
    return rc < 0 ? rc : print_red(v, "2", err);
}

int main(void)
{
    const valise_extension *const extensions[] = {&league, NULL};
    valise_options options = VALISE_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise *v = NULL;
    int rc;

    options.extensions = extensions;
    rc = valise_open(&v, ":memory:", &options, &err);
    if (rc == 0)
        rc = play(v, &err);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    valise_close(v);
    return rc < 0;
}
