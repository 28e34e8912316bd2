import type { SpecTypeName } from '@modelcontextprotocol/client'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../lib/kernel/json.ts'
import { MAX_JSON_DEPTH } from '../../lib/kernel/limits.ts'
import { mcpClient } from '../connection/mcp-client.ts'
import { maskSecrets } from '../connection/output-log.ts'
import type { CatalogueFlag, CatalogueItem } from './catalogue.ts'
import { MAX_DESCRIPTION_CHARS, MAX_FLAGS, MAX_ITEM_CHARS, MAX_ITEM_NAME_CHARS } from './catalogue-limits.ts'
import { holdsHidden, removeHidden } from './hidden-text.ts'

export type ItemKind = Exclude<CatalogueFlag['kind'], 'upstream'>

const IDENTIFIERS: Readonly<Record<ItemKind, string>> = {
  tool: 'name',
  prompt: 'name',
  resource: 'uri',
  template: 'uriTemplate',
}

const SPEC_TYPES = {
  tool: 'Tool',
  prompt: 'Prompt',
  resource: 'Resource',
  template: 'ResourceTemplate',
} as const satisfies Record<ItemKind, SpecTypeName>

/** Adds a flag, unless there are already too many. */
export const addFlag = (flags: CatalogueFlag[], flag: CatalogueFlag): void => {
  if (flags.length < MAX_FLAGS) flags.push(flag)
}

/** Cleans a title or description, and flags what was changed. */
const cleanText = (
  text: string,
  { flag, what, secrets }: { flag: (message: string) => void; what: string; secrets: readonly string[] },
): string => {
  const plain = removeHidden(text)
  if (plain !== text) flag(`its ${what} contained hidden characters, which were removed`)
  const masked = maskSecrets(plain, secrets)
  if (masked.length <= MAX_DESCRIPTION_CHARS) return masked
  flag(`its ${what} was longer than ${MAX_DESCRIPTION_CHARS} characters and was cut`)
  return `${masked.slice(0, MAX_DESCRIPTION_CHARS).toWellFormed()}…`
}

const findProblem = (kind: ItemKind, name: unknown, declared: JsonObject): string | undefined => {
  if (typeof name !== 'string' || name === '') return `it has no ${IDENTIFIERS[kind]}`
  if (name.length > MAX_ITEM_NAME_CHARS)
    return `its ${IDENTIFIERS[kind]} is longer than ${MAX_ITEM_NAME_CHARS} characters`
  const text = JSON.stringify(declared)
  if (text.length > MAX_ITEM_CHARS) return `it is larger than ${MAX_ITEM_CHARS / 1_024} KiB`
  const parsed = parseJson(text, MAX_JSON_DEPTH)
  if (!parsed.ok) return parsed.error.message
  if (kind !== 'tool') return undefined
  const { inputSchema, outputSchema } = declared
  if (!isJsonObject(inputSchema) || inputSchema.type !== 'object') return 'its inputSchema does not describe an object'
  return outputSchema === undefined || isJsonObject(outputSchema) ? undefined : 'its outputSchema is not a schema'
}

/** Replaces boolean property schemas with objects. A single boolean makes older clients reject the whole list. */
const expandBooleanProperties = (schema: JsonObject): JsonObject => {
  const { properties } = schema
  if (!isJsonObject(properties) || !Object.values(properties).some(each => typeof each === 'boolean')) return schema
  const spelled = Object.entries(properties).map(([name, each]): [string, JsonValue] => {
    if (typeof each !== 'boolean') return [name, each]
    return [name, each ? {} : { not: {} }]
  })
  return { ...schema, properties: Object.fromEntries(spelled) }
}

/** One item that violates the specification makes clients reject the whole list, for all upstreams. */
const findSpecViolation = (kind: ItemKind, item: JsonObject): string | undefined => {
  const { issues } = mcpClient().specTypeSchemas[SPEC_TYPES[kind]]['~standard'].validate(item)
  if (issues === undefined) return undefined
  const path = issues[0]?.path?.map(each => String(typeof each === 'object' ? each.key : each)) ?? []
  return `its ${removeHidden(path.join('.')).slice(0, 100)} does not conform to MCP`
}

/** Returns why a tool cannot be called without the Tasks extension, if so. The upstream would refuse every call. */
const findTaskRequirement = ({ execution }: JsonObject): string | undefined =>
  isJsonObject(execution) && execution.taskSupport === 'required'
    ? 'it requires the Tasks extension, which Patchbay does not support yet'
    : undefined

const maskValue = (value: JsonValue, secrets: readonly string[]): JsonValue => {
  if (typeof value === 'string') return maskSecrets(value, secrets)
  if (Array.isArray(value)) return value.map(item => maskValue(item, secrets))
  return isJsonObject(value) ? hideSecrets(value, secrets) : value
}

/**
 * Masks secret values in case the upstream reveals them. Leaves keys unchanged, because the item would not work without
 * them.
 */
export const hideSecrets = (value: JsonObject, secrets: readonly string[]): JsonObject =>
  secrets.length === 0
    ? value
    : Object.fromEntries(Object.entries(value).map(([key, member]) => [key, maskValue(member, secrets)]))

/** Returns the name to show in a flag. */
export const shortName = (name: unknown): string => (typeof name === 'string' ? removeHidden(name).slice(0, 100) : '')

/** Returns the items that can be passed on. Flags and drops all others. */
export const cleanItems = (
  kind: ItemKind,
  items: readonly JsonObject[],
  flags: CatalogueFlag[],
  secrets: readonly string[],
): CatalogueItem[] => {
  const cleaned = new Map<string, CatalogueItem>()
  for (const item of items) {
    const key = IDENTIFIERS[kind]
    const { [key]: name, ...rest } = item
    const flag = (message: string): void => addFlag(flags, { kind, item: shortName(name), message })
    const declared = { ...rest }
    for (const what of ['title', 'description']) if (typeof declared[what] !== 'string') delete declared[what]
    for (const what of ['inputSchema', 'outputSchema']) {
      const schema = declared[what]
      if (isJsonObject(schema)) declared[what] = expandBooleanProperties(schema)
    }
    let problem = findProblem(kind, name, declared)
    // `execution` (tasks) is never passed on, so it need not be valid.
    problem ??= findSpecViolation(kind, { ...declared, [key]: name ?? null, execution: {} })
    if (typeof name === 'string' && cleaned.has(name)) problem ??= 'it is listed twice'
    if (kind === 'tool') problem ??= findTaskRequirement(declared)
    if (problem !== undefined || typeof name !== 'string') {
      flag(`${problem}; left out`)
      continue
    }
    for (const what of ['title', 'description']) {
      const text = declared[what]
      if (typeof text === 'string') declared[what] = cleanText(text, { flag, what, secrets })
    }
    if (removeHidden(name) !== name) flag(`its ${key} contains hidden characters`)
    const { title: _title, description: _description, ...untouched } = rest
    for (const [what, value] of Object.entries(untouched)) {
      if (holdsHidden(value))
        flag(`its ${removeHidden(what).slice(0, 40)} contains hidden characters and is passed on unchanged`)
    }
    cleaned.set(name, { name, declared: hideSecrets(declared, secrets) })
  }
  return [...cleaned.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}
