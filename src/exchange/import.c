/* import.c -- see import.h. */
#include "exchange/import.h"

#include <sys/stat.h>

#include "base/fd.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "exchange/split.h"

#define ARENA_MAX ((size_t)3 << 30)

const char *const vls_import_formats[] = {"auto", "chatgpt", "claude-code", "openai", NULL};

/* A record of OpenAI's that came already; they have no ids, and a file may have one twice. */
typedef struct seen {
    valise_id hash;
    uint64_t count;
} seen;

/* One file. */
typedef struct reading_file {
    vls_importing *i;
    vls_loading loading;
    vls_translation r;
    vls_arena arena; /* of one conversation */
    int64_t format;  /* AUTO: not known yet */
    vls_claude *claude;
    vls_map seen;
    bool some;  /* there was a record */
    bool piece; /* or something in the place of one */
    int fd;
    valise_str left; /* of `data` */
} reading_file;

/* ---- conversations ---- */

static int tell(vls_importing *i, const vls_foreign *f, const vls_loaded *loaded, valise_error *err)
{
    vls_imported_session one = {.id = f->id, .turns = loaded->turns, .existed = !loaded->session};
    valise_str label = i->label.ptr ? i->label : f->label;
    int rc = 0;

    if (i->told.len >= VLS_IMPORT_TOLD || loaded->turns == 0)
        return 0;
    if (label.len > 0)
        rc = vls_arena_dup(&one.label, i->kept, label, err);
    if (rc < 0)
        return rc;
    return vls_vec_push_in(&i->told, i->kept, one) ? 0 : vls_arena_fail(i->kept, err);
}

static bool is_its_fault(int rc)
{
    return rc == VALISE_E_INVALID || rc == VALISE_E_LIMIT || rc == VALISE_E_TOO_LARGE;
}

static int take(reading_file *f, vls_foreign *foreign, valise_error *err)
{
    vls_loaded loaded = {.turns = 0};
    vls_importing *i = f->i;
    int rc = vls_load(&loaded, &f->loading, foreign, err);

    i->conversations++;
    if (is_its_fault(rc) && !i->notes.strict) {
        char why[sizeof(err->message)];
        (void)snprintf(why, sizeof(why), "%s", err->message);
        vls_error_clear(err);
        return vls_notes_problem(&i->notes, f->r.line, f->r.offset, err,
                                 "the conversation '%.80s' cannot be imported: %s",
                                 vls_text_short(foreign->name).s, why);
    }
    if (rc < 0)
        return rc;
    i->sessions += loaded.session;
    i->turns += loaded.turns;
    i->there += loaded.there;
    i->deleted += loaded.deleted;
    i->blobs += loaded.blobs;
    rc = tell(i, foreign, &loaded, err);
    return rc < 0 ? rc : valise_job_step(i->job, 1, err);
}

/* ---- records ---- */

static bool has_hash(const void *item, const void *key)
{
    return vls_id_equal(&((const seen *)item)->hash, key);
}

/* How many equal ones came before it. */
static int count_seen(uint64_t *out, reading_file *f, const valise_id *hash, valise_error *err)
{
    uint64_t key;
    seen *one;

    memcpy(&key, hash->bytes, sizeof(key));
    one = vls_map_get(&f->seen, key, hash);
    if (!one) {
        one = vls_arena_zalloc(f->i->kept, sizeof(*one));
        if (!one)
            return vls_arena_fail(f->i->kept, err);
        one->hash = *hash;
        if (vls_map_put(NULL, &f->seen, key, hash, one) < 0)
            return vls_fail_memory(err);
    }
    *out = one->count++;
    return 0;
}

static int read_openai(reading_file *f, vls_json record, valise_error *err)
{
    vls_foreign foreign;
    valise_str text;
    valise_id hash;
    uint64_t nth = 0;
    int rc = vls_json_text(&text, &f->arena, record, err);

    if (rc < 0)
        return rc;
    vls_hash_bytes(&hash, text);
    rc = count_seen(&nth, f, &hash, err);
    if (rc == 0)
        rc = vls_openai_read(&foreign, &f->r, record, &hash, nth, err);
    return rc <= 0 ? rc : take(f, &foreign, err);
}

static int read_chatgpt(reading_file *f, vls_json record, valise_error *err)
{
    vls_foreign foreign;
    int rc = vls_chatgpt_read(&foreign, &f->r, record, err);

    return rc <= 0 ? rc : take(f, &foreign, err);
}

static int64_t format_of(vls_json record)
{
    if (vls_member_of(record, "mapping").type == VLS_JSON_OBJECT)
        return VLS_FORMAT_CHATGPT;
    if (vls_member_of(record, "messages").type == VLS_JSON_ARRAY)
        return VLS_FORMAT_OPENAI;
    if (vls_text_of(record, "type").ptr)
        return VLS_FORMAT_CLAUDE_CODE;
    return VLS_FORMAT_AUTO;
}

static int read_record(reading_file *f, valise_str text, vls_json record, valise_error *err)
{
    int rc = 0;

    if (f->format == VLS_FORMAT_AUTO)
        f->format = format_of(record);
    switch (f->format) {
    case VLS_FORMAT_CHATGPT:
        return read_chatgpt(f, record, err);
    case VLS_FORMAT_OPENAI:
        return read_openai(f, record, err);
    case VLS_FORMAT_CLAUDE_CODE:
        if (!f->claude)
            rc = vls_claude_begin(&f->claude, &f->r, err);
        return rc < 0 ? rc : vls_claude_line(f->claude, text, record, err);
    default:
        return vls_notes_problem(&f->i->notes, f->r.line, f->r.offset, err,
                                 "this is not a record of a known format");
    }
}

/* ---- pieces ---- */

static int note_piece(reading_file *f, const vls_split_piece *piece, valise_error *err)
{
    static const char *const what[] = {
        [VLS_PIECE_CUT] = "the file ends in the middle of it",
        [VLS_PIECE_TOO_LARGE] = "it is too large",
        [VLS_PIECE_STRAY] = "this is not JSON",
    };

    return vls_notes_problem(&f->i->notes, piece->line, piece->offset, err, "%s",
                             what[piece->what]);
}

/* The last line of a file that is being written is no problem. */
static int note_bad(reading_file *f, const vls_split_piece *piece, valise_error *err)
{
    char why[sizeof(err->message)];
    uint64_t at = piece->offset + (err->offset > 0 ? (uint64_t)err->offset : 0);

    (void)snprintf(why, sizeof(why), "%s", err->message);
    vls_error_clear(err);
    if (piece->what == VLS_PIECE_LAST && f->some && !f->i->notes.strict)
        return vls_notes_problem(&f->i->notes, piece->line, at, err,
                                 "the last line is incomplete: %s", why);
    return vls_notes_problem(&f->i->notes, piece->line, at, err, "%s", why);
}

static int read_piece(reading_file *f, const vls_split_piece *piece, valise_error *err)
{
    vls_json record;
    valise_str text = piece->text;
    int rc = 0;

    f->piece = true;
    f->r.line = piece->line;
    f->r.offset = piece->offset;
    if (piece->what > VLS_PIECE_LAST)
        return note_piece(f, piece, err);
    if (!f->claude && f->format != VLS_FORMAT_CLAUDE_CODE)
        vls_arena_reset(&f->arena);
    if (f->claude || f->format == VLS_FORMAT_AUTO || f->format == VLS_FORMAT_CLAUDE_CODE)
        rc = vls_arena_dup(&text, &f->arena, text, err); /* the line itself is kept */
    if (rc == 0)
        rc = vls_foreign_parse(&record, &f->r, text, err);
    if (is_its_fault(rc))
        return note_bad(f, piece, err);
    if (rc < 0)
        return rc;
    f->some = true;
    f->r.text = text;
    rc = read_record(f, text, record, err);
    return rc == VALISE_E_LIMIT || rc == VALISE_E_TOO_LARGE ? note_bad(f, piece, err) : rc;
}

/* ---- files ---- */

static int read_bytes(size_t *len, void *arg, void *room, size_t size, valise_error *err)
{
    reading_file *f = arg;
    ssize_t got;

    if (f->fd < 0) {
        *len = VLS_MIN(size, f->left.len);
        if (*len > 0)
            memcpy(room, f->left.ptr, *len);
        f->left = vls_str_from(f->left, *len);
        return 0;
    }
    got = vls_fd_read(f->fd, room, size);
    if (got < 0)
        return vls_fail_errno(err, "cannot read", valise_str_of(f->i->input->path));
    *len = (size_t)got;
    return 0;
}

/* One file of a folder that cannot be read does not keep the others out. */
static int note_file(vls_importing *i, valise_error *err)
{
    char why[sizeof(err->message)];

    (void)snprintf(why, sizeof(why), "%s", err->message);
    vls_error_clear(err);
    return vls_notes_problem(&i->notes, 0, 0, err, "%s", why);
}

static int end_claude(reading_file *f, valise_error *err)
{
    vls_foreign *all = NULL;
    size_t count = 0;
    int rc = f->claude ? vls_claude_finish(&all, &count, f->claude, err) : 0;

    if (rc == VALISE_E_LIMIT || rc == VALISE_E_TOO_LARGE)
        return note_file(f->i, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = take(f, &all[i], err);
    return rc;
}

/* Where nothing could be read, what was wrong with the first of it says more. */
static int refuse_format(const vls_notes *notes, valise_error *err)
{
    const vls_note_problem *first = notes->problems.ptr;

    if (notes->problems.len > 0)
        (void)vls_fail(err, VALISE_E_INVALID,
                       "this is not a file of a known format (line %lld, byte %lld: %.*s)",
                       (long long)first->line, (long long)first->offset,
                       VALISE_STR_ARG(first->message));
    else
        (void)vls_fail(err, VALISE_E_INVALID, "this is not a file of a known format");
    vls_hint(err, "known formats: conversations.json of ChatGPT, sessions of Claude Code, OpenAI's "
                  "messages as JSONL; bundles are for 'valise import'");
    return VALISE_E_INVALID;
}

/* Files that hold others are known by their first bytes. */
static int refuse_packed(const vls_splitter *s, valise_error *err)
{
    if (s->len >= 4 && memcmp(s->room, "PK\x03\x04", 4) == 0) {
        (void)vls_fail(err, VALISE_E_UNSUPPORTED, "this is a zip file");
        vls_hint(err, "unpack it, and give the folder");
        return VALISE_E_UNSUPPORTED;
    }
    if (s->len >= 2 && memcmp(s->room, "\x1F\x8B", 2) == 0) {
        (void)vls_fail(err, VALISE_E_UNSUPPORTED, "this is packed with gzip");
        vls_hint(err, "unpack it first: gzip -d");
        return VALISE_E_UNSUPPORTED;
    }
    return 0;
}

static int read_pieces(reading_file *f, vls_splitter *s, valise_error *err)
{
    vls_split_piece piece;
    int rc = vls_split_begin(s, f->i->env, read_bytes, f, VLS_CONVERSATION_MAX, err);

    if (rc == 0)
        rc = refuse_packed(s, err);
    if (rc == VALISE_E_UNSUPPORTED && f->i->notes.file.ptr)
        return note_file(f->i, err);
    while (rc >= 0 && (rc = vls_split_next(&piece, s, err)) > 0)
        rc = read_piece(f, &piece, err);
    if (rc == 0)
        rc = end_claude(f, err);
    if (rc == 0 && f->format == VLS_FORMAT_AUTO && f->piece && !f->i->notes.file.ptr)
        rc = refuse_format(&f->i->notes, err);
    return rc;
}

static int find_asset(void *self, vls_foreign_blob *out, valise_str id, valise_error *err)
{
    reading_file *f = self;

    return vls_input_asset(f->i->input, out, &f->r, id, err);
}

static int read_file(vls_importing *i, int fd, bool dry, valise_error *err)
{
    reading_file f = {.i = i, .format = i->format, .fd = fd, .left = i->data};
    vls_splitter *s;
    int rc;

    vls_arena_init(&f.arena, i->env, ARENA_MAX);
    vls_map_init(&f.seen, i->env, has_hash);
    f.r = (vls_translation){.env = i->env,
                            .arena = &f.arena,
                            .notes = &i->notes,
                            .asset = i->input ? find_asset : NULL,
                            .self = &f};
    f.loading = (vls_loading){.job = i->job,
                              .r = &f.r,
                              .label = i->label,
                              .role = i->role,
                              .topics = i->topics,
                              .dry = dry};
    s = vls_mem_zalloc(i->env, sizeof(*s)); /* not in `kept`: a folder may have many files */
    rc = s ? read_pieces(&f, s, err) : vls_fail_memory(err);
    if (s)
        vls_split_end(s);
    vls_mem_free(i->env, s, sizeof(*s));
    vls_map_release(&f.seen);
    vls_arena_release(&f.arena);
    return rc;
}

/* A pipe is gone when it was read. */
static int check_twice(int fd, valise_error *err)
{
    struct stat st;

    if (fstat(fd, &st) < 0 || S_ISREG(st.st_mode))
        return 0;
    (void)vls_fail(err, VALISE_E_UNSUPPORTED,
                   "with `strict` the file is read twice, which a pipe does not allow");
    vls_hint(err, "write it to a file first");
    return VALISE_E_UNSUPPORTED;
}

static int read_files(vls_importing *i, bool dry, valise_error *err)
{
    int rc = 0;

    if (!i->input)
        return read_file(i, -1, dry, err);
    for (size_t n = 0; rc == 0 && n < vls_input_count(i->input); n++) {
        VLS_AUTO(fd) int fd = -1;
        rc = vls_input_file(&fd, &i->notes.file, i->input, n, err);
        if (rc < 0 && i->input->folder) {
            rc = note_file(i, err);
            continue;
        }
        if (rc == 0 && i->notes.strict)
            rc = check_twice(fd, err);
        if (rc == 0)
            rc = read_file(i, fd, dry, err);
    }
    return rc;
}

int vls_import_run(vls_importing *i, bool dry, valise_error *err)
{
    valise_error own = VALISE_ERROR_INIT; /* what is wrong with a record is told, whoever asks */

    err = err ? err : &own;
    valise_job_stage(i->job, dry ? "check" : "import", "conversations", 0);
    return read_files(i, dry, err);
}
