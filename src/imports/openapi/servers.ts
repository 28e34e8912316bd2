import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import { parseHttpUrl } from '../../templates/base-url.ts'
import { claimKey, globalKeyOf } from './names.ts'
import { objectEntries, toList, toObject, toText } from './nodes.ts'
import type { Description } from './open-description.ts'
import { holdsSecret, plainText, REMOVED_SECRET, withoutSecrets } from './texts.ts'

const MAX_TEXT_CHARS = 200
const BASE_KEY = 'base_url'
/** Origins that a tool can have. */
const MAX_ORIGINS = 100

/** A variable of a server's URL (OpenAPI 3.1.1 §4.8.6). */
export type ServerVariable = {
  name: string
  default: string | undefined
  values: readonly string[]
  description: string | undefined
}

/** A server that the description names. */
export type ServerProposal = {
  /** As written, with `{name}` for variables, but absolute if the URL of the description is known. */
  url: string
  description: string | undefined
  variables: readonly ServerVariable[]
}

/**
 * The base URL of tools, which becomes a global. `value` is the URL of the first server, with the defaults of its
 * variables. Undefined if the description does not say it; the user must enter it.
 */
export type BaseUrlProposal = { key: string; value: string | undefined; servers: readonly ServerProposal[] }

/** Returns a value of a variable, unless it looks like a secret. */
const readText = (value: JsonValue | undefined): string | undefined => {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  return holdsSecret(String(value)) ? undefined : String(value)
}

const readVariables = (server: JsonObject): readonly ServerVariable[] =>
  objectEntries(server.variables).map(([name, variable]) => ({
    name,
    default: readText(variable.default),
    values: toList(variable.enum).flatMap(value => readText(value) ?? []),
    description: plainText(toText(variable.description), MAX_TEXT_CHARS) || undefined,
  }))

/** Removes credentials and other secrets, which nobody should have written there. */
const withoutCredentials = (url: string): string => withoutSecrets(url.replace(/^([a-z]+:\/\/)[^/?#]*@/i, '$1'))

const readServer = (node: JsonValue, rootUrl: string | undefined): readonly ServerProposal[] => {
  const server = toObject(node)
  const written = withoutCredentials(toText(server.url).trim())
  if (written === '') return []
  const isRelative = !/^[a-z][a-z0-9+.-]*:/i.test(written) && !written.startsWith('{')
  const resolved =
    isRelative && rootUrl !== undefined ? URL.parse(written.replaceAll(/[{}]/g, encodeURIComponent), rootUrl) : null
  const url = resolved === null ? written : resolved.href.replaceAll('%7B', '{').replaceAll('%7D', '}')
  const description = plainText(toText(server.description), MAX_TEXT_CHARS) || undefined
  return [{ url, description, variables: readVariables(server) }]
}

/**
 * Returns the URL with the defaults of its variables. Undefined if it is not absolute, a variable has no default, or a
 * secret was removed from it.
 */
const fillUrl = ({ url, variables }: ServerProposal): string | undefined => {
  const filled = url.replaceAll(/\{([^{}]*)\}/g, (written, name: string) => {
    const variable = variables.find(one => one.name === name)
    return variable?.default ?? variable?.values[0] ?? written
  })
  const parsed = /[{}]/.test(filled) || filled.includes(REMOVED_SECRET) ? undefined : parseHttpUrl(filled)
  return parsed === undefined || parsed.search !== '' || parsed.hash !== '' ? undefined : filled.replace(/\/+$/, '')
}

/** Returns the origins of servers. Undefined if one of them is not known. */
const originsOf = (servers: readonly ServerProposal[]): readonly string[] | undefined => {
  const origins = servers.map(({ url }) =>
    /^https?:\/\/[^{}/]+(?:[/?#]|$)/i.test(url) ? parseHttpUrl(url.replaceAll(/[{}]/g, ''))?.origin : undefined,
  )
  const known = origins.filter(origin => origin !== undefined)
  return known.length === origins.length && known.length > 0 ? [...new Set(known)].slice(0, MAX_ORIGINS) : undefined
}

/**
 * Returns the server of a description that has variables in its host by the extension of Azure's descriptions. Their
 * `host` is only a placeholder.
 */
const readParameterizedHost = (root: JsonObject): readonly JsonValue[] | undefined => {
  const { hostTemplate, useSchemePrefix, parameters } = toObject(root['x-ms-parameterized-host'])
  if (typeof hostTemplate !== 'string') return undefined
  const { pathname = '' } = URL.parse(toText(toObject(toList(root.servers)[0]).url)) ?? {}
  const url = `${useSchemePrefix === false ? '' : 'https://'}${hostTemplate}${pathname.replace(/\/$/, '')}`
  const variables = toList(parameters).map(toObject)
  return [{ url, variables: Object.fromEntries(variables.map(variable => [toText(variable.name), variable])) }]
}

/** The base URL of an operation, and the origins that its tool may call. */
export type OperationServer = { key: string; origins: readonly string[] | undefined }

/**
 * Reads the servers of a description. Operations with other servers than the whole description have a base URL of their
 * own, named after its host. `taken` are keys that their globals cannot have.
 */
export const readServers = ({ root, rootUrl }: Description, taken: Set<string>) => {
  const proposals = new Map<string, BaseUrlProposal>()
  const add = (key: string, servers: readonly ServerProposal[]): BaseUrlProposal => {
    const [first] = servers
    const value = first === undefined ? undefined : fillUrl(first)
    const proposal = { key: claimKey(key, taken), value, servers }
    proposals.set(first?.url ?? '', proposal)
    return proposal
  }
  const readAll = (servers: readonly JsonValue[]) => servers.flatMap(server => readServer(server, rootUrl))
  const common = readAll(readParameterizedHost(root) ?? toList(root.servers))
  const base = add(BASE_KEY, common.length > 0 || rootUrl === undefined ? common : readServer({ url: '/' }, rootUrl))
  const origins = originsOf(base.servers)

  return {
    base,
    /** The base URLs of all operations that were asked for so far. */
    proposals: (): readonly BaseUrlProposal[] => [...proposals.values()],
    serverOf: (item: JsonObject, operation: JsonObject): OperationServer => {
      const own = readAll(toList(operation.servers ?? item.servers))
      const [first] = own
      if (first === undefined || own.some(({ url }) => url === base.servers[0]?.url)) return { key: base.key, origins }
      const host = URL.parse(fillUrl(first) ?? '')?.hostname ?? ''
      const known = proposals.get(first.url) ?? add(`${globalKeyOf(host, 'other').slice(0, 50)}_${BASE_KEY}`, own)
      return { key: known.key, origins: originsOf(own) }
    },
  }
}

export type Servers = ReturnType<typeof readServers>
