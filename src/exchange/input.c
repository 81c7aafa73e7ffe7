/* input.c -- see input.h. */
#include "exchange/input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/utf8.h"

/* ---- what is in a folder ---- */

static int add_name(vls_input *input, valise_str prefix, const char *name, valise_error *err)
{
    valise_str kept;
    vls_buf text;
    int rc;

    vls_buf_init_in(&text, input->arena, 65536);
    vls_buf_add(&text, prefix);
    vls_buf_add_text(&text, name);
    rc = vls_buf_keep(&kept, &text, err);
    if (rc < 0)
        return rc;
    return vls_vec_push_in(&input->names, input->arena, kept) ? 0
                                                              : vls_arena_fail(input->arena, err);
}

static int list(vls_input *input, int parent, const char *name, valise_str prefix, unsigned depth,
                valise_error *err);

static int list_within(vls_input *input, int fd, const char *name, valise_str prefix,
                       unsigned depth, valise_error *err)
{
    valise_str longer;
    vls_buf text;
    int rc;

    vls_buf_init_in(&text, input->arena, 65536);
    vls_buf_add(&text, prefix);
    vls_buf_add_text(&text, name);
    vls_buf_add_byte(&text, '/');
    rc = vls_buf_keep(&longer, &text, err);
    return rc < 0 ? rc : list(input, fd, name, longer, depth + 1, err);
}

static int list_entry(vls_input *input, int fd, const char *name, valise_str prefix, unsigned depth,
                      valise_error *err)
{
    struct stat st;

    if (name[0] == '.' || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    if (S_ISDIR(st.st_mode) && depth < VLS_INPUT_DEPTH)
        return list_within(input, fd, name, prefix, depth, err);
    if (!S_ISREG(st.st_mode))
        return 0;
    if (input->names.len >= VLS_INPUT_FILES_MAX && !input->folder)
        return 0; /* it may be among those that were found */
    if (input->names.len >= VLS_INPUT_FILES_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "there are more than %u files in '%s'",
                        VLS_INPUT_FILES_MAX, input->path);
    return add_name(input, prefix, name, err);
}

static int list(vls_input *input, int parent, const char *name, valise_str prefix, unsigned depth,
                valise_error *err)
{
    int fd = vls_fd_open_at(parent, name, O_RDONLY | O_DIRECTORY | (depth > 0 ? O_NOFOLLOW : 0), 0);
    struct dirent *entry;
    DIR *folder;
    int rc = 0;

    if (fd < 0)
        return depth > 0 ? 0 : vls_fail_errno(err, "cannot open", valise_str_of(name));
    folder = fdopendir(fd);
    if (!folder) {
        (void)vls_fd_close(fd);
        return vls_fail_memory(err);
    }
    while (rc == 0 && (entry = vls_fd_next_entry(folder)))
        rc = list_entry(input, fd, entry->d_name, prefix, depth, err);
    (void)closedir(folder);
    return rc;
}

static int list_all(vls_input *input, const char *folder, valise_error *err)
{
    int rc = list(input, AT_FDCWD, folder, (valise_str){"", 0}, 0, err);

    if (rc == 0 && input->names.len > 1)
        qsort(input->names.ptr, input->names.len, sizeof(*input->names.ptr), vls_str_order);
    input->listed = rc == 0;
    return rc;
}

/* ---- what is read ---- */

static valise_str base_name(valise_str name)
{
    for (size_t at = name.len; at-- > 0;)
        if (name.ptr[at] == '/')
            return vls_str_from(name, at + 1);
    return name;
}

/* conversations.json, and conversations-001.json where an export is split. */
static bool is_export(valise_str name)
{
    name = base_name(name);
    return vls_str_starts(name, VLS_STR("conversations")) && vls_str_ends(name, VLS_STR(".json"));
}

static int choose(vls_input *input, bool (*fits)(valise_str name), valise_error *err)
{
    for (size_t i = 0; i < input->names.len; i++)
        if (fits(input->names.ptr[i]) &&
            !vls_vec_push_in(&input->chosen, input->arena, input->names.ptr[i]))
            return vls_arena_fail(input->arena, err);
    return 0;
}

static bool is_jsonl(valise_str name)
{
    return vls_str_ends(name, VLS_STR(".jsonl"));
}

static int choose_all(vls_input *input, valise_error *err)
{
    int rc = choose(input, is_export, err);

    if (rc == 0 && input->chosen.len == 0)
        rc = choose(input, is_jsonl, err);
    if (rc < 0 || input->chosen.len > 0)
        return rc;
    (void)vls_fail(err, VALISE_E_INVALID,
                   "there is nothing to import in '%s': neither conversations.json nor *.jsonl",
                   input->path);
    vls_hint(err, "give the folder of an unpacked export, or a file");
    return VALISE_E_INVALID;
}

int vls_input_open(vls_input *out, vls_arena *arena, const char *path, valise_error *err)
{
    struct stat st;
    int rc;

    *out = (vls_input){.arena = arena, .path = path};
    if (stat(path, &st) < 0)
        return vls_fail_errno(err, "cannot open", valise_str_of(path));
    out->folder = S_ISDIR(st.st_mode);
    if (!out->folder)
        return 0;
    rc = list_all(out, path, err);
    return rc < 0 ? rc : choose_all(out, err);
}

size_t vls_input_count(const vls_input *input)
{
    return input->folder ? input->chosen.len : 1;
}

/* A file of the folder, by steps that follow no link. */
static int open_within(const char *folder, valise_str name)
{
    VLS_AUTO(fd) int at = vls_fd_open_at(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY, 0);
    valise_str step;
    char room[256];

    while (at >= 0 && vls_str_cut(&step, &name, name, '/')) {
        int next;
        if (step.len >= sizeof(room))
            return -1;
        memcpy(room, step.ptr, step.len);
        room[step.len] = '\0';
        next = vls_fd_open_at(at, room, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
        (void)vls_fd_close(at);
        at = next;
    }
    if (at < 0 || step.len >= sizeof(room))
        return -1;
    memcpy(room, step.ptr, step.len);
    room[step.len] = '\0';
    return vls_fd_open_at(at, room, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
}

int vls_input_file(int *fd, valise_str *name, const vls_input *input, size_t n, valise_error *err)
{
    int opened;

    *name = (valise_str){NULL, 0};
    if (!input->folder) {
        opened = vls_fd_open_at(AT_FDCWD, input->path, O_RDONLY, 0);
        if (opened < 0)
            return vls_fail_errno(err, "cannot open", valise_str_of(input->path));
    } else {
        *name = input->chosen.ptr[n];
        opened = open_within(input->path, *name);
        if (opened < 0)
            return vls_fail_errno(err, "cannot open", *name);
    }
    *fd = opened;
    return 0;
}

/* ---- images ---- */

/* "file-ABC" is "file-ABC.png" and "file-ABC-photo.png", not "file-ABCD.png". */
static bool is_named(valise_str name, valise_str id)
{
    valise_str base = base_name(name);

    return base.ptr && id.ptr && vls_str_starts(base, id) &&
           (base.len == id.len || base.ptr[id.len] == '.' || base.ptr[id.len] == '-');
}

static int folder_of(valise_str *out, const vls_input *input, valise_error *err)
{
    valise_str path = valise_str_of(input->path);
    valise_str name = base_name(path);

    path.len -= name.len;
    if (input->folder)
        path = valise_str_of(input->path);
    return vls_arena_dup(out, input->arena, path.len > 0 ? path : VLS_STR("."), err);
}

static int read_asset(vls_foreign_blob *out, vls_translation *r, int fd, valise_str name,
                      valise_error *err)
{
    VLS_AUTO(fd) int file = fd;
    struct stat st;
    vls_buf bytes;
    int rc;

    if (file < 0 || fstat(file, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
        return 0;
    if ((uint64_t)st.st_size > VLS_ASSET_MAX)
        return vls_notes_problem(r->notes, r->line, r->offset, err,
                                 "the file '%.200s' is too large for an image", name.ptr);
    vls_buf_init_in(&bytes, r->arena, VLS_ASSET_MAX);
    for (;;) {
        char *room = vls_buf_reserve(&bytes, 65536);
        ssize_t got = room ? vls_fd_read(file, room, 65536) : 0;
        if (got < 0) /* half an image is none */
            return vls_notes_problem(r->notes, r->line, r->offset, err,
                                     "the file '%.200s' cannot be read", name.ptr);
        if (got == 0)
            break;
        vls_buf_advance(&bytes, (size_t)got);
    }
    rc = vls_buf_keep(&out->bytes, &bytes, err);
    if (rc < 0)
        return rc;
    vls_hash_bytes(&out->id, out->bytes);
    return 1;
}

int vls_input_asset(vls_input *input, vls_foreign_blob *out, vls_translation *r, valise_str id,
                    valise_error *err)
{
    valise_str folder = {NULL, 0};
    int rc = folder_of(&folder, input, err);

    if (rc == 0 && !input->listed)
        rc = list_all(input, folder.ptr, err);
    for (size_t i = 0; rc == 0 && i < input->names.len; i++) {
        valise_str name = input->names.ptr[i];
        if (!is_named(name, id))
            continue;
        *out = (vls_foreign_blob){.filename = {NULL, 0}};
        if (vls_utf8_valid(base_name(name)))
            out->filename = base_name(name);
        return read_asset(out, r, open_within(folder.ptr, name), name, err);
    }
    return rc;
}
