/* load.c -- see load.h. */
#include "flow/load.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/sealed.h"
#include "base/text.h"

static int read_sealed(valise_str *out, vls_arena *arena, const vls_sealed *sealed,
                       const char *path, valise_error *err)
{
    struct stat st;
    char *room;
    size_t len = 0;

    if (fstat(sealed->fd, &st) < 0)
        return vls_fail_errno(err, "cannot read", valise_str_of(path));
    if ((uintmax_t)st.st_size > VLS_FLOW_CONFIG_MAX)
        return vls_fail(err, VALISE_E_TOO_LARGE, "%s has %lld bytes: a flow has at most %zu", path,
                        (long long)st.st_size, VLS_FLOW_CONFIG_MAX);
    room = vls_arena_alloc(arena, (size_t)st.st_size + 1);
    if (!room)
        return vls_arena_fail(arena, err);
    while (len < (size_t)st.st_size) {
        ssize_t got = pread(sealed->fd, room + len, (size_t)st.st_size - len, (off_t)len);

        if (vls_fd_again(got))
            continue;
        if (got < 0)
            return vls_fail_errno(err, "cannot read", valise_str_of(path));
        if (got == 0) /* a sealed copy does not shrink */
            break;
        len += (size_t)got;
    }
    *out = (valise_str){room, len};
    return 0;
}

static int name_parts(vls_flow_text *out, vls_arena *arena, const char *path, valise_error *err)
{
    valise_str all = valise_str_of(path), name;
    size_t slash = all.len;

    while (slash > 0 && all.ptr[slash - 1] != '/')
        slash--;
    name = vls_str_from(all, slash);
    for (size_t i = name.len; i > 1; i--) {
        if (name.ptr[i - 1] == '.') {
            name.len = i - 1;
            break;
        }
    }
    if (vls_arena_dup(&out->name, arena, name, err) < 0 ||
        vls_arena_dup(&out->file, arena, all, err) < 0)
        return vls_arena_fail(arena, err);
    return vls_arena_dup(&out->folder, arena, vls_str_head(all, VLS_MAX(slash, 2) - 1), err);
}

/* What was named on the command line may have any bytes, also these, which no file has. */
static bool is_named(const valise *v, const char *path)
{
    const valise_id none = {{0}};

    return v->place.may_run(v, path, &none, NULL) == 0;
}

static void ask(vls_flow_text *text, const valise *v, const char *path, const valise_id *id)
{
    text->programs = v->place.may_run && v->place.may_run(v, path, id, &text->untrusted) == 0;
    text->by_bytes = text->programs && !is_named(v, path);
}

int vls_flow_text_read(vls_flow_text *out, vls_arena *arena, const valise *v, valise_str file,
                       valise_error *err)
{
    VLS_AUTO(sealed) vls_sealed sealed = {.fd = -1};
    vls_flow_text made = {.untrusted = VALISE_ERROR_INIT};
    char real[PATH_MAX];
    const char *path;
    int rc = vls_path_text(&path, arena, file, err);

    if (rc < 0)
        return rc;
    if (!realpath(path, real))
        return vls_fail_errno(err, "cannot read", file);
    rc = vls_sealed_open(&sealed, real, err);
    if (rc == 0)
        rc = read_sealed(&made.text, arena, &sealed, real, err);
    if (rc == 0)
        rc = name_parts(&made, arena, real, err);
    if (rc < 0)
        return rc;
    ask(&made, v, real, &sealed.id);
    *out = made;
    return 0;
}

int vls_flow_text_place(vls_flow_text *text, vls_arena *arena, valise_str file, valise_error *err)
{
    vls_flow_text made = {.untrusted = VALISE_ERROR_INIT};
    valise_str path;
    int rc = vls_arena_dup(&path, arena, file, err);

    if (rc == 0)
        rc = name_parts(&made, arena, path.ptr, err);
    if (rc == 0)
        text->folder = made.folder;
    return rc;
}

void vls_flow_text_change(vls_flow_text *text, const valise *v, valise_str changed)
{
    valise_id id;

    if (text->programs) {
        vls_hash_bytes(&id, changed);
        ask(text, v, text->file.ptr, &id);
    }
    text->text = changed;
}

int vls_flow_text_given(vls_flow_text *out, vls_arena *arena, const valise *v, valise_str file,
                        valise_str flow, valise_error *err)
{
    if (!file.ptr == !flow.ptr) {
        (void)vls_fail(err, VALISE_E_INVALID, "%s",
                       file.ptr ? "either a file or the flow itself, not both" : "no flow given");
        vls_hint(err, "give the file of a flow");
        return VALISE_E_INVALID;
    }
    if (file.ptr)
        return vls_flow_text_read(out, arena, v, file, err);
    *out = (vls_flow_text){.text = flow, .untrusted = VALISE_ERROR_INIT};
    return 0;
}

int vls_flow_load(valise_flow **out, valise *v, const vls_flow_text *text, valise_error *err)
{
    valise_flow_options options = VALISE_FLOW_OPTIONS_INIT;
    int rc;

    options.flags = text->programs ? VALISE_FLOW_PROGRAMS : 0;
    options.folder = text->folder.ptr;
    rc = valise_flow_from_config(out, v, text->text, NULL, &options, err);
    if (rc == 0)
        (*out)->by_bytes = text->by_bytes;
    return rc;
}
