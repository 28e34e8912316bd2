import { isJsonObject, type JsonObject } from '../lib/kernel/json.ts'
import { fingerprintOf, type ResponseCache, type UpstreamToolCache } from '../results/cache/response-cache.ts'
import { planShaping, type ShapingContext } from '../results/shape/shape-by-rules.ts'
import type { SchemaTrim } from '../tools/schemas/schema-check.ts'
import type { CatalogueItem } from '../upstreams/catalogue/catalogue.ts'
import { findToolAnswers } from '../upstreams/catalogue/tool-answers.ts'
import { isPerCaller, type ToolAnswers, type Upstream } from '../upstreams/upstream.ts'
import type { ExecutionParts } from './compile-tool.ts'
import type { OpenedGlobals } from './opened-globals.ts'

export type UpstreamResultParts = Pick<ExecutionParts, 'limits'> & {
  responseCache: Pick<ResponseCache, 'ofUpstreamTool'>
  /** How results are shaped and checked, including the server's setting for tables. */
  shapingContext: ShapingContext
}

/**
 * Returns whether results may be cached. The tool must be read-only according to either the upstream or the builder who
 * enabled the cache.
 */
const mayCache = ({ declared: { annotations } }: CatalogueItem, { readOnly }: ToolAnswers): boolean =>
  readOnly === true || (isJsonObject(annotations) && annotations.readOnlyHint === true)

/** Returns the cache for the tool's results, or undefined if results are not cached. */
const findCache = (
  upstream: Upstream,
  item: CatalogueItem,
  rules: ToolAnswers,
  globals: OpenedGlobals,
  { responseCache, shapingContext: { compactTables } }: UpstreamResultParts,
): UpstreamToolCache | undefined => {
  const { cacheSeconds, cacheShared } = rules
  if (cacheSeconds === undefined || !mayCache(item, rules)) return undefined
  const { id, serverId, config } = upstream
  const fingerprint = fingerprintOf(id, config, item, rules, globals.version(), compactTables)
  // Results received with a caller's own account must not be shared, regardless of the builder's setting.
  return responseCache.ofUpstreamTool({
    serverId,
    fingerprint,
    cacheSeconds,
    isShared: cacheShared === true && !isPerCaller(config),
  })
}

/** Trims results as for HTTP tools, whichever JSON Schema draft the upstream declares. */
export const trimOfDeclared = (schema: JsonObject, shapingContext: ShapingContext): SchemaTrim =>
  shapingContext.schemaChecks.createTrim(schema, { rootName: 'the result', schemaName: 'outputSchema' }, shapingContext)

/**
 * Returns how results are shaped, or undefined for most tools, whose results are not shaped. Shaped results are checked
 * against the schema that clients see. Clients see no schema for a tool with its own budget.
 */
const findShaping = (
  { declared: { outputSchema } }: CatalogueItem,
  { response, responseTokens }: ReturnType<typeof findToolAnswers>,
  { shapingContext, limits }: UpstreamResultParts,
) => {
  const isShown = responseTokens === undefined || responseTokens === 0
  const schema = isShown && isJsonObject(outputSchema) ? outputSchema : undefined
  const planned = planShaping({ response, outputSchema: schema }, shapingContext, limits.maxResponseBytes)
  return planned && { planned, outputTrim: schema && trimOfDeclared(schema, shapingContext) }
}

/**
 * Returns how structured content is trimmed after masking, because clients refuse a result that differs from the schema.
 * Undefined if nothing but secrets is masked, or if clients see no schema.
 */
const findMaskedTrim = (
  { declared: { outputSchema } }: CatalogueItem,
  { responseTokens = 0 }: ReturnType<typeof findToolAnswers>,
  { hasMaskingRules }: OpenedGlobals,
  { shapingContext }: UpstreamResultParts,
): SchemaTrim | undefined =>
  hasMaskingRules && responseTokens === 0 && isJsonObject(outputSchema)
    ? trimOfDeclared(outputSchema, shapingContext)
    : undefined

/** Combines the builder's settings with the upstream's declaration. */
export const planUpstreamResults = (
  upstream: Upstream,
  item: CatalogueItem,
  globals: OpenedGlobals,
  parts: UpstreamResultParts,
) => {
  const rules = findToolAnswers(upstream, item.name)
  return {
    shaping: findShaping(item, rules, parts),
    maskedTrim: findMaskedTrim(item, rules, globals, parts),
    cacheFor: findCache(upstream, item, rules, globals, parts),
    /** Token budget, in place of the server's. */
    responseTokens: rules.responseTokens,
    isReadOnly: rules.readOnly === true,
  }
}

/** Rules for handling an upstream tool's results. */
export type UpstreamResultRules = ReturnType<typeof planUpstreamResults>
