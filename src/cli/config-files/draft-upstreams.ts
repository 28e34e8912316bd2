import { basename } from 'node:path'
import type { UpstreamInput } from '../../upstreams/upstreams.service.ts'
import type { ConfigVariable } from './config-text.ts'
import type { FoundServer } from './found-server.ts'
import { type HiddenText, hideSecrets, type SecretPart } from './hide-secrets.ts'
import { namesSecret } from './secret-looks.ts'
import { freeName, validKey, validName } from './valid-names.ts'

/** A global that upstreams will refer to. Its value comes from the file or from a variable. */
export type GlobalDraft = {
  key: string
  isSecret: boolean
  from: { kind: 'file'; value: string } | { kind: 'variable'; variable: ConfigVariable }
}

/** An upstream as the management API creates it. Secrets and variables are written as `{{global}}`. */
export type UpstreamDraft = {
  /** The name in the file. */
  foundName: string
  input: UpstreamInput
  /** Keys of the globals that it refers to. */
  globals: readonly string[]
  notes: readonly string[]
}

const isSecretVariable = ({ isSecret, name }: ConfigVariable): boolean => isSecret ?? namesSecret(name)

/** Literal braces in the text must not become placeholders. */
const escapeBraces = (text: string): string => text.replaceAll('{{', '\\{{')

const MAX_KEY_CHARS = 64

/**
 * Assigns keys to globals: the same value gets the same key, and a different value with the same name gets another one.
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
      // A variable is identified by its name. A value from the file may differ from the global that already has this
      // key.
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

/** Names that every server uses get the server's name as a prefix. */
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

const draftOne = (found: FoundServer, name: string, keys: Keys, renamed: readonly string[]): UpstreamDraft => {
  const used = new Set<string>()
  const write = (text: HiddenText): string => text.map(part => draftPart(part, name, keys, used)).join('')
  const writeAll = (record: Readonly<Record<string, HiddenText>>): Record<string, string> =>
    Object.fromEntries(Object.entries(record).map(([key, text]) => [key, write(text)]))
  const place = hideSecrets(found.place)
  const where =
    place.transport === 'stdio'
      ? {
          transport: place.transport,
          command: write(place.command),
          args: place.args.map(write),
          env: writeAll(place.env),
          ...(place.cwd && { cwd: write(place.cwd) }),
        }
      : { transport: place.transport, url: write(place.url), headers: writeAll(place.headers) }
  const { description, allow, deny, timeoutMs, features, isEnabled } = found
  const input: UpstreamInput = {
    name,
    ...where,
    ...(description !== undefined && { description }),
    ...(allow !== undefined && { allow }),
    ...(deny !== undefined && { deny }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(features !== undefined && { features }),
    enabled: isEnabled,
  }
  return { foundName: found.name, input, globals: [...used], notes: [...renamed, ...found.notes] }
}

/**
 * Drafts upstreams and globals for the servers found, each with a unique, valid name. `takenKeys` are the keys of the
 * globals that the target server already has.
 */
export const draftUpstreams = (
  servers: readonly FoundServer[],
  takenKeys: ReadonlySet<string> = new Set(),
): { upstreams: readonly UpstreamDraft[]; globals: readonly GlobalDraft[] } => {
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
