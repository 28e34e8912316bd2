import { isPlaceholder, looksSecret } from '../../tools/secret-looks.ts'
import { type NamedParameter, secretRuleOf } from '../../tools/secret-parameters.ts'
import type { UpstreamConfig } from '../../upstreams/upstream.ts'

/** A `{{global}}` in a setting or a template. */
const REFERENCE = /\{\{\s*([^{}]*?)\s*\}\}/g

type Written = Pick<NamedParameter, 'place' | 'name'> & { value: string }

/** Returns whether a value contains a credential that is not a secret of the server. */
const isWritten = ({ place, name, value }: Written, secrets: ReadonlySet<string>): boolean => {
  if (value.trim() === '' || isPlaceholder(value) || secretRuleOf({ place, name, value }) !== 'kept') return false
  const keys = [...value.matchAll(REFERENCE)].map(([, key = '']) => key)
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

/** Returns the headers of a tool in which credentials are written out. */
export const listWrittenHeaders = (headers: readonly { name: string; value: string }[]): string[] =>
  headers.flatMap(({ name, value }) =>
    !value.includes('{{') && isWritten({ place: 'header', name, value }, new Set()) ? `header ${name}` : [],
  )
