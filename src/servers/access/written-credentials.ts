import { scanTemplate } from '../../templates/scan.ts'
import { isPlaceholder, looksSecret } from '../../tools/secret-looks.ts'
import { type NamedParameter, secretRuleOf } from '../../tools/secret-parameters.ts'
import type { UpstreamConfig } from '../../upstreams/upstream.ts'
import type { Instance } from '../server.ts'

/** A `{{global}}` in a setting or a template. The spaces are cut off later, so that the search takes linear time. */
const REFERENCE = /\{\{([^{}]*)\}\}/g

const NO_SECRETS: ReadonlySet<string> = new Set()

type Written = Pick<NamedParameter, 'place' | 'name'> & { value: string }

/** Returns whether a value contains a credential that is not a secret of the server. */
const isWritten = ({ place, name, value }: Written, secrets: ReadonlySet<string>): boolean => {
  if (value.trim() === '' || isPlaceholder(value) || secretRuleOf({ place, name, value }) !== 'kept') return false
  const keys = [...value.matchAll(REFERENCE)].map(([, key = '']) => key.trim())
  if (!keys.some(key => secrets.has(key))) return true
  return value.replaceAll(REFERENCE, ' ').split(/\s+/).some(looksSecret)
}

/** Returns whether an argument or its value is a credential: `--token=…`, or what follows `--token`. */
const isWrittenArgument = (arg: string, before: string | undefined, secrets: ReadonlySet<string>): boolean => {
  const [, joined, value = arg] = /^--?([\w-]+)=(.*)$/s.exec(arg) ?? []
  const name = joined ?? /^--?([\w-]+)$/.exec(before ?? '')?.[1] ?? ''
  return !value.startsWith('-') && isWritten({ place: 'header', name, value }, secrets)
}

const isWrittenInUrl = (url: string, secrets: ReadonlySet<string>): boolean => {
  const [address = '', query = ''] = url.split('?')
  const pairs = [...new URLSearchParams(query)]
  return (
    looksSecret(address) ||
    address.split('/').some(value => isWritten({ place: 'path', name: '', value }, secrets)) ||
    pairs.some(([name, value]) => isWritten({ place: 'query', name, value }, secrets))
  )
}

/**
 * Returns where credentials are written out in the settings of an upstream, such as "header Authorization", judging by
 * names and values. Variables have names like those of headers. `secrets` are the keys of the server's secrets.
 */
export const listWrittenCredentials = (config: UpstreamConfig, secrets: ReadonlySet<string>): string[] => {
  const named = (kind: string, values: Readonly<Record<string, string>>): string[] =>
    Object.entries(values).flatMap(([name, value]) =>
      isWritten({ place: 'header', name, value }, secrets) ? `${kind} ${name}` : [],
    )
  if (config.transport !== 'stdio') {
    const urls = [config.url, ...(config.urls ?? [])]
    return [...named('header', config.headers), ...(urls.some(url => isWrittenInUrl(url, secrets)) ? ['URL'] : [])]
  }
  const hasArgument = config.args.some((arg, index) => isWrittenArgument(arg, config.args[index - 1], secrets))
  return [...named('variable', config.env), ...(hasArgument ? ['arguments'] : [])]
}

type WrittenTool = Pick<Instance, 'bindings'> & {
  tool: Pick<Instance['tool'], 'url' | 'headers' | 'body' | 'parameters'>
}

/** A text member of JSON, also of JSON with placeholders. */
const JSON_MEMBER = /"([^"\\]{1,200})"\s*:\s*"((?:[^"\\]|\\.)*)"/g

/** Returns whether a text with placeholders contains a credential outside of them. */
const isWrittenAround = ({ value, ...named }: Written): boolean =>
  value.includes('{{')
    ? value.replaceAll(REFERENCE, ' ').split(/\s+/).some(looksSecret)
    : isWritten({ ...named, value }, NO_SECRETS)

const isWrittenInBody = (body: string): boolean => {
  const text = body.replaceAll(REFERENCE, '')
  const isJson = /^\s*[[{]/.test(text)
  const members: Iterable<readonly string[]> = isJson
    ? [...text.matchAll(JSON_MEMBER)].map(([, name = '', value = '']) => [name, value])
    : new URLSearchParams(text)
  for (const [name = '', value = ''] of members) {
    if (isWritten({ place: 'body', name, value }, NO_SECRETS)) return true
  }
  return text.split(/[^\w.-]+/).some(looksSecret)
}

const SCANNED = { pairs: 'keep', maxChars: Number.POSITIVE_INFINITY } as const

/** Returns the default values of parameters, which are sent if the model gives none. */
const listDefaults = ({ url, headers, body = '', parameters }: WrittenTool['tool']): readonly Written[] => {
  const places = [url, ...headers.map(({ value }) => value), body].flatMap(text => scanTemplate(text, SCANNED).places)
  const inTemplate = places.map(({ name, defaultText }) => ({ name, value: defaultText }))
  const described = Object.entries(parameters).map(([name, { default: value }]) => ({ name, value }))
  return [...inTemplate, ...described].flatMap(({ name, value }) =>
    typeof value === 'string' ? [{ place: 'query', name, value } as const] : [],
  )
}

/**
 * Returns where credentials are written out in a tool of a server: in the request, and as the fixed or default values of
 * parameters. A value with a placeholder or a global is none, unless a secret of a known format is beside it.
 */
export const listWrittenInTool = ({ tool, bindings }: WrittenTool): string[] => {
  const headers = tool.headers.map(({ name, value }) => ({ place: 'header', name, value }) as const)
  const fixed = Object.entries(bindings).flatMap(([name, binding]) =>
    binding.source === 'instance' && typeof binding.value === 'string'
      ? ({ place: 'query', name, value: binding.value } as const)
      : [],
  )
  const defaults = listDefaults(tool).filter(({ name }) => (bindings[name]?.source ?? 'exposed') === 'exposed')
  const values = [...fixed, ...defaults].filter(isWrittenAround).map(({ name }) => `parameter ${name}`)
  return [
    ...headers.filter(isWrittenAround).map(({ name }) => `header ${name}`),
    ...(isWrittenInUrl(tool.url.replaceAll(REFERENCE, ''), NO_SECRETS) ? ['URL'] : []),
    ...(isWrittenInBody(tool.body ?? '') ? ['body'] : []),
    ...new Set(values),
  ]
}
