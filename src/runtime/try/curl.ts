import type { MaskedRequest } from '../../history/execution-record.ts'

/** Quotes for a POSIX shell. Inside single quotes only the quote itself is special. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Returns the request as a curl command, with secrets masked as in the request. */
export const toCurl = ({ method, url, headers, body }: MaskedRequest): string =>
  [
    // Without globbing, braces and brackets in a URL are literal.
    `curl --globoff -X ${quote(method)} ${quote(url)}`,
    ...headers.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quote(body)}`]),
  ].join(' \\\n  ')
