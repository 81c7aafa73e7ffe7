/* events.c -- follow what happens in a workspace, and miss nothing in between.
 *
 * Each time it runs it tells what happened since it ran last, whoever did it: this program, the
 * command line, another process. Where it is is a cursor (seq, index), kept in a file of its own
 * and moved once an event was dealt with: an event is told at least once, also after a crash. */
#include <inttypes.h>
#include <stdio.h>

#include <valise.h>

static const char place[] = "follower.cursor";

static valise_cursor load(void)
{
    valise_cursor at = {1, 0}; /* the first event there is */
    FILE *file = fopen(place, "r");

    if (!file)
        return at;
    if (fscanf(file, "%" SCNd64 " %" SCNu32, &at.seq, &at.index) != 2)
        at = (valise_cursor){1, 0};
    fclose(file);
    return at;
}

static int save(const valise_cursor *at, valise_error *err)
{
    FILE *file = fopen(place, "w");
    int bad = !file || fprintf(file, "%" PRId64 " %" PRIu32 "\n", at->seq, at->index) < 0;

    if (file && fclose(file) != 0)
        bad = 1;
    if (!bad)
        return 0;
    return valise_error_set(err, VALISE_E_IO, "%s cannot be written", place);
}

/* What it is about is in the payload: keys, ids and sizes. Contents never are. */
static int follow(valise *v, valise_error *err)
{
    static const char *const types[] = {"BACKPACK_PACK", "pin:*", NULL};
    valise_cursor at = load();
    const valise_follow want = {.size = sizeof(want),
                                .filter = {.size = sizeof(valise_filter), .types = types},
                                .since = &at,
                                .queue_max = 100}; /* they wait for us; else fn is called */
    valise_subscription *events = NULL;
    const valise_event *event = NULL;
    int rc = valise_subscribe(&events, v, &want, err);

    /* Up to now. Who wants to wait for what comes gives more time, and polls for other processes.
     */
    while (rc >= 0 && (rc = valise_subscription_next(&event, events, 0, err)) > 0) {
        printf("%lld.%u %.*s by %.*s\n", (long long)event->seq, event->index,
               VALISE_STR_ARG(event->type), VALISE_STR_ARG(event->source));
        at = (valise_cursor){event->seq, event->index + 1};
        rc = save(&at, err);
    }
    valise_unsubscribe(events);
    return rc;
}

int main(void)
{
    valise_error err = VALISE_ERROR_INIT;
    valise *v = NULL;
    int rc = valise_open(&v, ".", NULL, &err);

    if (rc == 0)
        rc = follow(v, &err);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    valise_close(v);
    return rc < 0;
}
