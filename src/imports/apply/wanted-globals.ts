import { globalKeysOf } from '../../servers/bindings/bindings.ts'
import { defaultBindingsOf } from '../../servers/bindings/default-bindings.ts'
import { writtenOriginOf } from '../../servers/bindings/taken-keys.ts'
import type { Bindings } from '../../servers/server.ts'
import { parseHttpUrl } from '../../templates/base-url.ts'
import { secretKeyOf } from '../../templates/check-value.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import type { ImportSettings, ImportSummary } from '../import.ts'
import { splitBaseUrl } from '../split-base-url.ts'
import type { WantedGlobal } from './plan-globals.ts'

/** What the source and the builder say about the values of globals. */
export type GivenValues = {
  summary: Pick<ImportSummary, 'baseUrls' | 'globals'> | undefined
  settings: Pick<ImportSettings, 'baseUrls' | 'variables'>
  /** Values of secrets by key. */
  secrets: ReadonlyMap<string, string>
}

/** Returns what is known about a key. What the builder entered comes first. */
const createLookUp = ({ summary, settings, secrets }: GivenValues) => {
  const baseUrls = new Map(summary?.baseUrls.map(({ key, value }) => [key, value]))
  const globals = new Map(summary?.globals.map(global => [global.key, global]))
  return (key: string, isDeclaredSecret = false): Omit<WantedGlobal, 'key'> => {
    const { value, origins = [], isSecret: isNamedSecret = false } = globals.get(key) ?? {}
    const isSecret = isNamedSecret || isDeclaredSecret
    if (isSecret) return { isSecret, value: secrets.get(key), origins }
    return { isSecret, value: settings.baseUrls[key] ?? settings.variables[key] ?? value ?? baseUrls.get(key), origins }
  }
}

/** Returns the key of the global that is the base URL of a tool. */
const baseKeyOf = ({ url }: ToolDefinition, bindings: Bindings): string | undefined => {
  const { parameter = '' } = splitBaseUrl(url) ?? {}
  const binding = Object.hasOwn(bindings, parameter) ? bindings[parameter] : undefined
  return binding?.source === 'server' ? (binding.key ?? parameter) : undefined
}

/** Creates a function that returns the origin that a tool calls, if its URL or the base URL says it. */
export const createOrigins = (given: GivenValues) => {
  const lookUp = createLookUp(given)
  return (tool: ToolDefinition): string | undefined => {
    const written = writtenOriginOf(tool.url)
    const key = written === undefined ? baseKeyOf(tool, defaultBindingsOf(tool)) : undefined
    return written ?? (key === undefined ? undefined : parseHttpUrl(lookUp(key).value ?? '')?.origin)
  }
}

/** Returns the tool with its origin among the allowed ones: the builder may have chosen another than the source names. */
export const allowOrigin = (tool: ToolDefinition, origin: string | undefined): ToolDefinition => {
  const { allowedOrigins } = tool
  if (origin === undefined || allowedOrigins === undefined || allowedOrigins.includes(origin)) return tool
  return { ...tool, allowedOrigins: [...allowedOrigins, origin] }
}

/** A tool with those of its bindings that read globals, and the origins that it calls, as far as they are known. */
export type GlobalReader = { tool: ToolDefinition; bindings: Bindings; origins: readonly string[] }

/** Returns the tools with all of their default bindings. */
export const readersOf = (tools: readonly ToolDefinition[], given: GivenValues): GlobalReader[] => {
  const originOf = createOrigins(given)
  return tools.map(tool => {
    const origin = originOf(tool)
    return { tool, bindings: defaultBindingsOf(tool), origins: origin === undefined ? [] : [origin] }
  })
}

/** Returns the keys that tools declare as those of secrets. */
const declaredSecrets = (readers: readonly GlobalReader[]): ReadonlySet<string> =>
  new Set(
    readers.flatMap(({ tool, bindings }) =>
      Object.keys(bindings).flatMap(name => secretKeyOf(tool.parameters[name]?.binding) ?? []),
    ),
  )

/** Returns the globals that the bindings read. */
export const wantedGlobalsOf = (readers: readonly GlobalReader[], given: GivenValues): WantedGlobal[] => {
  const lookUp = createLookUp(given)
  const declared = declaredSecrets(readers)
  const origins = new Map<string, Set<string>>()
  for (const reader of readers) {
    for (const [parameter, binding] of Object.entries(reader.bindings)) {
      for (const key of globalKeysOf(parameter, binding)) {
        origins.set(key, new Set([...(origins.get(key) ?? []), ...reader.origins]))
      }
    }
  }
  return [...origins].map(([key, own]) => {
    const { isSecret, value, origins: named } = lookUp(key, declared.has(key))
    return { key, isSecret, value, origins: own.size > 0 ? [...own] : named }
  })
}
