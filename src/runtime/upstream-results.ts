import { isJsonObject, type JsonObject } from '../lib/kernel/json.ts'
import { fingerprintOf, type ResponseCache, type UpstreamToolCache } from '../results/cache/response-cache.ts'
import { planShaping, type ShapingContext } from '../results/shape/shape-by-rules.ts'
import type { SchemaCheck } from '../tools/schemas/schema-check.ts'
import type { CatalogueItem } from '../upstreams/catalogue/catalogue.ts'
import { findToolAnswers } from '../upstreams/catalogue/tool-answers.ts'
import { isPerCaller, type ToolAnswers, type Upstream } from '../upstreams/upstream.ts'
import type { ExecutionParts } from './compile-tool.ts'
import type { OpenedGlobals } from './opened-globals.ts'

export type UpstreamResultParts = Pick<ExecutionParts, 'limits'> & {
  responseCache: Pick<ResponseCache, 'ofUpstreamTool'>
  /** Where results are shaped, and the server's settings for sending them. */
  shapingContext: ShapingContext
}

/**
 * Requires a read-only tool, according to the upstream or to the builder, who has checked the tool before enabling the
 * cache.
 */
const mayCache = ({ declared: { annotations } }: CatalogueItem, { readOnly }: ToolAnswers): boolean =>
  readOnly === true || (isJsonObject(annotations) && annotations.readOnlyHint === true)

/** Returns the cache of the tool's results, or undefined if they are not cached. */
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
  // Results obtained with one caller's account must not reach others, whatever the builder set.
  return responseCache.ofUpstreamTool({
    serverId,
    fingerprint,
    cacheSeconds,
    isShared: cacheShared === true && !isPerCaller(config),
  })
}

/** Checks results like those of our own tools, whatever draft of JSON Schema the upstream declares. */
export const checkOfDeclared = (
  { $schema: _draft, ...schema }: JsonObject,
  shapingContext: ShapingContext,
): SchemaCheck =>
  shapingContext.schemaChecks.createCheck(
    schema,
    { rootName: 'the result', schemaName: 'outputSchema' },
    shapingContext,
  )

/**
 * Returns how results are shaped; undefined for most tools. They are checked against the schema that clients see. A tool
 * with its own budget is shown without one.
 */
const findShaping = (
  { declared: { outputSchema } }: CatalogueItem,
  { response, responseTokens }: ReturnType<typeof findToolAnswers>,
  { shapingContext, limits }: UpstreamResultParts,
) => {
  const isShown = responseTokens === undefined || responseTokens === 0
  const schema = isShown && isJsonObject(outputSchema) ? outputSchema : undefined
  const planned = planShaping({ response, outputSchema: schema }, shapingContext, limits.maxResponseBytes)
  return planned && { planned, outputCheck: schema && checkOfDeclared(schema, shapingContext) }
}

/** Combines the builder's settings with what the upstream declares. */
export const planUpstreamResults = (
  upstream: Upstream,
  item: CatalogueItem,
  globals: OpenedGlobals,
  parts: UpstreamResultParts,
) => {
  const rules = findToolAnswers(upstream, item.name)
  return {
    shaping: findShaping(item, rules, parts),
    cacheFor: findCache(upstream, item, rules, globals, parts),
    /** Token budget in place of the server's. */
    responseTokens: rules.responseTokens,
    isReadOnly: rules.readOnly === true,
  }
}

/** How to treat the results of an upstream's tool. */
export type UpstreamResultRules = ReturnType<typeof planUpstreamResults>
