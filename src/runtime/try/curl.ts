import type { MaskedRequest } from '../../history/execution-record.ts'

/** Quotes a text for a POSIX shell. Within single quotes only the quote is special. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Returns a request as a curl command. Secrets are masked as in the request. */
export const toCurl = ({ method, url, headers, body }: MaskedRequest): string =>
  [
    // Without globbing, curl treats braces and brackets in a URL literally.
    `curl --globoff -X ${quote(method)} ${quote(url)}`,
    ...headers.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quote(body)}`]),
  ].join(' \\\n  ')
