import type { ImportBaseUrl } from '../../imports/import.ts'

type DescribedServer = ImportBaseUrl['servers'][number]

const VARIABLE = /\{([^{}]*)\}/g

/** Returns the URL of a described server with these values of its variables, or else their defaults. */
export const fillServerUrl = (
  { url, variables }: DescribedServer,
  findValue: (name: string) => string | undefined,
): string =>
  url
    .replaceAll(VARIABLE, (written, name: string) => {
      const variable = variables.find(one => one.name === name)
      return findValue(name) || variable?.default || variable?.values[0] || written
    })
    .replace(/\/+$/, '')

/**
 * Returns the values of the variables in a URL of this server. Undefined if it is not one. A value ends where the text
 * after its variable first occurs.
 */
export const readServerUrl = ({ url }: DescribedServer, filled: string): ReadonlyMap<string, string> | undefined => {
  const [first = '', ...rest] = url.replace(/\/+$/, '').split(VARIABLE)
  if (!filled.startsWith(first)) return undefined
  const values = new Map<string, string>()
  let at = first.length
  for (let index = 0; index < rest.length; index += 2) {
    const name = rest[index] ?? ''
    const next = rest[index + 1] ?? ''
    const isLast = index + 2 >= rest.length
    const end = isLast ? filled.length - next.length : filled.indexOf(next, at)
    if (end < at || !filled.startsWith(next, end)) return undefined
    values.set(name, filled.slice(at, end))
    at = end + next.length
  }
  return at === filled.length ? values : undefined
}
