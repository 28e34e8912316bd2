import type { SpecTypeName } from '@modelcontextprotocol/client'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../lib/kernel/json.ts'
import { MAX_JSON_DEPTH } from '../../lib/kernel/limits.ts'
import { mcpClient } from '../connection/mcp-client.ts'
import { maskSecrets } from '../connection/output-log.ts'
import type { CatalogueFlag, CatalogueItem } from './catalogue.ts'
import { MAX_DESCRIPTION_CHARS, MAX_FLAGS, MAX_ITEM_CHARS, MAX_ITEM_NAME_CHARS } from './catalogue-limits.ts'
import { holdsHidden, removeHidden } from './hidden-text.ts'

export type ItemKind = Exclude<CatalogueFlag['kind'], 'upstream'>

/** The member that an item is asked for by. */
const KEYS: Readonly<Record<ItemKind, string>> = {
  tool: 'name',
  prompt: 'name',
  resource: 'uri',
  template: 'uriTemplate',
}

/** What MCP calls each. */
const SPEC_TYPES = {
  tool: 'Tool',
  prompt: 'Prompt',
  resource: 'Resource',
  template: 'ResourceTemplate',
} as const satisfies Record<ItemKind, SpecTypeName>

export type Flags = { list: () => CatalogueFlag[]; add: (flag: CatalogueFlag) => void }

export const createFlags = (): Flags => {
  const flags: CatalogueFlag[] = []
  return {
    list: () => flags,
    add: flag => {
      if (flags.length < MAX_FLAGS) flags.push(flag)
    },
  }
}

/** A text for people and models, cleaned; what was done to it is flagged. */
const cleanText = (
  text: string,
  { flag, what, secrets }: { flag: (message: string) => void; what: string; secrets: readonly string[] },
): string => {
  const plain = removeHidden(text)
  if (plain !== text) flag(`its ${what} held hidden characters, which are left out`)
  const masked = maskSecrets(plain, secrets)
  if (masked.length <= MAX_DESCRIPTION_CHARS) return masked
  flag(`its ${what} was longer than ${MAX_DESCRIPTION_CHARS} characters and is cut`)
  return `${masked.slice(0, MAX_DESCRIPTION_CHARS).toWellFormed()}…`
}

const problemOf = (kind: ItemKind, name: unknown, declared: JsonObject): string | undefined => {
  if (typeof name !== 'string' || name === '') return `it has no ${KEYS[kind]}`
  if (name.length > MAX_ITEM_NAME_CHARS) return `its ${KEYS[kind]} is longer than ${MAX_ITEM_NAME_CHARS} characters`
  const text = JSON.stringify(declared)
  if (text.length > MAX_ITEM_CHARS) return `it is larger than ${MAX_ITEM_CHARS / 1_024} KiB`
  const parsed = parseJson(text, MAX_JSON_DEPTH)
  if (!parsed.ok) return `${parsed.error.message}`
  if (kind !== 'tool') return undefined
  const { inputSchema, outputSchema } = declared
  if (!isJsonObject(inputSchema) || inputSchema.type !== 'object') return 'its inputSchema is none of an object'
  return outputSchema === undefined || isJsonObject(outputSchema) ? undefined : 'its outputSchema is no schema'
}

/**
 * Schemas of the older client line know no `true` and `false` as the schema of a property, and refuse the whole list for
 * one: what means the same stands in their place.
 */
const spellOutProperties = (schema: JsonObject): JsonObject => {
  const { properties } = schema
  if (!isJsonObject(properties) || !Object.values(properties).some(each => typeof each === 'boolean')) return schema
  const spelled = Object.entries(properties).map(([name, each]): [string, JsonValue] => {
    if (typeof each !== 'boolean') return [name, each]
    return [name, each ? {} : { not: {} }]
  })
  return { ...schema, properties: Object.fromEntries(spelled) }
}

/** What of it no client takes: they would refuse the whole list, and with it what others offer. */
const misfitOf = (kind: ItemKind, item: JsonObject): string | undefined => {
  const { issues } = mcpClient().specTypeSchemas[SPEC_TYPES[kind]]['~standard'].validate(item)
  if (issues === undefined) return undefined
  const path = issues[0]?.path?.map(each => String(typeof each === 'object' ? each.key : each)) ?? []
  return `its ${removeHidden(path.join('.')).slice(0, 100)} is not as MCP has it`
}

const maskValue = (value: JsonValue, secrets: readonly string[]): JsonValue => {
  if (typeof value === 'string') return maskSecrets(value, secrets)
  if (Array.isArray(value)) return value.map(item => maskValue(item, secrets))
  return isJsonObject(value) ? hideSecrets(value, secrets) : value
}

/** The values of secrets that an upstream was given and tells everybody; keys are left, as nothing works without them. */
export const hideSecrets = (value: JsonObject, secrets: readonly string[]): JsonObject =>
  secrets.length === 0
    ? value
    : Object.fromEntries(Object.entries(value).map(([key, member]) => [key, maskValue(member, secrets)]))

/** A name as a flag shows it. */
export const shortName = (name: unknown): string => (typeof name === 'string' ? removeHidden(name).slice(0, 100) : '')

/** The items of a list that can be passed on; the others are flagged and left out. */
export const cleanItems = (
  kind: ItemKind,
  items: readonly JsonObject[],
  flags: Flags,
  secrets: readonly string[],
): CatalogueItem[] => {
  const kept = new Map<string, CatalogueItem>()
  for (const item of items) {
    const key = KEYS[kind]
    const { [key]: name, ...rest } = item
    const flag = (message: string): void => flags.add({ kind, item: shortName(name), message })
    const declared = { ...rest }
    for (const what of ['title', 'description']) if (typeof declared[what] !== 'string') delete declared[what]
    for (const what of ['inputSchema', 'outputSchema']) {
      const schema = declared[what]
      if (isJsonObject(schema)) declared[what] = spellOutProperties(schema)
    }
    let problem = problemOf(kind, name, declared)
    // What it says of tasks is passed on to nobody.
    problem ??= misfitOf(kind, { ...declared, [key]: name ?? null, execution: {} })
    if (typeof name === 'string' && kept.has(name)) problem ??= `the upstream lists it twice`
    if (problem !== undefined || typeof name !== 'string') {
      flag(`${problem}: it is left out`)
      continue
    }
    for (const what of ['title', 'description']) {
      const text = declared[what]
      if (typeof text === 'string') declared[what] = cleanText(text, { flag, what, secrets })
    }
    if (removeHidden(name) !== name) flag(`its ${key} holds hidden characters`)
    const { title: _title, description: _description, ...untouched } = rest
    for (const [what, value] of Object.entries(untouched)) {
      if (holdsHidden(value))
        flag(`hidden characters stand in its ${removeHidden(what).slice(0, 40)}, which is passed on as it is`)
    }
    kept.set(name, { name, declared: hideSecrets(declared, secrets) })
  }
  return [...kept.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}
