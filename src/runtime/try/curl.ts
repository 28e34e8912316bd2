import type { MaskedRequest } from '../history/index.ts'

/** Quoted for a POSIX shell: nothing inside single quotes is special but the quote itself. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** The same request as a command line, secrets masked as in the request. */
export const toCurl = ({ method, url, headers, body }: MaskedRequest): string =>
  [
    // Without globbing: braces and brackets of a URL stand for themselves.
    `curl --globoff -X ${quote(method)} ${quote(url)}`,
    ...headers.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quote(body)}`]),
  ].join(' \\\n  ')
