import { randomBytes } from 'node:crypto'
import { type Credential, isAmongOrigins } from '../../lib/outbound/credentials.ts'
import { compileTemplate } from '../../templates/compile.ts'
import type { CheckedParameter } from '../../templates/compile-parameters.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import type { CompiledDefinition } from '../../tools/tool-definition.ts'
import { bindingOf, globalKeysOf } from '../bindings/bindings.ts'
import { isMixed } from '../bindings/mixed-secrets.ts'
import { type FindGlobal, resolveConstant } from '../bindings/resolve-constant.ts'
import type { Bindings } from '../server.ts'

/** A key that a tool or upstream reads, and where its value is sent. */
export type KeyUse = {
  key: string
  /** The field that reads it, for errors. */
  path: string
  /** Undefined if a global is missing, a secret is the whole host, or the caller decides. May contain patterns. */
  origins: readonly string[] | undefined
  /** Whether the value is itself the base URL, and so says where it is sent. */
  isBaseUrl: boolean
}

/**
 * Matches the scheme, host and port of a URL template as written, with its placeholders. A template that starts with a
 * base URL is not matched.
 */
const AUTHORITY = /^[a-z][a-z0-9+.-]*:\/\/(?:\{\{.*?\}\}|[^/?#{])*/is

/** Stands for a secret within a host, which becomes a pattern: an origin is stored and shown in plain text. */
const SECRET_LABEL = `q${randomBytes(12).toString('hex')}q`
const WITH_SECRET = new RegExp(`[^./:]*${SECRET_LABEL}[^./:]*`, 'g')

/** A pattern that would allow any host. */
const ONLY_WILDCARDS = /^[^/]*\/\/[*.]+(?::|$)/

const originOf = (url: string): string | undefined => {
  const parsed = URL.parse(url)
  if (parsed === null || parsed.origin === 'null') return undefined
  const origin = parsed.origin.replace(WITH_SECRET, '*')
  return ONLY_WILDCARDS.test(origin) ? undefined : origin
}

const isBase = ({ parameter }: CheckedParameter): boolean => parameter.places.some(({ kind }) => kind === 'base')

/** Returns the origin that the bound parameters of a URL decide. */
const decidedOrigin = (
  { url }: ToolDefinition,
  deciding: readonly CheckedParameter[],
  bindings: Bindings,
  findGlobal: FindGlobal,
): string | undefined => {
  const covered: FindGlobal = key => {
    const found = findGlobal(key)
    return found?.isSecret ? { ...found, value: SECRET_LABEL } : found
  }
  const base = deciding.find(isBase)
  if (base !== undefined) {
    // The origin of a secret may be shown only if the secret is the whole base URL.
    const value = resolveConstant(base, bindings, isOwnBase(base, bindings) ? findGlobal : covered)
    return value.ok && typeof value.value === 'string' ? originOf(value.value) : undefined
  }
  const [authority] = AUTHORITY.exec(url) ?? []
  const template = authority === undefined ? undefined : compileTemplate({ method: 'GET', url: authority, headers: [] })
  if (!template?.ok) return undefined
  const values = deciding.flatMap(checked => {
    const value = resolveConstant(checked, bindings, covered)
    return value.ok ? [[checked.parameter.name, value.value] as const] : []
  })
  const rendered = template.value.render(new Map(values))
  return rendered.ok ? originOf(rendered.value.url) : undefined
}

/** Returns the origins that an instance calls, as far as its bindings and `allowedOrigins` decide them. */
const originsOf = (
  tool: ToolDefinition,
  { template, parameters }: CompiledDefinition,
  bindings: Bindings,
  findGlobal: FindGlobal,
): readonly string[] | undefined => {
  const { origin } = template
  const allowed = tool.allowedOrigins?.length ? tool.allowedOrigins : undefined
  /** A pattern is narrowed to the allowed origins that it matches. */
  const among = (found: string): readonly string[] =>
    allowed === undefined ? [found] : allowed.filter(one => isAmongOrigins([found], one))
  if (origin.kind === 'fixed') return among(origin.origin)
  const deciding = parameters.filter(({ parameter }) => origin.parameters.includes(parameter.name))
  if (deciding.some(({ parameter }) => bindingOf(bindings, parameter.name).source === 'exposed')) return allowed
  const found = decidedOrigin(tool, deciding, bindings, findGlobal)
  return found === undefined ? undefined : among(found)
}

/** Returns whether the base URL is the value of a global, without other text. */
const isOwnBase = (checked: CheckedParameter, bindings: Bindings): boolean => {
  const { name } = checked.parameter
  const binding = bindingOf(bindings, name)
  return isBase(checked) && globalKeysOf(name, binding).size > 0 && !isMixed(binding)
}

/** Returns every key that an instance reads, with the origins that it is sent to. */
export const listKeyUses = (
  tool: ToolDefinition,
  compiled: CompiledDefinition,
  bindings: Bindings,
  findGlobal: FindGlobal,
): KeyUse[] => {
  const origins = originsOf(tool, compiled, bindings, findGlobal)
  return compiled.parameters.flatMap(checked => {
    const { name } = checked.parameter
    const isBaseUrl = isOwnBase(checked, bindings)
    return [...globalKeysOf(name, bindingOf(bindings, name))].map(key => ({ key, path: name, origins, isBaseUrl }))
  })
}

/**
 * Returns the secrets that an instance sends. One that is itself the base URL may also be sent to the origin that it
 * names.
 */
export const listCredentials = (
  { parameters }: CompiledDefinition,
  bindings: Bindings,
  findCredential: (key: string) => Credential | undefined,
  findValue: (key: string) => string | undefined,
): Credential[] => {
  const credentials = parameters.flatMap(checked => {
    const { name } = checked.parameter
    return [...globalKeysOf(name, bindingOf(bindings, name))].flatMap(key => {
      const credential = findCredential(key)
      const own = isOwnBase(checked, bindings) ? URL.parse(findValue(key) ?? '') : null
      if (credential === undefined || own === null) return credential ?? []
      return { ...credential, origins: [own.origin, ...credential.origins] }
    })
  })
  return [...new Set(credentials)]
}
