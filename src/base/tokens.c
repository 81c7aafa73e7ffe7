/* tokens.c -- the estimate: every byte costs something, by what it is and what stands before it.
 *
 * Each byte has a class. What it costs is the step from the class of the byte before it into its
 * own, plus its place in a run of bytes of the same group (letters, digits, spaces ...): the first
 * letter of a word is dear, the second is nearly free, the sixteenth is dear again, for words are
 * not that long. A byte that is the same as the one before comes from the class AGAIN, so that a
 * ruled line is cheap. Bytes of UTF-8 tell the script by the first and a good deal of the second of
 * them.
 *
 * The costs are in 1/64 token. They were fitted to o200k_base on texts of 150 kinds and on those of
 * tests/data/tokens, so that windows of 50 to 2,000 bytes are hardly ever counted too low; steps
 * that no text takes, such as into the middle of a character, cost a token. docs/tokens.md has the
 * errors; tests/unit/base/tokens.c keeps them. [P16] */
#include "base/tokens.h"

#define PLACES 16    /* of a run that have a cost of their own */
#define LOT 32       /* bytes that are looked at in one go */
#define RUN_SHIFT 16 /* of the mask in a step */
#define RUN_MASK 63

/* clang-format off */
enum {
    CT,                         /* control characters, and bytes that are never in UTF-8 */
    SP, TB, NL,                 /* space, tab, line end */
    DI,                         /* digit */
    VO, CO, RA, UP,             /* vowel, consonant, rare letter; capital */
    PA, PB,                     /* common punctuation, the rest (and RU) */
    L1, LX, R2, GR, CY, HE, AR, /* two bytes: Latin, more of it, rare, Greek, Cyrillic, Hebrew, Arabic */
    E0, E1, E2, E3, HZ, HG, EF, /* three: Indic, many, symbols, kana, Han, Hangul, forms */
    F0,                         /* four: emoji and what is rare */
    C8, C9, CA, CB,             /* inside of a character: 80, 90, A0, B0 and up */
    RU,                         /* what lines are ruled with */
    AGAIN,                      /* no class of a byte: the same one as before */
    CLASSES
};

static const uint8_t classes[256] = {
    CT, CT, CT, CT, CT, CT, CT, CT, CT, TB, NL, CT, CT, NL, CT, CT,
    CT, CT, CT, CT, CT, CT, CT, CT, CT, CT, CT, CT, CT, CT, CT, CT,
    SP, PB, PA, RU, PB, PB, PB, PA, PA, PA, RU, RU, PA, RU, RU, RU,
    DI, DI, DI, DI, DI, DI, DI, DI, DI, DI, PA, PA, PB, RU, PB, PB,
    PB, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP,
    UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, PB, PB, PB, PB, RU,
    PB, VO, CO, CO, CO, VO, CO, CO, CO, VO, RA, RA, CO, CO, CO, VO,
    CO, RA, CO, CO, CO, VO, RA, RA, RA, CO, RA, PB, PB, PB, RU, CT,
    C8, C8, C8, C8, C8, C8, C8, C8, C8, C8, C8, C8, C8, C8, C8, C8,
    C9, C9, C9, C9, C9, C9, C9, C9, C9, C9, C9, C9, C9, C9, C9, C9,
    CA, CA, CA, CA, CA, CA, CA, CA, CA, CA, CA, CA, CA, CA, CA, CA,
    CB, CB, CB, CB, CB, CB, CB, CB, CB, CB, CB, CB, CB, CB, CB, CB,
    CT, CT, L1, L1, LX, LX, LX, LX, LX, LX, R2, R2, R2, R2, GR, GR,
    CY, CY, R2, R2, R2, R2, HE, HE, AR, AR, AR, AR, R2, R2, R2, R2,
    E0, E1, E2, E3, HZ, HZ, HZ, HZ, HZ, HZ, HG, HG, HG, HG, EF, EF,
    F0, F0, F0, F0, F0, CT, CT, CT, CT, CT, CT, CT, CT, CT, CT, CT,
};
/* clang-format on */

/* Two classes of one group: the run goes on. What is over the cost is a mask for its length. */
#define ON(cost) ((uint32_t)RUN_MASK << RUN_SHIFT | (cost))

/* What the places of a run cost, for each group; the last cost is for all that come behind. */
#define EIGHT(cost) cost, cost, cost, cost, cost, cost, cost, cost
#define REST(cost) cost, EIGHT(cost), EIGHT(cost), EIGHT(cost), EIGHT(cost)
/* clang-format off */
#define WHITE {0, 26, 38, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 2, 2, REST(1)}
#define DIGIT {53, 0, 0, 58, 0, 0, 43, 9, 1, 75, 26, 4, 0, 5, 32, REST(22)}
#define LOWER {17, 0, 11, 0, 5, 8, 7, 25, 7, 7, 7, 7, 56, 56, 56, REST(34)}
#define UPPER {17, 68, 2, 1, 0, 0, 57, 0, 41, 41, 41, 41, 0, 0, 0, REST(42)}
#define PUNCT {16, 0, 0, 0, 22, 6, 7, 14, 0, 0, 0, 0, 1, 1, 1, REST(2)}
#define WIDE {12, 12, 0, 1, 1, 7, 9, 0, 4, 4, 4, 4, 4, 4, 4, REST(0)}
#define OTHER {41, 55, 17, 0, 14, 20, 24, 28, 22, 22, 22, 22, 26, 26, 26, REST(23)}
/* clang-format on */

/* 256 bytes each: found by a shift. */
typedef struct kind {
    _Alignas(256) uint32_t steps[CLASSES]; /* from here into each class */
    uint8_t places[PLACES + LOT];          /* in a run */
} kind;

static const kind kinds[CLASSES] = {
    [CT] = {{ON(44), 11, 39, 11, 35, 20, 30, 26, 39, 30, 39, 28, 11, 45, 47, 67,
             0,      62, 64, 64, 39, 0,  0,  34, 14, 64, 64, 64, 64, 64, 27},
            OTHER},
    [SP] = {{83, ON(54), ON(72), ON(99), 78, 37, 35, 29, 7,   51, 58, 69, 63, 192, 76, 17,
             61, 4,      19,     192,    84, 31, 28, 0,  192, 49, 64, 64, 64, 64,  59},
            WHITE},
    [TB] = {{30, ON(0), ON(64), ON(73), 82, 35, 0,  0,  30, 98, 75, 64, 64, 39, 33, 64,
             64, 64,    64,     64,     64, 64, 64, 34, 64, 64, 64, 64, 64, 64, 78},
            WHITE},
    [NL] = {{62, ON(1), ON(43), ON(121), 33, 63, 24, 70, 36,  5,  0,  192, 3,  0,  0, 37,
             14, 62,    71,     0,       53, 0,  29, 0,  102, 64, 64, 64,  64, 64, 24},
            WHITE},
    [DI] = {{51, 11, 0, 58, ON(0), 40, 48, 36, 46, 32, 29, 0,  0,  33, 64, 67,
             64, 55, 0, 64, 0,     0,  0,  0,  0,  64, 64, 64, 64, 64, 10},
            DIGIT},
    [VO] = {{0,  6,  0, 96, 18,  ON(17), ON(0), ON(11), 17, 48, 7,  2,  63, 128, 64, 15,
             64, 64, 0, 0,  101, 5,      0,     0,      0,  0,  64, 64, 64, 64,  44},
            LOWER},
    [CO] = {{31, 0,  0, 37, 28, ON(0), ON(12), ON(42), 20, 18, 25, 11, 37, 35, 0, 1,
             1,  67, 0, 0,  97, 0,     0,      0,      0,  32, 64, 64, 64, 64, 12},
            LOWER},
    [RA] = {{23, 45, 4, 150, 36, ON(14), ON(52), ON(133), 68, 28, 34, 88, 0,  0,  64, 42,
             64, 64, 0, 0,   0,  0,      64,     64,      32, 0,  64, 64, 64, 64, 0},
            LOWER},
    [UP] = {{88, 0, 0, 33, 11, 16, 32, 88, ON(1), 52, 89, 111, 2,  48, 0, 30,
             35, 0, 0, 0,  0,  0,  0,  0,  27,    32, 64, 64,  64, 64, 13},
            UPPER},
    [PA] = {{43, 9,   16, 1, 31, 41, 43, 20, 53, ON(13), ON(22), 77, 78, 0,  0,     3,
             0,  130, 70, 0, 0,  0,  0,  2,  0,  0,      64,     64, 64, 64, ON(71)},
            PUNCT},
    [PB] = {{37, 6, 57, 4, 33,  15, 42, 26, 0,  ON(6), ON(56), 0,  0,  53, 0,     0,
             21, 0, 0,  0, 103, 0,  6,  44, 27, 64,    64,     64, 64, 64, ON(57)},
            PUNCT},
    [L1] = {{64,     64,     64,     64,     64,     64,     64,     64,     64,     64,     64,
             ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64),
             ON(64), ON(64), ON(64), ON(64), ON(3),  ON(56), ON(10), ON(25), 64},
            WIDE},
    [LX] = {{64,     64,     64,     64,     64,     64,     64,     64,     64,     64,     64,
             ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64),
             ON(64), ON(64), ON(64), ON(64), ON(19), ON(1),  ON(95), ON(20), 64},
            WIDE},
    [R2] = {{64,     64,     64,      64,      64,     64,     64,     64,
             64,     64,     64,      ON(64),  ON(64), ON(64), ON(64), ON(64),
             ON(64), ON(64), ON(64),  ON(64),  ON(64), ON(64), ON(64), ON(64),
             ON(64), ON(64), ON(192), ON(119), ON(0),  ON(2),  64},
            WIDE},
    [GR] = {{64,     64,     64,     64,     64,     64,     64,     64,     64,     64,     64,
             ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64),
             ON(64), ON(64), ON(64), ON(64), ON(2),  ON(0),  ON(0),  ON(11), 64},
            WIDE},
    [CY] = {{64,     64,     64,     64,     64,     64,     64,     64,     64,     64,     64,
             ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64),
             ON(64), ON(64), ON(64), ON(64), ON(1),  ON(30), ON(30), ON(12), 64},
            WIDE},
    [HE] = {{64,     64,     64,     64,     64,     64,     64,     64,     64,     64,     64,
             ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64),
             ON(64), ON(64), ON(64), ON(64), ON(40), ON(4),  ON(25), ON(38), 64},
            WIDE},
    [AR] = {{64,     64,     64,     64,     64,     64,     64,     64,     64,     64,     64,
             ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64),
             ON(64), ON(64), ON(64), ON(64), ON(26), ON(41), ON(7),  ON(1),  64},
            WIDE},
    [E0] = {{64,     64,     64,     64,     64,     64,     64,     64,     64,     64,     64,
             ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64),
             ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(0),  ON(20), 64},
            WIDE},
    [E1] = {{64,     64,     64,     64,     64,      64,     64,     64,
             64,     64,     64,     ON(64), ON(64),  ON(64), ON(64), ON(64),
             ON(64), ON(64), ON(64), ON(64), ON(64),  ON(64), ON(64), ON(64),
             ON(64), ON(64), ON(0),  ON(0),  ON(117), ON(0),  64},
            WIDE},
    [E2] = {{64,     64,     64,     64,     64,      64,      64,     64,
             64,     64,     64,     ON(64), ON(64),  ON(64),  ON(64), ON(64),
             ON(64), ON(64), ON(64), ON(64), ON(64),  ON(64),  ON(64), ON(64),
             ON(64), ON(64), ON(0),  ON(8),  ON(192), ON(192), 64},
            WIDE},
    [E3] = {{64,     64,     64,     64,      64,      64,      64,     64,
             64,     64,     64,     ON(64),  ON(64),  ON(64),  ON(64), ON(64),
             ON(64), ON(64), ON(64), ON(64),  ON(64),  ON(64),  ON(64), ON(64),
             ON(64), ON(64), ON(0),  ON(192), ON(192), ON(192), 64},
            WIDE},
    [HZ] = {{64,     64,     64,     64,     64,     64,     64,     64,     64,     64,     64,
             ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64),
             ON(64), ON(64), ON(64), ON(64), ON(0),  ON(11), ON(39), ON(28), 64},
            WIDE},
    [HG] = {{64,     64,     64,      64,     64,     64,     64,     64,
             64,     64,     64,      ON(64), ON(64), ON(64), ON(64), ON(64),
             ON(64), ON(64), ON(64),  ON(64), ON(64), ON(64), ON(64), ON(64),
             ON(64), ON(64), ON(126), ON(0),  ON(0),  ON(4),  64},
            WIDE},
    [EF] = {{64,     64,     64,     64,     64,     64,     64,     64,     64,     64,     64,
             ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64),
             ON(64), ON(64), ON(64), ON(64), ON(71), ON(64), ON(33), ON(0),  64},
            WIDE},
    [F0] = {{64,     64,     64,     64,     64,      64,     64,     64,
             64,     64,     64,     ON(64), ON(64),  ON(64), ON(64), ON(64),
             ON(64), ON(64), ON(64), ON(64), ON(64),  ON(64), ON(64), ON(64),
             ON(64), ON(64), ON(64), ON(73), ON(133), ON(64), 64},
            WIDE},
    [C8] = {{29,     0,      18,    41,    0,      0,       21,    0,      31,      21,    0,
             ON(81), ON(88), ON(2), ON(0), ON(10), ON(192), ON(0), ON(1),  ON(134), ON(0), ON(8),
             ON(24), ON(9),  ON(0), ON(1), ON(66), ON(0),   ON(5), ON(79), 0},
            WIDE},
    [C9] = {{45,     5,     64,      94,      7,      0,     0,       0,      0,     0,      1,
             ON(0),  ON(0), ON(192), ON(34),  ON(35), ON(7), ON(145), ON(25), ON(0), ON(47), ON(20),
             ON(41), ON(0), ON(86),  ON(185), ON(17), ON(0), ON(0),   ON(0),  7},
            WIDE},
    [CA] = {{14,     0,       39,    81,     0,      24,     0,      0,
             0,      19,      14,    ON(27), ON(75), ON(0),  ON(0),  ON(79),
             ON(0),  ON(6),   ON(1), ON(11), ON(17), ON(30), ON(58), ON(25),
             ON(15), ON(115), ON(0), ON(19), ON(14), ON(31), 0},
            WIDE},
    [CB] = {{16,     1,     64,    61,      19,    47,    0,     0,     32,    28,     24,
             ON(29), ON(0), ON(0), ON(19),  ON(1), ON(0), ON(9), ON(1), ON(0), ON(85), ON(0),
             ON(0),  ON(0), ON(0), ON(179), ON(2), ON(3), ON(1), ON(0), 16},
            WIDE},
    [RU] = {{52, 0,   0,   0,  65, 13, 18, 0, 9, ON(18), ON(64), 79, 0,  0,  0,     31,
             85, 106, 192, 59, 0,  4,  39, 0, 0, 64,     64,     64, 64, 64, ON(32)},
            PUNCT},
    [AGAIN] = {{ON(48), ON(1),  ON(3),  ON(24), ON(0),  ON(20), ON(13), ON(19),
                ON(20), ON(16), ON(29), ON(64), ON(64), ON(64), ON(64), ON(64),
                ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64), ON(64),
                ON(64), ON(64), ON(64), ON(11), ON(18), ON(0),  ON(0)},
               OTHER},
};

/* A run is cut to PLACES between lots only. In a lot it must not get past the mask, nor the costs
 * into it. */
static_assert(PLACES - 1 + LOT <= RUN_MASK && LOT * 255 < 1 << RUN_SHIFT, "a lot is short");

/* Without a branch: what comes next in a text is hard to foresee. */
void vls_tokens_add(vls_token_counter *counter, valise_str piece)
{
    const unsigned char *p = (const unsigned char *)piece.ptr;
    size_t before = (size_t)counter->last - 1; /* no byte at the beginning */
    const kind *from = &kinds[counter->last ? classes[before] : SP];
    uint64_t run = counter->run, cost = 0;

    for (size_t left = piece.len; left > 0;) {
        const unsigned char *stop = p + VLS_MIN(left, LOT);
        uint64_t sum = 0, more = 0;

        left -= VLS_MIN(left, LOT);
        run = VLS_MIN(run, PLACES - 1);
        for (; p < stop; p++) {
            size_t byte = *p, class = classes[byte];
            uint32_t step = (byte == before ? &kinds[AGAIN] : from)->steps[class];

            from = &kinds[class];
            before = byte;
            run &= step >> RUN_SHIFT;
            sum += step;
            more += from->places[run++];
        }
        cost += (sum & ((1u << RUN_SHIFT) - 1)) + more;
    }
    counter->cost += cost;
    counter->last = (uint32_t)(before + 1);
    counter->run = (uint32_t)run;
}

int64_t vls_tokens_total(const vls_token_counter *counter)
{
    return (int64_t)((counter->cost + VLS_TOKEN_UNITS - 1) / VLS_TOKEN_UNITS);
}

int64_t vls_tokens(valise_str text)
{
    vls_token_counter counter = {0};

    vls_tokens_add(&counter, text);
    return vls_tokens_total(&counter);
}

/* ---- what is no text ---- */

int64_t vls_tokens_document(uint64_t size)
{
    uint64_t pages = size / VLS_BYTES_PER_PAGE + (size % VLS_BYTES_PER_PAGE > 0);

    return (int64_t)(pages > 0 ? pages : 1) * VLS_TOKENS_PER_PAGE;
}

/* Media types are the same in any case; `lower` is a type, or the beginning of one up to its slash.
 */
static bool is_media(valise_str type, const char *lower)
{
    size_t len = strlen(lower);

    if (type.len < len)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (vls_to_lower(type.ptr[i]) != lower[i])
            return false;
    }
    return lower[len - 1] == '/' || type.len == len || type.ptr[len] == ';' || type.ptr[len] == ' ';
}

int64_t vls_tokens_media(valise_str media_type, uint64_t size, int64_t per_image)
{
    if (is_media(media_type, "image/"))
        return per_image > 0 ? per_image : VLS_TOKENS_PER_IMAGE;
    if (is_media(media_type, "application/pdf"))
        return vls_tokens_document(size);
    return (int64_t)VLS_MIN(size, (uint64_t)INT64_MAX);
}
