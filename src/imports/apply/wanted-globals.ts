import { globalKeysOf } from '../../servers/bindings/bindings.ts'
import { defaultBindingsOf } from '../../servers/bindings/default-bindings.ts'
import { writtenOriginOf } from '../../servers/bindings/taken-keys.ts'
import type { Bindings } from '../../servers/server.ts'
import { parseHttpUrl } from '../../templates/base-url.ts'
import { secretKeyOf } from '../../templates/check-value.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import type { ImportSettings, ImportSummary } from '../import.ts'
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

/** Returns the key of the global that is the base URL of a tool. Importers write `{{url:base_url}}/path`. */
const baseKeyOf = ({ url }: ToolDefinition, bindings: Bindings): string | undefined => {
  const [, parameter = ''] = /^\{\{url:([A-Za-z0-9_.-]+)/.exec(url) ?? []
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

/** Returns the globals that the default bindings of the tools read. */
export const wantedGlobalsOf = (tools: readonly ToolDefinition[], given: GivenValues): WantedGlobal[] => {
  const lookUp = createLookUp(given)
  const originOf = createOrigins(given)
  const origins = new Map<string, Set<string>>()
  const declared = new Set(
    tools.flatMap(({ parameters }) => Object.values(parameters).flatMap(({ binding }) => secretKeyOf(binding) ?? [])),
  )
  for (const tool of tools) {
    const origin = originOf(tool)
    for (const [parameter, binding] of Object.entries(defaultBindingsOf(tool))) {
      for (const key of globalKeysOf(parameter, binding)) {
        const known = origins.get(key) ?? new Set()
        origins.set(key, origin === undefined ? known : known.add(origin))
      }
    }
  }
  return [...origins].map(([key, own]) => {
    const { isSecret, value, origins: named } = lookUp(key, declared.has(key))
    return { key, isSecret, value, origins: own.size > 0 ? [...own] : named }
  })
}
