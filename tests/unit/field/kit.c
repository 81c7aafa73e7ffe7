/* kit.c -- see kit.h. */
#include <math.h>

#include "kit.h"

/* ---- tables ---- */

static const valise_field mark_item = {.type = VALISE_T_INT, .min = -1000, .max = 1000};

const valise_field kit_text_fields[] = {
    VALISE_FIELD(kit_text, text, STR, VALISE_REQUIRED, "What is said."),
    VALISE_FIELD_WITH(kit_text, marks, LIST, 0, "Places in it.", .more = &mark_item, .max = 40),
    VALISE_FIELD_END,
};

static const valise_field call_fields[] = {
    VALISE_FIELD(kit_call, name, STR, 0, "Name of the tool."),
    VALISE_FIELD_AS(kit_call, call_id, "callId", ID, VALISE_NULLABLE, "The call."),
    VALISE_FIELD(kit_call, result, TEXT, VALISE_NULLABLE, "What came back."),
    VALISE_FIELD_END,
};

static const valise_struct text_struct = {sizeof(kit_text), kit_text_fields};
static const valise_struct call_struct = {sizeof(kit_call), call_fields};

static const valise_case what_cases[] = {
    {"text", &text_struct}, {"tool_call", &call_struct}, {NULL, NULL}};
static const valise_case open_cases[] = {{"text", &text_struct}, {NULL, NULL}};
const valise_union kit_what = {"type", what_cases, 0};
static const valise_union kit_open = {"kind", open_cases, 1};

static const valise_field block_fields[] = {
    VALISE_FIELD(kit_block, number, INT, 0, "Which."),
    VALISE_FIELD_WITH(kit_block, what, UNION, VALISE_REQUIRED, "What.", .more = &kit_what),
    VALISE_FIELD_WITH(kit_block, open, UNION, VALISE_NULLABLE, "Else.", .more = &kit_open),
    VALISE_FIELD_END,
};

static const valise_struct block_struct = {sizeof(kit_block), block_fields};
static const valise_field block_item = {.type = VALISE_T_STRUCT, .more = &block_struct};
static const valise_field name_item = {.type = VALISE_T_STR, .max = 100};
static const valise_field name_list = {.type = VALISE_T_LIST, .more = &name_item};

static const char *const kinds[] = {"none", "user", "model", "tool-result", NULL};

#define TWICE(member, type, text, ...)                                                             \
    VALISE_FIELD_WITH(kit_all, member, type, 0, text, __VA_ARGS__),                                \
        VALISE_FIELD_AS_WITH(kit_all, n_##member, "n" #member, type, VALISE_NULLABLE, text,        \
                             __VA_ARGS__)

const valise_field kit_all_fields[] = {
    VALISE_FIELD(kit_all, id, UUID, VALISE_KEY | VALISE_REQUIRED, "Key."),
    VALISE_FIELD_WITH(kit_all, seq, INT, VALISE_KEY, "Key too.", .min = 0, .max = 1 << 20),
    VALISE_FIELD(kit_all, flag, BOOL, 0, "True or not."),
    TWICE(integer, INT, "A number.", .ref = NULL),
    TWICE(real, REAL, "A real number.", .ref = NULL),
    TWICE(str, STR, "A string.", .ref = "other"),
    TWICE(bytes, BYTES, "Some bytes.", .max = 300),
    TWICE(path, PATH, "A path.", .max = 1000),
    TWICE(time, TIME, "A moment.", .ref = NULL),
    TWICE(duration, DURATION, "How long.", .ref = NULL),
    TWICE(uuid, UUID, "A UUID.", .ref = "session"),
    TWICE(hash, ID, "An id.", .ref = "object"),
    TWICE(kind, ENUM, "One of some.", .more = kinds),
    TWICE(json, JSON, "Meta data.", .ref = NULL),
    TWICE(value, VALUE, "A value.", .ref = NULL),
    TWICE(text, TEXT, "A text.", .ref = NULL),
    TWICE(data, DATA, "Data.", .ref = NULL),
    TWICE(blocks, LIST, "Blocks.", .more = &block_item),
    VALISE_FIELD_WITH(kit_all, names, LIST, VALISE_REQUIRED, "Names.", .more = &name_item),
    VALISE_FIELD_WITH(kit_all, lists, LIST, 0, "Lists of names.", .more = &name_list),
    TWICE(part, STRUCT, "A part.", .more = &text_struct),
    TWICE(either, UNION, "One or the other.", .more = &kit_what),
    VALISE_FIELD_END,
};

static const char *const states[] = {"open", "closed", NULL};

const valise_field kit_session_fields[] = {
    VALISE_FIELD(kit_session, id, UUID, VALISE_KEY | VALISE_REQUIRED, "Session."),
    VALISE_FIELD(kit_session, title, STR, VALISE_NULLABLE | VALISE_CONTENT, "Title."),
    VALISE_FIELD_WITH(kit_session, state, ENUM, 0, "State.", .more = states),
    VALISE_FIELD(kit_session, actor, STR, 0, "Who."),
    VALISE_FIELD_AS(kit_session, turn_count, "turnCount", INT, 0, "Turns."),
    VALISE_FIELD_WITH(kit_session, tip, ID, VALISE_NULLABLE, "Last.", .ref = "object"),
    VALISE_FIELD_AS(kit_session, created_at, "createdAt", TIME, 0, "When."),
    VALISE_FIELD_AS(kit_session, updated_at, "updatedAt", TIME, 0, "When."),
    VALISE_FIELD_END,
};

/* ---- random structs ---- */

static void random_bytes(test_rng *rng, void *out, size_t len)
{
    for (size_t i = 0; i < len; i++)
        ((uint8_t *)out)[i] = (uint8_t)test_random(rng);
    if (len)
        ((uint8_t *)out)[0] |= 1; /* never an id of zeros */
}

static valise_str random_text(test_rng *rng, const valise_field *field)
{
    static const char *const pieces[] = {
        "a", "Z", "\"", "\\", "\n", "\x1f", "\xc3\xa9", "\xe2\x82\xac", "hell", "\xf0\x9f\x98\x80"};
    size_t most = field->max ? (size_t)VLS_MIN(field->max, 40) : 40;
    size_t want = test_random_below(rng, most + 1), len = 0;
    char *text = test_alloc(want + 8);

    while (len < want) {
        const char *piece = pieces[test_random_below(rng, VLS_COUNT(pieces))];
        if (len + strlen(piece) > want)
            break;
        memcpy(text + len, piece, strlen(piece));
        len += strlen(piece);
    }
    return vls_str(text, len);
}

static valise_str random_binary(test_rng *rng)
{
    size_t len = test_random_below(rng, 20);
    char *bytes = test_alloc(len + 1);

    random_bytes(rng, bytes, len);
    return vls_str(bytes, len);
}

static valise_str random_json(test_rng *rng)
{
    static const char *const texts[] = {"{}",
                                        "[]",
                                        "true",
                                        "0",
                                        "-1.5",
                                        "\"text\"",
                                        "{\"a\":[1,2,{\"b\":null}],\"z\":\"\xc3\xa9\"}",
                                        "[[[]],1e+30]"};

    return valise_str_of(texts[test_random_below(rng, VLS_COUNT(texts))]);
}

static int64_t random_int(test_rng *rng, const valise_field *field)
{
    if (field->max != 0 || field->min != 0)
        return field->min +
               (int64_t)test_random_below(rng, (uint64_t)(field->max - field->min + 1));
    int64_t value = (int64_t)(test_random(rng) >> test_random_below(rng, 64));
    if (field->type != VALISE_T_DURATION && test_random_below(rng, 2))
        value = -VLS_MAX(value, -INT64_MAX);
    return field->type == VALISE_T_DURATION ? value & INT64_MAX : value;
}

static double random_real(test_rng *rng)
{
    static const double some[] = {0, 1, -1, 0.1, 1e300, 5e-324, 9007199254740993.0, 1e22, -2.5};
    double value;

    if (test_random_below(rng, 2))
        return some[test_random_below(rng, VLS_COUNT(some))];
    uint64_t bits = test_random(rng);
    memcpy(&value, &bits, sizeof(value));
    return isfinite(value) ? value : 3;
}

static valise_content random_content(test_rng *rng, const valise_field *field, vls_field_form form)
{
    valise_content c = {.size = VALISE_SIZE_UNKNOWN};

    random_bytes(rng, &c.id, sizeof(c.id));
    if (form == VLS_FIELD_LOGGED)
        return c;
    c.bytes = field->type == VALISE_T_VALUE  ? random_json(rng)
              : field->type == VALISE_T_TEXT ? random_text(rng, field)
                                             : random_binary(rng);
    c.size = (int64_t)c.bytes.len;
    return c;
}

static void random_member(test_rng *rng, void *member, const valise_field *field,
                          vls_field_form form);

static valise_list random_list(test_rng *rng, const valise_field *field, vls_field_form form)
{
    const valise_field *item = field->more;
    size_t count = test_random_below(rng, 4), size = vls_field_size(item);
    char *items = test_alloc(count * size + 1);

    for (size_t i = 0; i < count; i++)
        random_member(rng, items + i * size, item, form);
    return (valise_list){items, count};
}

static const void *random_struct(test_rng *rng, const valise_struct *type, vls_field_form form)
{
    void *row = test_alloc(type->size);

    kit_random(rng, row, type->fields, type->size, form);
    return row;
}

static valise_variant random_variant(test_rng *rng, const valise_union *type, vls_field_form form)
{
    int64_t count = 0;

    while (type->cases[count].name)
        count++;
    if (type->open && test_random_below(rng, 2))
        return (valise_variant){
            .which = -1,
            .json = valise_str_of(test_format("{\"%s\":\"new\",\"x\":[1]}", type->tag))};
    int64_t which = (int64_t)test_random_below(rng, (uint64_t)count);
    return (valise_variant){.which = which,
                            .value = random_struct(rng, type->cases[which].type, form)};
}

static void random_member(test_rng *rng, void *member, const valise_field *field,
                          vls_field_form form)
{
    const char *const *names = field->more;
    uint64_t count = 0;

    switch (field->type) {
    case VALISE_T_BOOL:
        *(bool *)member = test_random_below(rng, 2);
        return;
    case VALISE_T_INT:
    case VALISE_T_TIME:
    case VALISE_T_DURATION:
        *(int64_t *)member = random_int(rng, field);
        return;
    case VALISE_T_REAL:
        *(double *)member = random_real(rng);
        return;
    case VALISE_T_STR:
        *(valise_str *)member = random_text(rng, field);
        return;
    case VALISE_T_BYTES:
        *(valise_str *)member = random_binary(rng);
        return;
    case VALISE_T_PATH: /* half of them are no UTF-8 */
        *(valise_str *)member =
            test_random_below(rng, 2) ? random_text(rng, field) : random_binary(rng);
        return;
    case VALISE_T_JSON:
        *(valise_str *)member = random_json(rng);
        return;
    case VALISE_T_UUID:
    case VALISE_T_ID:
        random_bytes(rng, member, vls_field_size(field));
        return;
    case VALISE_T_ENUM:
        while (names[count])
            count++;
        *(int64_t *)member = (int64_t)test_random_below(rng, count);
        return;
    case VALISE_T_LIST:
        *(valise_list *)member = random_list(rng, field, form);
        return;
    case VALISE_T_STRUCT:
        *(const void **)member = random_struct(rng, field->more, form);
        return;
    case VALISE_T_UNION:
        *(valise_variant *)member = random_variant(rng, field->more, form);
        return;
    default:
        *(valise_content *)member = random_content(rng, field, form);
    }
}

void kit_random(test_rng *rng, void *row, const valise_field *fields, size_t size,
                vls_field_form form)
{
    vls_fields_clear(row, fields, size);
    for (const valise_field *f = fields; f->type != VALISE_T_END; f++) {
        if ((f->flags & VALISE_REQUIRED) || test_random_below(rng, 4) > 0)
            random_member(rng, (char *)row + f->offset, f, form);
    }
}

/* ---- equality ---- */

static bool equal_members(const valise_field *field, const void *a, const void *b,
                          vls_field_form form);

static bool equal_strings(const valise_field *field, const valise_str *a, const valise_str *b)
{
    bool nullable = field->flags & VALISE_NULLABLE;

    return (!nullable || !a->ptr == !b->ptr) && vls_str_equal(*a, *b);
}

static bool equal_lists(const valise_field *field, const valise_list *a, const valise_list *b,
                        vls_field_form form)
{
    const valise_field *item = field->more;

    if (a->count != b->count || ((field->flags & VALISE_NULLABLE) && !a->items != !b->items))
        return false;
    for (size_t i = 0; i < a->count; i++) {
        size_t at = i * vls_field_size(item);
        if (!equal_members(item, (const char *)a->items + at, (const char *)b->items + at, form))
            return false;
    }
    return true;
}

static bool equal_structs(const valise_struct *type, const void *a, const void *b,
                          vls_field_form form)
{
    return a && b ? kit_equal(type->fields, a, b, form) : a == b;
}

static bool equal_variants(const valise_union *type, const valise_variant *a,
                           const valise_variant *b, vls_field_form form)
{
    if (a->which != b->which || !vls_str_equal(a->json, b->json))
        return false;
    return a->which < 0 || equal_structs(type->cases[a->which].type, a->value, b->value, form);
}

static bool equal_contents(const valise_content *a, const valise_content *b, vls_field_form form)
{
    if (form == VLS_FIELD_LOGGED)
        return memcmp(&a->id, &b->id, sizeof(a->id)) == 0 && a->size == b->size;
    return a->size == b->size && !a->bytes.ptr == !b->bytes.ptr &&
           vls_str_equal(a->bytes, b->bytes);
}

static bool equal_members(const valise_field *field, const void *a, const void *b,
                          vls_field_form form)
{
    double x, y;

    switch (field->type) {
    case VALISE_T_REAL:
        memcpy(&x, a, sizeof(x));
        memcpy(&y, b, sizeof(y));
        return isnan(x) ? isnan(y) : x == y;
    case VALISE_T_STR:
    case VALISE_T_BYTES:
    case VALISE_T_PATH:
    case VALISE_T_JSON:
        return equal_strings(field, a, b);
    case VALISE_T_LIST:
        return equal_lists(field, a, b, form);
    case VALISE_T_STRUCT:
        return equal_structs(field->more, *(const void *const *)a, *(const void *const *)b, form);
    case VALISE_T_UNION:
        return equal_variants(field->more, a, b, form);
    case VALISE_T_VALUE:
    case VALISE_T_TEXT:
    case VALISE_T_DATA:
        return equal_contents(a, b, form);
    default:
        return memcmp(a, b, vls_field_size(field)) == 0;
    }
}

bool kit_equal(const valise_field *fields, const void *a, const void *b, vls_field_form form)
{
    for (const valise_field *f = fields; f->type != VALISE_T_END; f++) {
        if (!equal_members(f, (const char *)a + f->offset, (const char *)b + f->offset, form)) {
            test_note("differs: %s", f->name);
            return false;
        }
    }
    return true;
}

/* ---- text ---- */

vls_json kit_parse(test *t, vls_arena *arena, const char *text)
{
    vls_json v;

    CHECK_OK(vls_json_parse(&v, arena, valise_str_of(text), NULL, &t->err));
    return v;
}

valise_str kit_write(test *t, const void *row, const valise_field *fields, vls_field_form form,
                     unsigned flags)
{
    VLS_AUTO(buf) vls_buf out = {0};

    vls_buf_init(&out, t->env, SIZE_MAX);
    CHECK_OK(vls_fields_write(&out, row, fields, form, flags, &t->err));
    return valise_str_of(test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&out))));
}
