import { AppError, type FieldError } from '../lib/kernel/errors.ts'
import { MAX_GLOBAL_BYTES, MAX_SECRET_BYTES } from '../lib/kernel/limits.ts'
import type { TokenCounter } from '../lib/tokens/token-counter.ts'
import { parseHttpUrl } from '../templates/base-url.ts'
import { toShownTool } from '../tools/shown-tool.ts'
import { editedTool, type Import, type ImportEdits, type ImportItem, type ImportSettings } from './import.ts'
import type { ItemChoice } from './import-items.store.ts'
import type { Resolution } from './merge/compare-tools.ts'
import { changedNaming, type NamingChange } from './naming/naming.ts'

/** What the builder changes in one operation. Null restores what was generated. */
export type ItemChange = {
  name?: string | null | undefined
  description?: string | null | undefined
  /** How to resolve conflicts, for the whole tool or by piece. Null restores the default, `mine`. */
  resolve?: Resolution | null | undefined
}

type Values = Readonly<Record<string, string | null>>

/** What the builder chooses for all tools. Null removes a value. */
export type SettingsChange = {
  /** How the API authenticates, if its description does not say it. The source is then read again. */
  auth?: string | null | undefined
  server?: string | { newName: string } | null | undefined
  baseUrls?: Values | undefined
  variables?: Values | undefined
  /** Write-only. */
  secrets?: Values | undefined
  /** How new tools are named. Null names them as they were generated. */
  naming?: NamingChange | null | undefined
}

/** A change to an import. A missing field changes nothing. */
export type ImportChange = {
  select?: ItemChoice | undefined
  deselect?: ItemChoice | undefined
  /** By key. */
  items?: Readonly<Record<string, ItemChange | undefined>> | undefined
  settings?: SettingsChange | undefined
  /** Origins whose documents may be fetched. The source is then read again. */
  fetch?: readonly string[] | undefined
}

/** A change to an item, with the tokens of the tool after it. */
export type PreparedEdit = { item: ImportItem; edits: ImportEdits; tokens: number }

const changed = ({ edits, proposedName }: ImportItem, { name, description }: ItemChange): ImportEdits => {
  // A name that is sent as it is shown is not the builder's, so that it follows the naming of the import.
  const isProposed = proposedName !== undefined && name === proposedName
  const next = {
    name: name === undefined ? edits.name : isProposed ? undefined : (name ?? undefined),
    description: description === undefined ? edits.description : (description ?? undefined),
  }
  return Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined))
}

/** Applies a change to an item, and counts the tokens of its tool. */
export const prepareEdit = async (item: ImportItem, change: ItemChange, count: TokenCounter): Promise<PreparedEdit> => {
  if (!('tool' in item)) {
    throw new AppError('invalid_request', `${item.key} cannot become a tool. ${item.reason}`)
  }
  const edits = changed(item, change)
  const tool = editedTool({ ...item, edits }) ?? item.tool
  const { name, description, inputSchema } = toShownTool(tool)
  return { item, edits, tokens: await count(JSON.stringify({ name, description, inputSchema })) }
}

const merged = (before: Readonly<Record<string, string>>, change: Values = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries<string | null>({ ...before, ...change }).filter(
      (pair): pair is [string, string] => pair[1] !== null,
    ),
  )

const check = (
  group: string,
  values: Values | undefined,
  known: readonly string[],
  fault: (value: string) => string | undefined,
): FieldError[] =>
  Object.entries(values ?? {}).flatMap(([key, value]) => {
    const message = known.includes(key) ? value !== null && fault(value) : 'is not a global of this import'
    return message ? [{ path: `settings.${group}.${key}`, message }] : []
  })

const longerThan = (maxBytes: number) => (value: string) => {
  if (value === '') return 'is empty'
  return Buffer.byteLength(value) > maxBytes ? `is longer than ${maxBytes} bytes` : undefined
}

const urlFault = (value: string): string | undefined => {
  const url = parseHttpUrl(value)
  return url === undefined || url.search !== '' || url.hash !== ''
    ? 'must be an http or https URL without query, such as https://api.example.com/v1'
    : undefined
}

/**
 * Applies a change to the choices for all tools, and to the values of secrets. Throws `invalid_request` if a value is not
 * valid or the import has no such global.
 */
export const changeSettings = (
  { settings, summary }: Pick<Import, 'settings' | 'summary'>,
  secrets: ReadonlyMap<string, string>,
  change: SettingsChange,
): { settings: ImportSettings; secrets: ReadonlyMap<string, string> } => {
  const { baseUrls = [], globals = [] } = summary ?? {}
  const keysOf = (isSecret: boolean) => globals.filter(one => one.isSecret === isSecret).map(({ key }) => key)
  const errors = [
    ...check(
      'baseUrls',
      change.baseUrls,
      baseUrls.map(({ key }) => key),
      urlFault,
    ),
    ...check('variables', change.variables, keysOf(false), longerThan(MAX_GLOBAL_BYTES)),
    ...check('secrets', change.secrets, keysOf(true), longerThan(MAX_SECRET_BYTES)),
  ]
  if (errors.length > 0) throw new AppError('invalid_request', 'The settings are not valid.', { errors })
  const values = merged(Object.fromEntries(secrets), change.secrets)
  return {
    settings: {
      auth: change.auth === undefined ? settings.auth : (change.auth ?? undefined),
      server: change.server === undefined ? settings.server : (change.server ?? undefined),
      baseUrls: merged(settings.baseUrls, change.baseUrls),
      variables: merged(settings.variables, change.variables),
      naming: changedNaming(settings.naming, change.naming),
      secretKeys: Object.keys(values),
    },
    secrets: new Map(Object.entries(values)),
  }
}
