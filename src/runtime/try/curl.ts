import type { MaskedRequest } from '../../history/execution-record.ts'

/** Quotes a text for a POSIX shell. Within single quotes, only the single quote itself is special. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Renders a request as a curl command. Secrets are masked as in the request. */
export const toCurl = ({ method, url, headers, body }: MaskedRequest): string =>
  [
    // With globbing off, curl treats braces and brackets in a URL literally.
    `curl --globoff -X ${quote(method)} ${quote(url)}`,
    ...headers.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quote(body)}`]),
  ].join(' \\\n  ')
