import { z } from 'zod'
import { isJsonObject, type JsonObject, toJsonObject } from '../../lib/kernel/json.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import { MAX_STATE_ERROR_CHARS } from '../connection/error-responses.ts'
import { mcpClient } from '../connection/mcp-client.ts'
import type { UpstreamClient } from '../connection/open-connection.ts'
import { maskSecrets } from '../connection/output-log.ts'
import { UpstreamError } from '../connection/upstream-error.ts'
import type { UpstreamFeatures } from '../upstream.ts'
import type { Catalogue, CatalogueFlag, CatalogueItem } from './catalogue.ts'
import {
  MAX_CATALOGUE_CHARS,
  MAX_CLIENT_LIST_CHARS,
  MAX_CLIENT_LIST_PAGES,
  MAX_DESCRIPTION_CHARS,
  MAX_LIST_ITEMS,
  MAX_LIST_PAGES,
} from './catalogue-limits.ts'
import { addFlag, cleanItems, hideSecrets, type ItemKind } from './clean-items.ts'
import { removeHidden } from './hidden-text.ts'

/** The SDK's schemas are not used, because they drop unknown members. */
const Page = z.looseObject({ nextCursor: z.string().optional(), ttlMs: z.number().optional() })
const Items = z.array(z.unknown())

type Fetched = { items: JsonObject[]; ttlMs: number | undefined }
type ListName = 'tools' | 'resources' | 'resourceTemplates' | 'prompts'

const METHODS: Readonly<Record<ListName, string>> = {
  tools: 'tools/list',
  resources: 'resources/list',
  resourceTemplates: 'resources/templates/list',
  prompts: 'prompts/list',
}

const NOTHING: Fetched = { items: [], ttlMs: undefined }

const shorter = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)

const LIMITS = { maxPages: MAX_LIST_PAGES, maxChars: MAX_CATALOGUE_CHARS }
const CLIENT_LIMITS = { maxPages: MAX_CLIENT_LIST_PAGES, maxChars: MAX_CLIENT_LIST_CHARS }

/** Fetches all pages of a list. Each page has its own timeout. */
const fetchList = async (
  connection: UpstreamConnection,
  list: ListName,
  flags: CatalogueFlag[],
  { maxPages, maxChars } = LIMITS,
): Promise<Fetched> => {
  const items: JsonObject[] = []
  const flag = (message: string): void => addFlag(flags, { kind: 'upstream', item: list, message })
  let chars = 0
  let ttlMs: number | undefined
  let cursor: string | undefined
  for (let pages = 0; pages < maxPages; pages++) {
    const params = cursor === undefined ? {} : { cursor }
    const page = await connection.run((client, options) =>
      client.request({ method: METHODS[list], params }, Page, options),
    )
    const listed = Items.parse(page[list])
    const found = listed.filter(isJsonObject)
    if (found.length < listed.length) flag('An item that is not an object was left out.')
    chars += JSON.stringify(found).length
    ttlMs = shorter(ttlMs, page.ttlMs)
    if (chars > maxChars || items.length + found.length > MAX_LIST_ITEMS) {
      flag(`The list is too long. Only the first ${items.length} items are used.`)
      return { items, ttlMs }
    }
    items.push(...found)
    if (page.nextCursor === undefined || page.nextCursor === cursor) return { items, ttlMs }
    cursor = page.nextCursor
  }
  flag(`The list does not end. Only the first ${items.length} items are used.`)
  return { items, ttlMs }
}

/** Fetches the tools that an upstream offers to one client. Other clients may not see all of these tools. */
export const fetchClientTools = async (connection: UpstreamConnection): Promise<readonly CatalogueItem[]> => {
  const flags: CatalogueFlag[] = []
  const { items } = await fetchList(connection, 'tools', flags, CLIENT_LIMITS)
  return cleanItems('tool', items, flags, connection.secrets?.() ?? [])
}

const tooDeep = (list: ListName): UpstreamError =>
  new UpstreamError('protocol', `Its list of ${list} is nested too deeply.`)

/** Returns whether an upstream responded to the request for a list with anything but a valid list. */
const isRejection = (error: unknown): error is Error => {
  const { ProtocolError, SdkError } = mcpClient()
  return error instanceof ProtocolError || error instanceof SdkError || error instanceof z.ZodError
}

/** Builds the error for an upstream whose tools are unknown. `error` is an error response or an invalid list. */
const toolsNotListed = (error: Error, secrets: readonly string[]): UpstreamError => {
  const ownWords = 'The MCP server did not list its tools.'
  if (!(error instanceof mcpClient().ProtocolError)) {
    return new UpstreamError('protocol', `${ownWords} The response to tools/list is not a list of tools.`, { ownWords })
  }
  const text = maskSecrets(removeHidden(error.message), secrets).slice(0, MAX_STATE_ERROR_CHARS).toWellFormed()
  const message = `${ownWords} It returned the error ${error.code} to tools/list: ${text.replace(/[.\s]*$/, '.')}`
  return new UpstreamError('protocol', message, { ownWords, cause: error })
}

/** Fetches the list of tools. Returns the error if the upstream rejects the request. */
const fetchTools = async (
  connection: UpstreamConnection,
  flags: CatalogueFlag[],
  listSecrets: () => readonly string[],
): Promise<Fetched | UpstreamError> => {
  try {
    return await fetchList(connection, 'tools', flags)
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep('tools')
    if (!isRejection(error)) throw error
    return toolsNotListed(error, listSecrets())
  }
}

/**
 * Fetches a list other than that of the tools. If the upstream rejects the request, adds a flag and returns undefined.
 * The other lists are still used.
 */
const tryList = async (
  connection: UpstreamConnection,
  list: Exclude<ListName, 'tools'>,
  flags: CatalogueFlag[],
): Promise<Fetched | undefined> => {
  try {
    return await fetchList(connection, list, flags)
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(list)
    const { ProtocolError, ProtocolErrorCode } = mcpClient()
    // Many servers with resources do not implement resource templates and return this error.
    if (error instanceof ProtocolError && error.code === ProtocolErrorCode.MethodNotFound) return NOTHING
    if (!isRejection(error)) throw error
    addFlag(flags, {
      kind: 'upstream',
      item: list,
      message: 'The list could not be read. The previous one is still used.',
    })
    return undefined
  }
}

const describeServer = (
  client: UpstreamClient,
  secrets: readonly string[],
): Pick<Catalogue, 'serverInfo' | 'capabilities' | 'instructions'> => {
  const instructions = client.getInstructions()
  const plain = instructions && maskSecrets(removeHidden(instructions), secrets)
  return {
    serverInfo: hideSecrets(toJsonObject(client.getServerVersion() ?? {}), secrets),
    capabilities: toJsonObject(client.getServerCapabilities() ?? {}),
    ...(plain !== undefined && { instructions: plain.slice(0, MAX_DESCRIPTION_CHARS).toWellFormed() }),
  }
}

/**
 * Fetches the lists that an upstream offers and its `features` allow. Masks `known` secrets and account tokens. If the
 * upstream refuses a list, uses the one from `before`; if this is the list of tools, also returns the `fault`. Throws it
 * if there is nothing else to use. `checkTools` removes output schemas that clients cannot compile. `ttlMs` is the
 * shortest TTL that the upstream specifies for a list. Throws UpstreamError.
 */
export const fetchCatalogue = async (
  connection: UpstreamConnection,
  features: UpstreamFeatures,
  known: readonly string[],
  before: Catalogue | undefined,
  checkTools: (tools: readonly CatalogueItem[], flags: CatalogueFlag[]) => Promise<CatalogueItem[]>,
): Promise<{ catalogue: Catalogue; ttlMs: number | undefined; fault: UpstreamError | undefined }> => {
  const flags: CatalogueFlag[] = []
  const client = await connection.get()
  // Tokens may be renewed between requests.
  const listSecrets = () => [...known, ...(connection.secrets?.() ?? [])]
  const head = describeServer(client, listSecrets())
  const fetchIf = (list: Exclude<ListName, 'tools'>, isWanted: boolean): Promise<Fetched | undefined> =>
    isWanted ? tryList(connection, list, flags) : Promise.resolve(NOTHING)
  const { tools: hasTools, resources: hasResources, prompts: hasPrompts } = head.capabilities
  const wantsResources = features.resources && hasResources !== undefined
  const [toolsOrFault, resources, templates, prompts] = await Promise.all([
    features.tools && hasTools !== undefined ? fetchTools(connection, flags, listSecrets) : NOTHING,
    fetchIf('resources', wantsResources),
    fetchIf('resourceTemplates', wantsResources),
    fetchIf('prompts', features.prompts && hasPrompts !== undefined),
  ])
  const fault = toolsOrFault instanceof UpstreamError ? toolsOrFault : undefined
  const tools = toolsOrFault instanceof UpstreamError ? undefined : toolsOrFault
  const others = [resources, templates, prompts]
  if (fault !== undefined && before === undefined && others.every(list => !list?.items.length)) throw fault
  const secrets = listSecrets()
  const clean = (kind: ItemKind, list: Fetched | undefined): CatalogueItem[] | undefined =>
    list && cleanItems(kind, list.items, flags, secrets)
  const catalogue: Catalogue = {
    ...head,
    tools: tools ? await checkTools(cleanItems('tool', tools.items, flags, secrets), flags) : (before?.tools ?? []),
    resources: clean('resource', resources) ?? before?.resources ?? [],
    resourceTemplates: clean('template', templates) ?? before?.resourceTemplates ?? [],
    prompts: clean('prompt', prompts) ?? before?.prompts ?? [],
    flags,
  }
  if (JSON.stringify(catalogue).length > 2 * MAX_CATALOGUE_CHARS) {
    throw new UpstreamError('too_large', "The MCP server's lists are too large. Turn some features off.")
  }
  return { catalogue, ttlMs: [tools, ...others].map(list => list?.ttlMs).reduce(shorter, undefined), fault }
}
