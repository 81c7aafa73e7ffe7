/* rank.c -- how well a match fits: BM25, with the length of the text taken from its id.
 *
 *     score = sum over words:  idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average))
 *     idf   = ln((rows - hits + 0.5) / (hits + 0.5)), at least 0.000001
 *     tf    = how often it stands in the text, twice for each in the name, four times in a topic
 *
 * As FTS5 has it (k1 = 1.2, b = 0.75), but for the length: FTS5 reads a row for each match to know
 * it, here the id holds its logarithm in 8 bits. Of one word alone the idf is left to the caller,
 * who counts the matches anyway.
 *
 * Who may not read everything gets scores in which what he may not read has no part (plain). */
#include "search/search.h"

#include <math.h>

#define K1 1.2
#define B 0.75
#define PLAIN_LENGTH 100.0
#define STEP 1.07 /* from one length to the next */

int64_t vls_search_length(size_t tokens)
{
    double step = log((double)tokens + 1) / log(STEP);

    return (int64_t)VLS_MIN(step + 0.5, 255.0);
}

double vls_search_idf(double rows, double hits)
{
    double idf = log((rows - hits + 0.5) / (hits + 0.5));

    return idf > 1e-6 ? idf : 1e-6;
}

/* What a query needs to know once. */
typedef struct weights {
    double average;
    int phrases;
    double idf[]; /* of each */
} weights;

static int count_row(const Fts5ExtensionApi *api, Fts5Context *context, void *arg)
{
    (void)api;
    (void)context;
    (*(int64_t *)arg)++;
    return SQLITE_OK;
}

static int weigh(weights **out, const Fts5ExtensionApi *api, Fts5Context *context)
{
    vls_search_rank *rank = api->xUserData(context);
    int phrases = api->xPhraseCount(context);
    sqlite3_int64 rows = 0, tokens = 0;
    weights *w = sqlite3_malloc64(sizeof(*w) + (size_t)phrases * sizeof(double));
    int rc = w ? api->xRowCount(context, &rows) : SQLITE_NOMEM;

    if (rc == SQLITE_OK)
        rc = api->xColumnTotalSize(context, -1, &tokens);
    rank->rows = (double)rows;
    for (int i = 0; rc == SQLITE_OK && i < phrases; i++) {
        bool counts = phrases > 1 && !rank->plain;
        int64_t hits = 0;
        if (counts)
            rc = api->xQueryPhrase(context, i, &hits, count_row);
        w->idf[i] = counts ? vls_search_idf((double)rows, (double)hits) : 1;
    }
    if (rc == SQLITE_OK) {
        w->phrases = phrases;
        w->average = rows > 0 && tokens > 0 ? (double)tokens / (double)rows : 1;
        if (rank->plain)
            w->average = PLAIN_LENGTH;
        rc = api->xSetAuxdata(context, w, sqlite3_free); /* frees it when it fails */
        *out = w;
        return rc;
    }
    sqlite3_free(w);
    return rc;
}

static int score(double *out, const weights *w, const vls_search_rank *rank,
                 const Fts5ExtensionApi *api, Fts5Context *context)
{
    static const double in_column[] = {1, 2, 4};
    double length = rank->lengths[api->xRowid(context) >> 2 & 255], sum = 0;
    double floor = K1 * (1 - B + B * length / w->average);
    int rc = SQLITE_OK;

    for (int i = 0; rc == SQLITE_OK && i < w->phrases; i++) {
        Fts5PhraseIter it;
        double tf = 0;
        int column = 0, offset = 0;
        for (rc = api->xPhraseFirst(context, i, &it, &column, &offset);
             rc == SQLITE_OK && column >= 0; api->xPhraseNext(context, &it, &column, &offset))
            tf += in_column[column < 3 ? column : 0];
        sum += w->idf[i] * tf * (K1 + 1) / (tf + floor);
    }
    *out = sum;
    return rc;
}

static void rank_row(const Fts5ExtensionApi *api, Fts5Context *context, sqlite3_context *answer,
                     int count, sqlite3_value **values)
{
    weights *w = api->xGetAuxdata(context, 0);
    double result = 0;
    int rc = w ? SQLITE_OK : weigh(&w, api, context);

    (void)count;
    (void)values;
    if (rc == SQLITE_OK)
        rc = score(&result, w, api->xUserData(context), api, context);
    if (rc == SQLITE_OK)
        sqlite3_result_double(answer, result);
    else
        sqlite3_result_error_code(answer, rc);
}

int vls_search_rank_open(vls_search_rank *rank, sqlite3 *db)
{
    fts5_api *api = NULL;
    int rc = vls_search_fts5(&api, db);

    for (int i = 0; i < 256; i++)
        rank->lengths[i] = pow(STEP, i) - 1;
    return rc == SQLITE_OK ? api->xCreateFunction(api, "fit", rank, rank_row, NULL) : rc;
}
