import { basename } from 'node:path'
import { definedFields } from '../../lib/kernel/missing.ts'
import { RESERVED_TOOL_PREFIX, TOOL_NAME } from '../../lib/kernel/names.ts'
import { compileRemote } from '../../upstreams/config/compile-remote.ts'
import type { UpstreamInput } from '../../upstreams/upstreams.schema.ts'
import type { ConfigVariable } from './config-text.ts'
import { type FoundServer, mapPlace } from './found-server.ts'
import { type HiddenText, hideSecrets, type SecretPart } from './hide-secrets.ts'
import { namesSecret } from './secret-names.ts'

const MAX_NAME_CHARS = 64
const MAX_KEY_CHARS = 64

/** Returns whether a name is reserved for Patchbay's own tools, so that upstreams must not have it. */
const isReserved = (name: string): boolean => name === 'proxy' || name.startsWith(RESERVED_TOOL_PREFIX)

/** Returns the name if it is valid for an upstream, or the most similar valid name. */
const validName = (name: string): string => {
  if (TOOL_NAME.test(name) && !isReserved(name)) return name
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, MAX_NAME_CHARS)
  if (plain === '') return 'server'
  return isReserved(plain) ? `upstream-${plain}`.slice(0, MAX_NAME_CHARS) : plain
}

/** Returns the first of `name`, `name-2`, `name-3` … that is not taken. */
const freeName = (name: string, isTaken: (name: string) => boolean): string => {
  for (let at = 1; ; at++) {
    const ending = at === 1 ? '' : `-${at}`
    const candidate = `${name.slice(0, MAX_NAME_CHARS - ending.length)}${ending}`
    if (!isTaken(candidate)) return candidate
  }
}

/** Converts any name to a valid key for a global. */
const validKey = (name: string): string => {
  const plain = name.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').slice(0, MAX_KEY_CHARS)
  return /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`.slice(0, MAX_KEY_CHARS)
}

/** A global that upstreams will refer to. Its value comes from the file or from a variable. */
export type GlobalDraft = {
  key: string
  isSecret: boolean
  from: { kind: 'file'; value: string } | { kind: 'variable'; variable: ConfigVariable }
}

/** An upstream as the management API creates it. Secrets and variables are written as `{{global}}`. */
export type UpstreamDraft<Found extends FoundServer = FoundServer> = {
  /** The server from which the upstream was drafted. */
  found: Found
  input: UpstreamInput
  /** Keys of the globals that the upstream refers to. */
  globals: readonly string[]
  notes: readonly string[]
}

/** Returns whether a variable is a secret: as its tool declares or, if the tool does not say, judging by its name. */
export const isSecretVariable = ({ isSecret, name }: ConfigVariable): boolean => isSecret ?? namesSecret(name)

/** Escapes literal braces, so that they do not become placeholders. */
const escapeBraces = (text: string): string => text.replaceAll('{{', '\\{{')

/**
 * Assigns keys to globals. The same value gets the same key, and a different value with the same name gets another key.
 */
const createKeys = (taken: ReadonlySet<string>) => {
  const globals = new Map<string, GlobalDraft>()
  const isSame = (left: GlobalDraft['from'], right: GlobalDraft['from']): boolean =>
    left.kind === 'file'
      ? right.kind === 'file' && left.value === right.value
      : right.kind === 'variable' &&
        left.variable.source === right.variable.source &&
        left.variable.name === right.variable.name

  const give = (wanted: GlobalDraft, upstream: string): string => {
    const longer = validKey(`${upstream}_${wanted.key}`)
    const numbered = Array.from({ length: 1_000 }, (_, at) => {
      const ending = `_${at + 2}`
      return `${longer.slice(0, MAX_KEY_CHARS - ending.length)}${ending}`
    })
    for (const key of [wanted.key, longer, ...numbered]) {
      const known = globals.get(key)
      if (known !== undefined && !isSame(known.from, wanted.from)) continue
      // A variable is identified by its name, so it can share an existing global. A value from the file may differ from
      // the existing global with this key, so it needs another key.
      if (wanted.from.kind === 'file' && taken.has(key)) continue
      globals.set(key, { ...wanted, key, isSecret: wanted.isSecret || known?.isSecret === true })
      return key
    }
    return wanted.key
  }
  return { globals, give }
}

type Keys = ReturnType<typeof createKeys>

const draftPart = (part: HiddenText[number], name: string, keys: Keys, used: Set<string>): string => {
  if (part.kind === 'text') return escapeBraces(part.text)
  const key = keys.give(part.kind === 'secret' ? ofFile(part, name) : ofVariable(part), name)
  used.add(key)
  return `{{${key}}}`
}

/**
 * Drafts a global for a value from the file. Names that many servers use, such as `token`, get the server's name as a
 * prefix.
 */
const ofFile = (part: SecretPart, name: string): GlobalDraft => ({
  key: validKey(
    /^(?:authorization|argument|token|key|api[-_]?key)$/i.test(part.name) ? `${name}_${part.name}` : part.name,
  ),
  isSecret: true,
  from: { kind: 'file', value: part.value },
})

const ofVariable = (variable: ConfigVariable): GlobalDraft => ({
  key: validKey(variable.source === 'file' ? basename(variable.name) : variable.name),
  isSecret: isSecretVariable(variable),
  from: { kind: 'variable', variable },
})

const draftOne = <Found extends FoundServer>(
  found: Found,
  name: string,
  keys: Keys,
  renamed: readonly string[],
): UpstreamDraft<Found> => {
  const used = new Set<string>()
  const write = (text: HiddenText): string => text.map(part => draftPart(part, name, keys, used)).join('')
  const { description, allow, deny, timeoutMs, features, isEnabled } = found
  const input: UpstreamInput = {
    name,
    ...definedFields(mapPlace(hideSecrets(found.place), write)),
    ...definedFields({ description, allow, deny, timeoutMs, features }),
    enabled: isEnabled,
  }
  return { found, input, globals: [...used], notes: [...renamed, ...found.notes] }
}

/**
 * Drafts upstreams and globals for the given servers. Each upstream gets a unique, valid name. `takenKeys` are the keys
 * of the target server's existing globals.
 */
export const draftUpstreams = <Found extends FoundServer>(
  servers: readonly Found[],
  takenKeys: ReadonlySet<string> = new Set(),
): { upstreams: readonly UpstreamDraft<Found>[]; globals: readonly GlobalDraft[] } => {
  const names = new Set<string>()
  const keys = createKeys(takenKeys)
  const upstreams = servers.map(found => {
    const name = freeName(validName(found.name), candidate => names.has(candidate))
    names.add(name)
    const renamed = name === found.name ? [] : [`Renamed to "${name}".`]
    return draftOne(found, name, keys, renamed)
  })
  return { upstreams, globals: [...keys.globals.values()] }
}

/**
 * Returns the origins of the URLs that each key is sent to, so that its secret can be sent to all of them.
 * `findValue` returns the value of a global.
 */
export const listOriginsByKey = (
  drafts: readonly UpstreamDraft[],
  findValue: (key: string) => string | undefined,
): ReadonlyMap<string, readonly string[]> => {
  const origins = new Map<string, string[]>()
  for (const { input, globals } of drafts) {
    const { transport, url = '', urls, headers = {} } = input
    const compiled = transport === 'stdio' ? undefined : compileRemote({ transport, url, urls, headers })
    if (!compiled?.ok) continue
    const found = compiled.value.listOrigins(findValue)
    for (const key of globals) origins.set(key, [...new Set([...(origins.get(key) ?? []), ...found])])
  }
  return origins
}
