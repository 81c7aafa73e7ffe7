/* schema_scalar.c -- rules that look at one value and nothing inside it. */
#include "json/schema_impl.h"

#define BYTES_PER_STEP 64u

static bool has_type(vls_json v, uint32_t types)
{
    static const uint8_t bits[] = {
        [VLS_JSON_NULL] = VLS_SCHEMA_NULL,   [VLS_JSON_BOOL] = VLS_SCHEMA_BOOLEAN,
        [VLS_JSON_INT] = VLS_SCHEMA_NUMBER,  [VLS_JSON_BIG] = VLS_SCHEMA_NUMBER,
        [VLS_JSON_REAL] = VLS_SCHEMA_NUMBER, [VLS_JSON_STRING] = VLS_SCHEMA_STRING,
        [VLS_JSON_ARRAY] = VLS_SCHEMA_ARRAY, [VLS_JSON_OBJECT] = VLS_SCHEMA_OBJECT,
    };

    assert(v.type < VLS_COUNT(bits));
    return (bits[v.type] & types) != 0 ||
           ((types & VLS_SCHEMA_INTEGER) && vls_schema_is_integer(v));
}

static int bad_type(vls_schema_run *run, const vls_schema_frame *f)
{
    static const char *const names[] = {"null",     "a boolean", "an object", "an array",
                                        "a number", "a string",  "an integer"};
    const char *before = "must be ";

    if (!vls_schema_bad_start(run))
        return VLS_BAD;
    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        if (f->node->types >> i & 1) {
            vls_buf_printf(&run->reason, "%s%s", before, names[i]);
            before = " or ";
        }
    }
    vls_schema_say_is(run, *f->instance, true);
    return vls_schema_bad_finish(run, f, "type");
}

static int bad_choice(vls_schema_run *run, const vls_schema_frame *f)
{
    const uint32_t most = 8;
    vls_json choices = *f->node->choices;

    if (!vls_schema_bad_start(run))
        return VLS_BAD;
    vls_buf_add_text(&run->reason, choices.len == 1 ? "must be " : "must be one of ");
    for (uint32_t i = 0; i < VLS_MIN(choices.len, most); i++) {
        vls_buf_add_text(&run->reason, i > 0 ? ", " : "");
        vls_schema_describe(&run->reason, choices.items[i]);
    }
    if (choices.len > most)
        vls_buf_printf(&run->reason, ", ... (%u in all)", choices.len);
    vls_schema_say_is(run, *f->instance, false);
    return vls_schema_bad_finish(run, f, "enum");
}

static int check_const(vls_schema_run *run, const vls_schema_frame *f)
{
    vls_json wanted = *f->node->constant, v = *f->instance;
    int rc = wanted.len == v.len ? vls_schema_spend(run, f->node->constant_work / 4) : 0;

    if (rc < 0 || vls_json_equal_by_value(wanted, v))
        return rc;
    if (!vls_schema_bad_start(run))
        return VLS_BAD;
    vls_buf_add(&run->reason, VLS_STR("must be "));
    vls_schema_describe(&run->reason, wanted);
    vls_schema_say_is(run, v, false);
    return vls_schema_bad_finish(run, f, "const");
}

static int check_enum(vls_schema_run *run, const vls_schema_frame *f)
{
    uint64_t work = 0;
    uint32_t at = vls_value_index_find(f->node->choice_index, *f->instance, &work);
    int rc = vls_schema_spend(run, work / 4);

    if (rc < 0 || at != VLS_VALUE_NONE)
        return rc;
    return bad_choice(run, f);
}

int vls_schema_check_any(vls_schema_run *run, const vls_schema_frame *f)
{
    const vls_schema_node *node = f->node;
    int bad = 0;

    if (node->types != 0 && !has_type(*f->instance, node->types))
        bad = bad_type(run, f);
    if (!vls_schema_ends(run, bad) && node->constant)
        bad = vls_schema_both(bad, check_const(run, f));
    if (!vls_schema_ends(run, bad) && node->choices)
        bad = vls_schema_both(bad, check_enum(run, f));
    return bad;
}

static int bad_number(vls_schema_run *run, const vls_schema_frame *f, const char *keyword,
                      const char *must, vls_json bound)
{
    if (!vls_schema_bad_start(run))
        return VLS_BAD;
    vls_buf_printf(&run->reason, "must be %s ", must);
    vls_schema_describe(&run->reason, bound);
    vls_schema_say_is(run, *f->instance, false);
    return vls_schema_bad_finish(run, f, keyword);
}

int vls_schema_check_number(vls_schema_run *run, const vls_schema_frame *f)
{
    const vls_schema_number *n = f->node->number;
    vls_json v = *f->instance;
    int bad = 0, rc;

    if (n->minimum && vls_json_number_compare(v, *n->minimum) < 0)
        bad = bad_number(run, f, "minimum", "at least", *n->minimum);
    if (!vls_schema_ends(run, bad) && n->exclusive_minimum &&
        vls_json_number_compare(v, *n->exclusive_minimum) <= 0)
        bad = bad_number(run, f, "exclusiveMinimum", "more than", *n->exclusive_minimum);
    if (!vls_schema_ends(run, bad) && n->maximum && vls_json_number_compare(v, *n->maximum) > 0)
        bad = bad_number(run, f, "maximum", "at most", *n->maximum);
    if (!vls_schema_ends(run, bad) && n->exclusive_maximum &&
        vls_json_number_compare(v, *n->exclusive_maximum) >= 0)
        bad = bad_number(run, f, "exclusiveMaximum", "less than", *n->exclusive_maximum);
    if (vls_schema_ends(run, bad) || !n->divisor)
        return bad;
    rc = vls_schema_spend(run, v.type == VLS_JSON_INT ? 1 : 64);
    if (rc < 0)
        return rc;
    if (vls_divisor_divides(n->divisor, v))
        return bad;
    return vls_schema_both(bad, bad_number(run, f, "multipleOf", "a multiple of", *n->multiple_of));
}

/* Characters: every byte that does not continue one. */
static uint64_t count_characters(valise_str s)
{
    uint64_t count = 0;

    for (size_t i = 0; i < s.len; i++)
        count += ((unsigned char)s.ptr[i] & 0xC0) != 0x80;
    return count;
}

static int check_length(vls_schema_run *run, const vls_schema_frame *f)
{
    const vls_schema_text *text = f->node->text;
    int rc = vls_schema_spend(run, f->instance->len / BYTES_PER_STEP);

    if (rc < 0)
        return rc;
    uint64_t len = count_characters(vls_json_str(*f->instance));
    if (text->min_length.set && len < text->min_length.n)
        return vls_schema_bad(run, f, "minLength", NULL,
                              "must have at least %llu characters, has %llu",
                              (unsigned long long)text->min_length.n, (unsigned long long)len);
    if (text->max_length.set && len > text->max_length.n)
        return vls_schema_bad(run, f, "maxLength", NULL,
                              "must have at most %llu characters, has %llu",
                              (unsigned long long)text->max_length.n, (unsigned long long)len);
    return 0;
}

int vls_schema_check_text(vls_schema_run *run, const vls_schema_frame *f)
{
    const vls_schema_text *text = f->node->text;
    bool matches = true;
    int bad = 0;

    if (text->min_length.set || text->max_length.set)
        bad = check_length(run, f);
    if (vls_schema_ends(run, bad) || !text->pattern)
        return bad;
    int rc = vls_schema_matches(&matches, run, text->pattern, vls_json_str(*f->instance));
    if (rc < 0)
        return rc;
    if (matches)
        return bad;
    if (!vls_schema_bad_start(run))
        return VLS_BAD;
    vls_buf_add(&run->reason, VLS_STR("must match the pattern "));
    vls_schema_describe(&run->reason, vls_json_string(vls_pattern_source(text->pattern)));
    vls_schema_say_is(run, *f->instance, false);
    return vls_schema_bad_finish(run, f, "pattern");
}
