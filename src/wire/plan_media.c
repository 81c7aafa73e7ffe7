/* plan_media.c -- images and documents: where a provider takes them, and what stands for them where
 * it does not. [P4] [P13]
 *
 * A line of text says what is missing, so that the model knows. What is moved leaves such a line,
 * too: in a result it may have been all there was. */
#include "base/hex.h"
#include "base/utf8.h"
#include "wire/plan_impl.h"

#define LINE_MAX 512u

static const char *kind_name(const vls_plan_block *block)
{
    return block->kind == VLS_SAID_IMAGE ? "image" : "document";
}

void vls_media_block(vls_plan_block *out, vls_json source)
{
    const vls_json *size = vls_block_member(source, VLS_STR("size"));
    valise_str blob = vls_block_text(source, "blob");

    out->kind = vls_block_kind_of(source) == VLS_BLOCK_IMAGE ? VLS_SAID_IMAGE : VLS_SAID_DOCUMENT;
    out->source = source;
    out->name = vls_block_text(source, "filename");
    out->media = vls_block_text(source, "mediaType");
    out->file = vls_block_text(source, "fileId");
    out->size = size && size->type == VLS_JSON_INT ? size->integer : VLS_SIZE_UNKNOWN;
    if (vls_id_parse(&out->blob, blob, NULL) < 0)
        out->blob = (valise_id){{0}};
}

static bool is_listed(const char *const *types, valise_str type)
{
    for (size_t i = 0; types[i]; i++) {
        if (vls_str_equal(type, valise_str_of(types[i])))
            return true;
    }
    return false;
}

/* What is with the provider already is of a type that it took. */
static bool takes_type(const char *const *types, const vls_plan_block *block)
{
    if (block->media.len == 0)
        return block->file.len > 0;
    return !types || is_listed(types, block->media);
}

const char *vls_media_rule(const vls_adapter *adapter, const vls_plan_block *block, uint32_t place)
{
    const vls_media *media = &adapter->media;
    bool image = block->kind == VLS_SAID_IMAGE;
    uint32_t places = image ? media->images : media->documents;
    int64_t most = image ? media->max_image : media->max_document;

    if (places == 0 || !takes_type(image ? media->image_types : media->document_types, block))
        return VLS_R_MEDIA_TYPE;
    if (most > 0 && block->file.len == 0 && block->size > most)
        return VLS_R_MEDIA_SIZE;
    return places & place ? NULL : VLS_R_MEDIA_PLACE;
}

/* "[image a.png (image/png): why]". */
static int make_line(vls_plan_block *out, vls_planning *p, const vls_plan_block *block,
                     const char *why)
{
    vls_buf line;
    valise_str name = vls_utf8_head(block->name, 200), type = vls_utf8_head(block->media, 100);
    valise_str text = {NULL, 0};
    int rc;

    vls_buf_init_in(&line, p->arena, LINE_MAX);
    vls_buf_add_byte(&line, '[');
    vls_buf_add_text(&line, kind_name(block));
    if (name.len > 0) {
        vls_buf_add_byte(&line, ' ');
        vls_buf_add(&line, name);
    }
    if (type.len > 0) {
        vls_buf_add_text(&line, " (");
        vls_buf_add(&line, type);
        vls_buf_add_byte(&line, ')');
    }
    vls_buf_add_text(&line, ": ");
    vls_buf_add_text(&line, why);
    vls_buf_add_byte(&line, ']');
    rc = vls_buf_keep(&text, &line, p->err);
    if (rc < 0)
        return rc;
    *out = (vls_plan_block){.kind = VLS_SAID_TEXT,
                            .made = true,
                            .cache = block->cache,
                            .tail = block->tail,
                            .at = block->at,
                            .block = block->block,
                            .text = text};
    return 0;
}

static const char *why_not(const char *rule)
{
    if (strcmp(rule, VLS_R_MEDIA_SIZE) == 0)
        return "too large to be shown";
    if (strcmp(rule, VLS_R_MEDIA_COUNT) == 0)
        return "not shown any more";
    return "cannot be shown here";
}

int vls_planning_media(vls_plan_block *out, vls_planning *p, vls_json source, uint32_t place,
                       int32_t message, int32_t block)
{
    vls_plan_block said = {.at = message, .block = block, .tail = p->tail};
    const char *rule;
    bool moves;
    int rc;

    vls_media_block(&said, source);
    rule = vls_media_rule(p->adapter, &said, place);
    if (!rule) {
        *out = said;
        return 0;
    }
    moves = strcmp(rule, VLS_R_MEDIA_PLACE) == 0 &&
            !(place & (VLS_MEDIA_RESULT | VLS_MEDIA_ERROR) && vls_planning_in_result(p)) &&
            !vls_media_rule(p->adapter, &said, VLS_MEDIA_USER);
    rc = vls_plan_mend(p->plan, rule,
                       !moves && strcmp(rule, VLS_R_MEDIA_PLACE) == 0
                           ? "a line of text stands for a file that could stand nowhere"
                           : NULL,
                       message, block, said.name, p->err);
    if (rc == 0 && moves && !vls_vec_push_in(&p->moved, p->arena, said))
        rc = vls_arena_fail(p->arena, p->err);
    return rc < 0 ? rc : make_line(out, p, &said, moves ? "in the next message" : why_not(rule));
}

/* ---- too many ---- */

typedef struct counting {
    vls_planning *p;
    uint8_t kind;
    int64_t count, drop;
} counting;

static int count_blocks(counting *c, vls_plan_block *blocks, size_t count)
{
    int rc = 0;

    for (size_t i = 0; i < count && rc == 0; i++) {
        vls_plan_block *block = &blocks[i];
        if (block->kind == VLS_SAID_RESULT)
            rc = count_blocks(c, block->inner, block->inner_count);
        if (block->kind != c->kind || rc < 0)
            continue;
        c->count++;
        if (c->count > c->drop)
            continue;
        rc = vls_planning_mend(c->p, VLS_R_MEDIA_COUNT, block->at, block->block, block->name);
        if (rc == 0)
            rc = make_line(block, c->p, block, why_not(VLS_R_MEDIA_COUNT));
    }
    return rc;
}

static int count_all(counting *c)
{
    int rc = 0;

    c->count = 0;
    for (size_t i = 0; i < c->p->plan->messages.len && rc == 0; i++)
        rc = count_blocks(c, c->p->plan->messages.ptr[i].blocks.ptr,
                          c->p->plan->messages.ptr[i].blocks.len);
    return rc;
}

/* A lot is a quarter of what is allowed: the beginning changes with every so many files, not with
 * each. */
static int limit_kind(vls_planning *p, uint8_t kind, int64_t most)
{
    counting c = {.p = p, .kind = kind};
    int64_t lot = VLS_MAX(most / 4, 1);
    int rc;

    if (most <= 0)
        return 0;
    rc = count_all(&c);
    if (rc < 0 || c.count <= most)
        return rc;
    c.drop = (c.count - most + lot - 1) / lot * lot;
    return count_all(&c);
}

int vls_planning_limit_media(vls_planning *p)
{
    int rc = limit_kind(p, VLS_SAID_IMAGE, p->adapter->media.max_images);

    return rc < 0 ? rc : limit_kind(p, VLS_SAID_DOCUMENT, p->adapter->media.max_documents);
}
