/* agent_kit.c -- see agent_kit.h. */
#include "agent_kit.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hex.h"

static void close_it(void *arg)
{
    desk_close(arg);
}

void desk_close(desk *d)
{
    valise_close(d->v);
    d->v = NULL;
}

static void write_file(const desk *d, const char *name, const char *text)
{
    test_write_file(test_format("%s/%s", d->dir, name), valise_str_of(text));
}

static void add_agent(desk *d, const char *members)
{
    test *t = d->t;

    CHECK_OK(valise_dispatch(NULL, d->v, "agent:add", members, NULL, &t->err));
}

desk *desk_open(test *t)
{
    desk *d = test_alloc(sizeof(*d));
    valise_options o = VALISE_OPTIONS_INIT;

    *d = (desk){.t = t, .dir = test_format("%s/desk", test_tmpdir())};
    (void)setenv("XDG_CONFIG_HOME", test_tmpdir(), 1);
    CHECK_INT(0, mkdir(d->dir, 0700));
    CHECK_INT(0, mkdir(test_format("%s/lib", d->dir), 0700));
    CHECK_INT(0, mkdir(test_format("%s/lib/sub", d->dir), 0700));
    write_file(d, "README", "hello");
    write_file(d, "lib/a.c", "1");
    write_file(d, "lib/b.c", "2");
    write_file(d, "lib/sub/z.c", "3");
    write_file(d, "lib/\xff", "4");
    CHECK_INT(0, symlink("a.c", test_format("%s/lib/ln", d->dir)));
    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    CHECK_OK(valise_open(&d->v, d->dir, &o, &t->err));
    test_defer(close_it, d);
    CHECK_OK(valise_tree_scan(NULL, d->v, NULL, NULL, &t->err));
    add_agent(d, "{\"id\":\"r\",\"role\":\"reader\"}");
    add_agent(d, "{\"id\":\"w\",\"role\":\"writer\"}");
    add_agent(d, "{\"id\":\"s\",\"role\":\"synthesis\"}");
    add_agent(d, "{\"id\":\"n\",\"role\":\"none\",\"capabilities\":[\"context:read path=lib/**\","
                 "\"context:write type=notes path=lib/**\"]}");
    return d;
}

/* ---- adapters ---- */

static void close_agent(void *arg)
{
    valise_agent_close(arg);
}

valise_agent_adapter *desk_here(desk *d, const char *agent)
{
    test *t = d->t;
    valise_agent_adapter *a = NULL;

    CHECK_OK(valise_agent_open(&a, d->v, agent, &t->err));
    test_defer(close_agent, a);
    return a;
}

static valise_agent_adapter *start(test *t, const valise_agent_process *process)
{
    valise_agent_adapter *a = NULL;

    CHECK_OK(valise_agent_start(&a, process, &t->err));
    test_defer(close_agent, a);
    return a;
}

valise_agent_adapter *desk_process(desk *d, const char *agent)
{
    const char *command = getenv("VALISE");
    const char *const argv[] = {command, "-C", d->dir, "agent", "serve", "--as", agent, NULL};
    valise_agent_process process = VALISE_AGENT_PROCESS_INIT;

    CHECK_MSG(command, "VALISE names the command");
    process.argv = argv;
    process.env = d->t->env;
    return start(d->t, &process);
}

valise_agent_adapter *desk_agent(desk *d, const char *agent)
{
    return strcmp(d->t->param, "here") == 0 ? desk_here(d, agent) : desk_process(d, agent);
}

valise_agent_adapter *desk_script(desk *d, const char *script, int64_t timeout_ms, size_t max_bytes)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    valise_agent_process process = VALISE_AGENT_PROCESS_INIT;

    process.argv = argv;
    process.folder = d ? d->dir : NULL;
    process.timeout_ns = timeout_ms * INT64_C(1000000);
    process.max_bytes = max_bytes;
    process.env = d->t->env;
    return start(d->t, &process);
}

void desk_check_alone(void)
{
    CHECK_INT(-1, waitpid(-1, NULL, WNOHANG));
    CHECK_INT(ECHILD, errno);
}

/* ---- answers as text ---- */

static const char *hex(const valise_id *id)
{
    return test_format("%.12s", vls_id_hex(id).s);
}

static const char *text(valise_str s)
{
    const char *all = s.ptr ? "'" : "-";

    for (size_t i = 0; s.ptr && i < s.len; i++)
        all = test_format((unsigned char)s.ptr[i] - 32u < 95 ? "%s%c" : "%s\\%02x", all,
                          (unsigned char)s.ptr[i]);
    return all;
}

static const char *frame_text(const valise_frame *f)
{
    const valise_frame_reason *const *reasons = f->reasons.items;
    const char *all = test_format(
        "%s %s %s by %s kind %lld basis %s recipe %s bytes %lld erased %d %s\n"
        "  state %lld head %d seq %lld time %d entry %lld slot %d closed %d by %s %s %s %s from "
        "%s\n",
        hex(&f->id), text(f->path), text(f->type), text(f->agent), (long long)f->kind,
        hex(&f->basis), hex(&f->recipe), (long long)f->bytes, f->erased, text(f->content),
        (long long)f->state, f->head, (long long)f->seq, f->time > 0, (long long)f->entry,
        f->slot.bytes[0] != 0, f->closed, text(f->by), text(f->media_type), text(f->metadata),
        text(f->regenerated_by), text(f->moved_from));

    for (size_t i = 0; i < f->reasons.count; i++)
        all = test_format("%s  reason %lld %s %s %s\n", all, (long long)reasons[i]->reason,
                          text(reasons[i]->child), text(reasons[i]->type), text(reasons[i]->text));
    return all;
}

static const char *node_text(const valise_tree_node *n)
{
    const valise_tree_child *const *children = n->children.items;
    const char *all = test_format(
        "node %s %s %s kind %lld size %lld exec %d to %s in %s %s content %s children %zu\n",
        hex(&n->node_id), hex(&n->object_id), text(n->path), (long long)n->kind, (long long)n->size,
        n->exec, text(n->target), text(n->parent), hex(&n->parent_id), hex(&n->content),
        n->children.items ? n->children.count : 999);

    for (size_t i = 0; i < n->children.count; i++)
        all = test_format("%s  %s %lld %s\n", all, text(children[i]->name),
                          (long long)children[i]->kind, hex(&children[i]->node_id));
    return all;
}

const char *desk_frames(valise_frames *f)
{
    const char *all = test_format(
        "%zu of %lld of %lld, seq %lld outdated %d version %lld roots %s %s view %s set %s\n%s",
        f->count, (long long)f->matched, (long long)f->total, (long long)f->seq, f->outdated,
        (long long)f->version, hex(&f->tree_root), hex(&f->context_root), hex(&f->view_hash),
        hex(&f->frame_set_root), node_text(f->node));

    for (size_t i = 0; i < f->count; i++)
        all = test_format("%s%s", all, frame_text(f->items[i]));
    valise_frames_free(f);
    return all;
}

const char *desk_placed(const valise_placed *p)
{
    return test_format(
        "%s after %s about %s seq %lld roots %s %s existed %d head %d ambiguous %lld",
        hex(&p->frame), hex(&p->previous_head), hex(&p->node), (long long)p->seq,
        hex(&p->frame_set_root), hex(&p->context_root), p->existed, p->head,
        (long long)p->ambiguous);
}

const char *desk_derived(valise_derived *m)
{
    const char *all = test_format(
        "made %lld unchanged %lld author %lld run %lld unknown %lld orphaned %lld out %lld missing "
        "%lld stale %lld frame %s root %s\n",
        (long long)m->made, (long long)m->unchanged, (long long)m->needs_author,
        (long long)m->needs_run, (long long)m->unknown, (long long)m->orphaned,
        (long long)m->out_of_scope, (long long)m->missing, (long long)m->stale, hex(&m->frame),
        hex(&m->context_root));

    for (size_t i = 0; i < m->count; i++)
        all = test_format("%s%s %s %lld %s %s %s\n", all, text(m->items[i]->path),
                          text(m->items[i]->type), (long long)m->items[i]->outcome,
                          hex(&m->items[i]->before), hex(&m->items[i]->after),
                          text(m->items[i]->why));
    valise_derived_free(m);
    return all;
}

const char *desk_error(const valise_error *err)
{
    return test_format("%s '%s' %s | %s", valise_error_name(err->code), err->path, err->message,
                       err->hint);
}
