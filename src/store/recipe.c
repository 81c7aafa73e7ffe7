/* recipe.c -- lists of chunk numbers as bytes. */
#include "store/recipe.h"

/* ---- writing ---- */

void vls_recipe_begin(vls_recipe_writer *writer, vls_buf *out, uint8_t depth)
{
    *writer = (vls_recipe_writer){.out = out};
    vls_buf_add_byte(out, (char)depth);
}

static void write_run(vls_recipe_writer *writer)
{
    uint64_t step = vls_bytes_zigzag(writer->first - writer->end);
    bool more = writer->count > 1;

    vls_bytes_add_varint(writer->out, step << 1 | more);
    if (more)
        vls_bytes_add_varint(writer->out, (uint64_t)writer->count);
    writer->end = writer->first + writer->count;
}

void vls_recipe_add(vls_recipe_writer *writer, int64_t number)
{
    assert(number > 0 && number < VLS_RECIPE_MAX_NUMBER);
    if (writer->count > 0 && number == writer->first + writer->count) {
        writer->count++;
        return;
    }
    vls_recipe_end(writer);
    writer->first = number;
    writer->count = 1;
}

void vls_recipe_end(vls_recipe_writer *writer)
{
    if (writer->count > 0)
        write_run(writer);
    writer->count = 0;
}

/* ---- reading ---- */

int vls_recipe_open(vls_recipe_reader *out, valise_str bytes, valise_error *err)
{
    vls_recipe_reader recipe = {.in = vls_reader_of(bytes)};

    recipe.depth = vls_reader_u8(&recipe.in);
    if (recipe.depth < 1 || recipe.depth > VLS_RECIPE_MAX_DEPTH)
        return vls_fail(err, VALISE_E_CORRUPT, "a recipe of depth %u", recipe.depth);
    *out = recipe;
    return 0;
}

static bool in_range(int64_t number)
{
    return number > 0 && number < VLS_RECIPE_MAX_NUMBER;
}

int vls_recipe_next(int64_t *first, int64_t *count, vls_recipe_reader *recipe, valise_error *err)
{
    uint64_t step, more = 0;
    int64_t start, end;

    if (vls_reader_is_done(&recipe->in))
        return 0;
    step = vls_reader_varint(&recipe->in);
    more = step & 1 ? vls_reader_varint(&recipe->in) : 1;
    /* A run of one is written without its length: one recipe for one list. */
    if (recipe->in.failed || (step & 1 && more < 2) || more > VLS_RECIPE_MAX_NUMBER ||
        __builtin_add_overflow(recipe->end, vls_bytes_unzigzag(step >> 1), &start) ||
        !in_range(start) || !in_range(start + (int64_t)more - 1))
        return vls_fail(err, VALISE_E_CORRUPT, "a recipe is malformed");
    /* A run that goes on where the last one ended would be one with it. */
    if (start == recipe->end && recipe->end != 0)
        return vls_fail(err, VALISE_E_CORRUPT, "a recipe is malformed");
    end = start + (int64_t)more;
    recipe->end = end;
    *first = start;
    *count = (int64_t)more;
    return 1;
}
