/* schema_meta.c -- the metaschemas of draft 2020-12.
 *
 * A schema may refer to them, most of all to check schemas, and nothing is ever fetched; so they
 * are here. Titles, comments, defaults and vocabularies are left out: they change no verdict.
 *
 * The texts are JSON with ' for ", which none of them contains otherwise; vls_schema_meta_load
 * puts the real quotes in. */
#include "json/schema_impl.h"

#define BASE "https://json-schema.org/draft/2020-12/"

typedef struct metaschema {
    const char *path; /* behind BASE */
    const char *members;
} metaschema;

static const metaschema metaschemas[] = {
    {"schema",
     "'allOf':[{'$ref':'meta/core'},{'$ref':'meta/applicator'},{'$ref':'meta/unevaluated'},"
     "{'$ref':'meta/validation'},{'$ref':'meta/meta-data'},{'$ref':'meta/format-annotation'},"
     "{'$ref':'meta/content'}],"
     "'properties':{"
     "'definitions':{'type':'object','additionalProperties':{'$dynamicRef':'#meta'}},"
     "'dependencies':{'type':'object','additionalProperties':{'anyOf':[{'$dynamicRef':'#meta'},"
     "{'$ref':'meta/validation#/$defs/stringArray'}]}},"
     "'$recursiveAnchor':{'$ref':'meta/core#/$defs/anchorString'},"
     "'$recursiveRef':{'$ref':'meta/core#/$defs/uriReferenceString'}}"},

    {"meta/core", "'properties':{"
                  "'$id':{'$ref':'#/$defs/uriReferenceString','pattern':'^[^#]*#?$'},"
                  "'$schema':{'$ref':'#/$defs/uriString'},"
                  "'$ref':{'$ref':'#/$defs/uriReferenceString'},"
                  "'$anchor':{'$ref':'#/$defs/anchorString'},"
                  "'$dynamicRef':{'$ref':'#/$defs/uriReferenceString'},"
                  "'$dynamicAnchor':{'$ref':'#/$defs/anchorString'},"
                  "'$vocabulary':{'type':'object','propertyNames':{'$ref':'#/$defs/uriString'},"
                  "'additionalProperties':{'type':'boolean'}},"
                  "'$comment':{'type':'string'},"
                  "'$defs':{'type':'object','additionalProperties':{'$dynamicRef':'#meta'}}},"
                  "'$defs':{"
                  "'anchorString':{'type':'string','pattern':'^[A-Za-z_][-A-Za-z0-9._]*$'},"
                  "'uriString':{'type':'string','format':'uri'},"
                  "'uriReferenceString':{'type':'string','format':'uri-reference'}}"},

    {"meta/applicator",
     "'properties':{"
     "'prefixItems':{'$ref':'#/$defs/schemaArray'},"
     "'items':{'$dynamicRef':'#meta'},"
     "'contains':{'$dynamicRef':'#meta'},"
     "'additionalProperties':{'$dynamicRef':'#meta'},"
     "'properties':{'type':'object','additionalProperties':{'$dynamicRef':'#meta'}},"
     "'patternProperties':{'type':'object','additionalProperties':{'$dynamicRef':'#meta'},"
     "'propertyNames':{'format':'regex'}},"
     "'dependentSchemas':{'type':'object','additionalProperties':{'$dynamicRef':'#meta'}},"
     "'propertyNames':{'$dynamicRef':'#meta'},"
     "'if':{'$dynamicRef':'#meta'},"
     "'then':{'$dynamicRef':'#meta'},"
     "'else':{'$dynamicRef':'#meta'},"
     "'allOf':{'$ref':'#/$defs/schemaArray'},"
     "'anyOf':{'$ref':'#/$defs/schemaArray'},"
     "'oneOf':{'$ref':'#/$defs/schemaArray'},"
     "'not':{'$dynamicRef':'#meta'}},"
     "'$defs':{'schemaArray':{'type':'array','minItems':1,'items':{'$dynamicRef':'#meta'}}}"},

    {"meta/unevaluated", "'properties':{"
                         "'unevaluatedItems':{'$dynamicRef':'#meta'},"
                         "'unevaluatedProperties':{'$dynamicRef':'#meta'}}"},

    {"meta/validation",
     "'properties':{"
     "'type':{'anyOf':[{'$ref':'#/$defs/simpleTypes'},{'type':'array','minItems':1,"
     "'items':{'$ref':'#/$defs/simpleTypes'},'uniqueItems':true}]},"
     "'const':true,"
     "'enum':{'type':'array','items':true},"
     "'multipleOf':{'type':'number','exclusiveMinimum':0},"
     "'maximum':{'type':'number'},"
     "'exclusiveMaximum':{'type':'number'},"
     "'minimum':{'type':'number'},"
     "'exclusiveMinimum':{'type':'number'},"
     "'maxLength':{'$ref':'#/$defs/nonNegativeInteger'},"
     "'minLength':{'$ref':'#/$defs/nonNegativeInteger'},"
     "'pattern':{'type':'string','format':'regex'},"
     "'maxItems':{'$ref':'#/$defs/nonNegativeInteger'},"
     "'minItems':{'$ref':'#/$defs/nonNegativeInteger'},"
     "'uniqueItems':{'type':'boolean'},"
     "'maxContains':{'$ref':'#/$defs/nonNegativeInteger'},"
     "'minContains':{'$ref':'#/$defs/nonNegativeInteger'},"
     "'maxProperties':{'$ref':'#/$defs/nonNegativeInteger'},"
     "'minProperties':{'$ref':'#/$defs/nonNegativeInteger'},"
     "'required':{'$ref':'#/$defs/stringArray'},"
     "'dependentRequired':{'type':'object',"
     "'additionalProperties':{'$ref':'#/$defs/stringArray'}}},"
     "'$defs':{"
     "'nonNegativeInteger':{'type':'integer','minimum':0},"
     "'simpleTypes':{'enum':['array','boolean','integer','null','number','object','string']},"
     "'stringArray':{'type':'array','items':{'type':'string'},'uniqueItems':true}}"},

    {"meta/meta-data", "'properties':{"
                       "'title':{'type':'string'},"
                       "'description':{'type':'string'},"
                       "'default':true,"
                       "'deprecated':{'type':'boolean'},"
                       "'readOnly':{'type':'boolean'},"
                       "'writeOnly':{'type':'boolean'},"
                       "'examples':{'type':'array','items':true}}"},

    {"meta/format-annotation", "'properties':{'format':{'type':'string'}}"},

    {"meta/format-assertion", "'properties':{'format':{'type':'string'}}"},

    {"meta/content", "'properties':{"
                     "'contentEncoding':{'type':'string'},"
                     "'contentMediaType':{'type':'string'},"
                     "'contentSchema':{'$dynamicRef':'#meta'}}"},
};

static const metaschema *find_metaschema(valise_str uri)
{
    if (!vls_str_starts(uri, VLS_STR(BASE)))
        return NULL;
    for (size_t i = 0; i < VLS_COUNT(metaschemas); i++) {
        if (vls_str_equal(vls_str_from(uri, sizeof(BASE) - 1), valise_str_of(metaschemas[i].path)))
            return &metaschemas[i];
    }
    return NULL;
}

int vls_schema_meta_load(bool *found, vls_json *out, vls_arena *arena, valise_str uri,
                         valise_error *err)
{
    const metaschema *meta = find_metaschema(uri);
    VLS_AUTO(buf) vls_buf text = {0};
    valise_str kept;
    int rc;

    vls_buf_init(&text, arena->env, 8192);
    *found = meta != NULL;
    if (!meta)
        return 0;
    vls_buf_printf(&text,
                   "{'$schema':'" BASE "schema','$id':'" BASE "%s','$dynamicAnchor':'meta',"
                   "'type':['object','boolean'],%s}",
                   meta->path, meta->members);
    rc = vls_buf_check(&text, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < text.len; i++)
        text.ptr[i] = text.ptr[i] == '\'' ? '"' : text.ptr[i];
    rc = vls_arena_dup(&kept, arena, vls_buf_str(&text), err); /* the value borrows from it */
    return rc < 0 ? rc : vls_json_parse(out, arena, kept, NULL, err);
}
