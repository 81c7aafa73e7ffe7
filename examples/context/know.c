/* know.c -- what is known about a file: `know PATH` shows it, `know PATH TEXT` says something,
 * `know --around PATH` shows what to know before one works on it. */
#include <stdio.h>
#include <string.h>

#include <valise.h>

/* A scan tells what is different since the last one. */
static int print_change(void *arg, const valise_tree_change *change, valise_error *err)
{
    static const char *const kinds[] = {"added", "changed",   "removed",
                                        "moved", "ambiguous", "unreadable"};

    (void)arg;
    (void)err;
    printf("%-8s %.*s\n", kinds[change->kind], VALISE_STR_ARG(change->path));
    return 0;
}

static int scan(valise *v, valise_error *err)
{
    valise_tree_scan_options options = VALISE_TREE_SCAN_OPTIONS_INIT;

    options.fn = print_change;
    return valise_tree_scan(NULL, v, &options, NULL, err);
}

/* Who trusts nothing but a root can check what it is told. */
static int prove(valise *v, const char *path, valise_error *err)
{
    valise_proof *proof = NULL;
    int rc = valise_frame_proof(&proof, v, path, "summary", NULL, NULL, err);

    if (rc == 0)
        rc = valise_frame_verify(NULL, v, &proof->root, &proof->frame, proof->proof, err);
    if (rc == 1)
        printf("proved in %zu bytes\n", proof->proof.len);
    valise_proof_free(proof);
    return rc;
}

/* The author is who acts: `call` names one, else it is the handle's. */
static int say(valise *v, const char *path, const char *text, valise_error *err)
{
    valise_frame_options options = VALISE_FRAME_OPTIONS_INIT;
    valise_placed placed = VALISE_PLACED_INIT;
    char id[VALISE_ID_TEXT];
    int rc;

    options.type = valise_str_of("summary");
    rc = valise_frame_put(&placed, v, path, valise_str_of(text), &options, NULL, err);
    if (rc == 0)
        printf("%.8s %s\n", valise_id_text(id, &placed.frame),
               placed.existed ? "was said before" : "is new");
    return rc < 0 ? rc : prove(v, path, err);
}

static int show(valise *v, const char *path, valise_error *err)
{
    static const char *const states[] = {"empty", "fresh", "stale", "invalidated", "orphaned"};
    valise_frames *known = NULL;
    int rc = valise_node_get(&known, v, path, "history,recency,max=5", NULL, NULL, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < known->count; i++) {
        const valise_frame *frame = known->items[i];
        printf("%s %.*s, %s: %.*s\n", frame->head ? "*" : " ", VALISE_STR_ARG(frame->agent),
               states[frame->state], VALISE_STR_ARG(frame->content));
    }
    valise_frames_free(known);
    return 0;
}

/* Of the file, the directories it is in and what lies beside it; what fits in 1,000 tokens. */
static int show_around(valise *v, const char *path, valise_error *err)
{
    valise_composition *known = NULL;
    int rc =
        valise_compose(&known, v, path, "relevance,types=summary,max_tokens=1000", NULL, NULL, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < known->count; i++) {
        const valise_composed *item = known->items[i];
        printf("%4lld %.*s: %.*s\n", (long long)item->score.total, VALISE_STR_ARG(item->frame.path),
               VALISE_STR_ARG(item->frame.content));
    }
    printf("%lld tokens, %lld left out\n", (long long)known->tokens, (long long)known->cut_count);
    valise_composition_free(known);
    return 0;
}

int main(int argc, char **argv)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_options options = VALISE_OPTIONS_INIT;
    valise *v = NULL;
    int rc;

    if (argc < 2) {
        fprintf(stderr, "usage: know PATH [TEXT] | know --around PATH\n");
        return 2;
    }
    options.flags = VALISE_OPEN_CREATE;
    options.actor = valise_str_of("local");
    rc = valise_open(&v, ".", &options, &err);
    if (rc == 0)
        rc = scan(v, &err);
    if (rc == 0 && argc > 2 && strcmp(argv[1], "--around") == 0)
        rc = show_around(v, argv[2], &err);
    else if (rc == 0)
        rc = argc > 2 ? say(v, argv[1], argv[2], &err) : show(v, argv[1], &err);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    valise_close(v);
    return rc < 0;
}
