/* rows_kit.c -- see rows_kit.h. */
#include "rows_kit.h"

#include "base/buf.h"

static int note(void *arg, const valise_commit *c, valise_error *err)
{
    (void)err;
    vls_buf_printf(arg, "%.*s@%02x.%lld%s%.*s ", VALISE_STR_ARG(c->key), c->backpack.bytes[15],
                   (long long)c->seq, vls_commit_is_live(c) ? "" : "-",
                   VALISE_STR_ARG(c->namespace_name));
    return 0;
}

static const char *text_of(vls_buf *out)
{
    const char *text = test_format("%.*s", VALISE_STR_ARG(vls_buf_str(out)));

    vls_buf_release(out);
    return text;
}

static vls_buf begin(const test *t)
{
    vls_buf out;

    vls_buf_init(&out, t->env, 1 << 20);
    return out;
}

const char *show_items(test *t, const vls_ledger *ledger)
{
    vls_buf out = begin(t);

    CHECK_OK(ledger->ops->each_item(ledger->self, note, &out, &t->err));
    return text_of(&out);
}

const char *show_named(test *t, const vls_ledger *ledger, const char *pattern)
{
    vls_buf out = begin(t);

    CHECK_OK(ledger->ops->each_named(ledger->self, valise_str_of(pattern), note, &out, &t->err));
    return text_of(&out);
}

const char *show_versions(test *t, const vls_ledger *ledger, const char *key)
{
    vls_buf out = begin(t);

    CHECK_OK(ledger->ops->each_version(ledger->self, valise_str_of(key), note, &out, &t->err));
    return text_of(&out);
}

const char *show_commits(test *t, const vls_ledger *ledger, int64_t first, int64_t last,
                         bool reverse)
{
    vls_buf out = begin(t);

    CHECK_OK(ledger->ops->each_commit(ledger->self, first, last, reverse, note, &out, &t->err));
    return text_of(&out);
}

const char *show_newest(test *t, const vls_ledger *ledger, const char *key)
{
    vls_buf out = begin(t);
    valise_commit commit;
    int rc;

    ledger->ops->enter(ledger->self);
    rc = ledger->ops->newest(&commit, ledger->self, valise_str_of(key), &t->err);
    CHECK(rc >= 0);
    if (rc > 0)
        note(&out, &commit, NULL);
    ledger->ops->leave(ledger->self);
    return text_of(&out);
}

static int note_difference(void *arg, const valise_commit *a, const valise_commit *b,
                           valise_error *err)
{
    if (a)
        note(arg, a, err);
    vls_buf_add_text(arg, "| ");
    if (b)
        note(arg, b, err);
    vls_buf_add_text(arg, "\n");
    return 0;
}

const char *show_difference(test *t, const vls_ledger *a, const vls_ledger *b)
{
    vls_buf out = begin(t);

    CHECK_OK(a->ops->each_difference(a->self, b->self, note_difference, &out, &t->err));
    return text_of(&out);
}

vls_ledger_head show_head(test *t, const vls_ledger *ledger)
{
    vls_ledger_head head;

    ledger->ops->enter(ledger->self);
    CHECK_OK(ledger->ops->head(&head, ledger->self, &t->err));
    ledger->ops->leave(ledger->self);
    return head;
}

vls_ledger freeze_at(test *t, const vls_ledger *ledger, int64_t upto)
{
    vls_ledger state = {0};

    CHECK_OK(ledger->ops->freeze(&state, ledger->self, upto, &t->err));
    return state;
}

void thaw(vls_ledger *ledger)
{
    ledger->ops->release(ledger->self);
    ledger->ops = NULL;
}
