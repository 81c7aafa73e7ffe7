/* receive.c -- see receive.h. */
#include "blob/receive.h"

#include "base/base64.h"
#include "base/fd.h"
#include "base/hex.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "blob/put.h"
#include "bus/command.h"
#include "json/json.h"

/* ---- tables ---- */

static const valise_field told_fields[] = {
    VALISE_FIELD(vls_blob_told, sha256, ID, VALISE_REQUIRED, "SHA-256 of its bytes."),
    VALISE_FIELD_WITH(vls_blob_told, size, INT, VALISE_REQUIRED, "Its size in bytes.", .min = 0,
                      .max = INT64_MAX),
    VALISE_FIELD_AS_WITH(vls_blob_told, media_type, "mediaType", STR, VALISE_NULLABLE,
                         "Its media type.", .max = VLS_BLOB_MEDIA_TYPE_MAX),
    VALISE_FIELD_WITH(vls_blob_told, filename, STR, VALISE_NULLABLE, "Its file name.",
                      .max = VLS_BLOB_FILENAME_MAX),
    VALISE_FIELD_END,
};

static const valise_struct told_struct = {sizeof(vls_blob_told), told_fields};

const valise_field vls_blob_told_item = {
    .name = "blob", .help = "A blob.", .type = VALISE_T_STRUCT, .more = &told_struct};

const valise_field vls_blob_file_item = {
    .name = "file", .help = "A file.", .type = VALISE_T_PATH, .min = 1, .max = 4000};

/* ---- one by one ---- */

typedef struct receiving {
    valise_prepare *prepare;
    const void *args;
    vls_arena *arena;
    bool asked; /* the actor may */
    vls_vec(vls_blob_told *) told;
} receiving;

static int begin(receiving *r, valise_prepare *prepare, const void *args, const valise_list *given,
                 valise_error *err)
{
    const vls_blob_told *const *items = given->items;

    *r = (receiving){.prepare = prepare, .args = args, .arena = vls_prepare_arena(prepare)};
    /* Middleware has the arguments received once more: what came along is in them already. */
    for (size_t i = 0; i < given->count; i++) {
        if (!vls_prepare_has_received(prepare, &items[i]->sha256))
            continue;
        vls_blob_told *copy = vls_arena_alloc(r->arena, sizeof(*copy));
        if (!copy)
            return vls_arena_fail(r->arena, err);
        *copy = *items[i];
        if (!vls_vec_push_in(&r->told, r->arena, copy))
            return vls_arena_fail(r->arena, err);
    }
    return 0;
}

static void finish(valise_list *blobs, const receiving *r)
{
    *blobs = (valise_list){r->told.len > 0 ? (const void *)r->told.ptr : NULL, r->told.len};
}

/* The same bytes twice in one command are told once, with what came first. */
static int tell(receiving *r, const vls_blob_told *told, valise_error *err)
{
    vls_blob_told *copy;

    for (size_t i = 0; i < r->told.len; i++) {
        if (vls_id_equal(&r->told.ptr[i]->sha256, &told->sha256))
            return 0;
    }
    if (r->told.len == VLS_BLOBS_TOLD_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "more than %d blobs come with one command",
                        VLS_BLOBS_TOLD_MAX);
    copy = vls_arena_alloc(r->arena, sizeof(*copy));
    if (!copy || !vls_vec_push_in(&r->told, r->arena, copy))
        return vls_arena_fail(r->arena, err);
    *copy = *told;
    return vls_prepare_received(r->prepare, &told->sha256, err);
}

/* Before the first file is looked at: may the actor run the command? */
static int ask(receiving *r, valise_error *err)
{
    int rc = r->asked ? 0 : vls_prepare_allowed(r->prepare, r->args, err);

    r->asked = r->asked || rc == 0;
    return rc;
}

static int put(vls_blob_told *out, receiving *r, valise_str bytes, int fd, valise_error *err)
{
    valise *v = valise_prepare_workspace(r->prepare);
    const vls_blob_input input = {.blobs = v->blobs,
                                  .only_hash = vls_prepare_is_dry_run(r->prepare),
                                  .bytes = bytes,
                                  .fd = fd};
    int rc = ask(r, err);

    if (rc == 0)
        rc = vls_blobs_need(v->blobs, err);
    return rc < 0 ? rc : vls_blob_put(out, &input, err);
}

static int put_file(vls_blob_told *out, receiving *r, valise_str path, valise_error *err)
{
    VLS_AUTO(fd) int fd = -1;
    valise_str name = vls_blob_name_of(path);
    int rc = ask(r, err);

    if (rc == 0)
        rc = vls_blob_open_file(&fd, path, err);
    if (rc >= 0)
        rc = put(out, r, (valise_str){NULL, 0}, fd, err);
    if (rc < 0)
        return rc;
    if (name.len > 0 && name.len <= VLS_BLOB_FILENAME_MAX && vls_utf8_valid(name))
        rc = vls_arena_dup(&out->filename, r->arena, name, err);
    return rc;
}

/* ---- blocks ---- */

static valise_str text_of(vls_json block, const char *name)
{
    const vls_json *value = vls_json_get(block, valise_str_of(name));

    return value && value->type == VLS_JSON_STRING ? vls_json_str(*value) : (valise_str){NULL, 0};
}

static bool is_type(vls_json block, const char *type)
{
    return vls_str_equal(text_of(block, "type"), valise_str_of(type));
}

static vls_member member(const char *name, valise_str text)
{
    return (vls_member){vls_json_string(valise_str_of(name)), vls_json_string(text)};
}

static int hex_in(valise_str *out, vls_arena *arena, const valise_id *id, valise_error *err)
{
    return vls_arena_dup(out, arena, valise_str_of(vls_id_hex(id).s), err);
}

/* The block with `blob` and `mediaType` in the place of `data`. */
static int without_data(vls_json *block, receiving *r, const vls_blob_told *told, valise_error *err)
{
    vls_member *members = vls_arena_array(r->arena, (size_t)block->len + 2, sizeof(*members));
    valise_str hex;
    size_t count = 0;
    int rc;

    if (!members)
        return vls_arena_fail(r->arena, err);
    for (uint32_t i = 0; i < block->len; i++) {
        if (!vls_str_equal(vls_json_str(block->members[i].key), VLS_STR("data")))
            members[count++] = block->members[i];
    }
    rc = hex_in(&hex, r->arena, &told->sha256, err);
    if (rc < 0)
        return rc;
    members[count++] = member("blob", hex);
    if (!vls_json_get(*block, VLS_STR("mediaType")))
        members[count++] = member("mediaType", told->media_type);
    return vls_json_object(block, members, count, err);
}

static int put_data(vls_blob_told *out, receiving *r, valise_str data, valise_error *err)
{
    const valise_env *env = valise_prepare_workspace(r->prepare)->env;
    VLS_AUTO(buf) vls_buf bytes = {0};
    int rc;

    vls_buf_init(&bytes, env, VLS_JSON_MAX_BYTES);
    rc = vls_base64_decode(&bytes, data, err);
    if (rc == 0 && vls_buf_str(&bytes).len == 0)
        rc = vls_fail(err, VALISE_E_INVALID, "it is empty");
    if (rc < 0) {
        vls_error_prepend(err, "data");
        return rc;
    }
    return put(out, r, vls_buf_str(&bytes), -1, err);
}

static int check_about(vls_json block, valise_error *err)
{
    const vls_json *type = vls_json_get(block, VLS_STR("mediaType"));

    if (vls_json_get(block, VLS_STR("blob")))
        return vls_fail(err, VALISE_E_INVALID, "it has both `data` and `blob`: give one of them");
    if (type && (type->type != VLS_JSON_STRING || type->len > VLS_BLOB_MEDIA_TYPE_MAX))
        return vls_fail(err, VALISE_E_INVALID, "its mediaType is not a string of at most %d bytes",
                        VLS_BLOB_MEDIA_TYPE_MAX);
    if (text_of(block, "filename").len > VLS_BLOB_FILENAME_MAX)
        return vls_fail(err, VALISE_E_INVALID, "its filename has more than %d bytes",
                        VLS_BLOB_FILENAME_MAX);
    return 0;
}

/* 1: *block is another one. */
static int receive_content(vls_json *block, receiving *r, valise_error *err)
{
    const vls_json *data = vls_json_get(*block, VLS_STR("data"));
    vls_blob_told told = {.size = 0};
    int rc;

    if (!data || (!is_type(*block, "image") && !is_type(*block, "document")))
        return 0;
    rc = check_about(*block, err);
    if (rc < 0)
        return rc;
    if (data->type != VLS_JSON_STRING)
        return vls_fail(err, VALISE_E_INVALID, "its data must be base64, not %s",
                        vls_json_type_name(*data));
    rc = put_data(&told, r, vls_json_str(*data), err);
    if (rc < 0)
        return rc;
    if (text_of(*block, "mediaType").ptr)
        told.media_type = text_of(*block, "mediaType");
    told.filename = text_of(*block, "filename");
    rc = tell(r, &told, err);
    if (rc == 0)
        rc = without_data(block, r, &told, err);
    return rc < 0 ? rc : 1;
}

static int receive_array(vls_json *array, receiving *r, bool nested, valise_error *err);

/* Images within a result. 1: *block is another one. */
static int receive_result(vls_json *block, receiving *r, valise_error *err)
{
    const vls_json *content = vls_json_get(*block, VLS_STR("content"));
    vls_member *members;
    vls_json inner;
    int rc;

    if (!content || content->type != VLS_JSON_ARRAY)
        return 0;
    inner = *content;
    rc = receive_array(&inner, r, true, err);
    if (rc < 0)
        vls_error_prepend(err, "content");
    if (rc <= 0)
        return rc;
    members = vls_arena_array(r->arena, block->len, sizeof(*members));
    if (!members)
        return vls_arena_fail(r->arena, err);
    memcpy(members, block->members, block->len * sizeof(*members));
    for (uint32_t i = 0; i < block->len; i++) {
        if (vls_str_equal(vls_json_str(members[i].key), VLS_STR("content")))
            members[i].value = inner;
    }
    rc = vls_json_object(block, members, block->len, err);
    return rc < 0 ? rc : 1;
}

static int receive_block(vls_json *block, receiving *r, bool nested, valise_error *err)
{
    if (!nested && is_type(*block, "tool_result"))
        return receive_result(block, r, err);
    return receive_content(block, r, err);
}

/* 1: *array is another one. */
static int receive_array(vls_json *array, receiving *r, bool nested, valise_error *err)
{
    vls_json *items = NULL;

    for (uint32_t i = 0; i < array->len; i++) {
        vls_json block = array->items[i];
        int rc = receive_block(&block, r, nested, err);
        if (rc < 0) {
            vls_error_prepend(err, "[%u]", (unsigned)i);
            return rc;
        }
        if (rc == 0)
            continue;
        if (!items) {
            items = vls_arena_array(r->arena, array->len, sizeof(*items));
            if (!items)
                return vls_arena_fail(r->arena, err);
            memcpy(items, array->items, array->len * sizeof(*items));
            *array = vls_json_array(items, array->len);
        }
        items[i] = block;
    }
    return items != NULL;
}

/* ---- files ---- */

static int block_of_file(vls_json *out, receiving *r, const vls_blob_told *told, valise_error *err)
{
    bool image = vls_str_starts(told->media_type, VLS_STR("image/"));
    vls_member *members = vls_arena_array(r->arena, 4, sizeof(*members));
    valise_str hex;
    size_t count = 0;
    int rc;

    if (!members)
        return vls_arena_fail(r->arena, err);
    rc = hex_in(&hex, r->arena, &told->sha256, err);
    if (rc < 0)
        return rc;
    members[count++] = member("type", image ? VLS_STR("image") : VLS_STR("document"));
    members[count++] = member("blob", hex);
    members[count++] = member("mediaType", told->media_type);
    if (told->filename.ptr)
        members[count++] = member("filename", told->filename);
    return vls_json_object(out, members, count, err);
}

/* Append a block for each. */
static int add_files(vls_json *array, receiving *r, const valise_list *files, valise_error *err)
{
    const valise_str *paths = files->items;
    vls_json *items = vls_arena_array(r->arena, array->len + files->count, sizeof(*items));

    if (!items)
        return vls_arena_fail(r->arena, err);
    if (array->len > 0)
        memcpy(items, array->items, array->len * sizeof(*items));
    for (size_t i = 0; i < files->count; i++) {
        vls_blob_told told = {.size = 0};
        int rc = put_file(&told, r, paths[i], err);
        if (rc == 0)
            rc = tell(r, &told, err);
        if (rc == 0)
            rc = block_of_file(&items[array->len + i], r, &told, err);
        if (rc < 0) {
            vls_error_prepend(err, "attach[%zu]", i);
            return rc;
        }
    }
    *array = vls_json_array(items, array->len + files->count);
    return 0;
}

/* ---- all of it ---- */

/* Nothing to look for: most turns are texts. */
static bool has_no_data(valise_str json)
{
    return vls_str_find(json, VLS_STR("\"data\"")) == json.len &&
           vls_str_find(json, VLS_STR("\\u")) == json.len;
}

static int receive_all(valise_str *blocks, receiving *r, const valise_list *files,
                       valise_error *err)
{
    vls_json array = vls_json_array(NULL, 0);
    vls_buf text;
    int rc = 0, changed;

    if (blocks->ptr)
        rc = vls_json_parse(&array, r->arena, *blocks, NULL, err);
    if (rc < 0 || array.type != VLS_JSON_ARRAY)
        return rc;
    rc = changed = receive_array(&array, r, false, err);
    if (rc < 0)
        vls_error_prepend(err, "blocks");
    if (rc >= 0 && files->count > 0)
        rc = add_files(&array, r, files, err);
    if (rc < 0 || (!changed && files->count == 0))
        return vls_settle(rc);
    vls_buf_init_in(&text, r->arena, VLS_JSON_MAX_BYTES);
    rc = vls_json_write(&text, array, err);
    return rc < 0 ? rc : vls_buf_keep(blocks, &text, err);
}

int vls_blob_receive(valise_str *blocks, valise_list *blobs, valise_prepare *prepare,
                     const void *args, valise_list *files, valise_error *err)
{
    static const valise_list none;
    receiving r;
    int rc = begin(&r, prepare, args, blobs, err);

    if (rc < 0)
        return rc;
    if (!blocks->ptr || !has_no_data(*blocks) || (files && files->count > 0))
        rc = receive_all(blocks, &r, files ? files : &none, err);
    if (rc < 0)
        return rc;
    finish(blobs, &r);
    if (files)
        *files = none;
    return 0;
}

int vls_blob_receive_one(valise_id *out, valise_list *blobs, valise_prepare *prepare,
                         const void *args, valise_str bytes, valise_str file, valise_str media_type,
                         valise_str filename, valise_error *err)
{
    vls_blob_told told = {.size = 0};
    receiving r;
    int rc = begin(&r, prepare, args, blobs, err);

    if (rc == 0)
        rc = bytes.ptr ? put(&told, &r, bytes, -1, err) : put_file(&told, &r, file, err);
    if (rc < 0)
        return rc;
    if (media_type.ptr)
        told.media_type = media_type;
    if (filename.ptr)
        told.filename = filename;
    rc = tell(&r, &told, err);
    if (rc < 0)
        return rc;
    *out = told.sha256;
    finish(blobs, &r);
    return 0;
}

vls_blob_about vls_blob_told_of(const valise_list *blobs, const valise_id *id)
{
    const vls_blob_told *const *items = blobs->items;

    for (size_t i = 0; i < blobs->count; i++) {
        if (vls_id_equal(&items[i]->sha256, id))
            return (vls_blob_about){items[i]->size, items[i]->media_type, items[i]->filename};
    }
    return (vls_blob_about){.size = VALISE_NONE};
}
