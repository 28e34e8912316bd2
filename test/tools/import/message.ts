import { z } from 'zod'
import type { ImportedRequest } from '../../../src/tools/import/imported-request.ts'
import { fillMarks } from '../../../src/tools/import/variable-marks.ts'
import { ENVIRONMENT, FILES } from './curl-commands.ts'

/** What a server receives, in a form in which two requests that mean the same are equal. */
export const Message = z.object({
  method: z.string(),
  target: z.string(),
  /** Sorted, with names in lower case. Without those that every client sets itself. */
  headers: z.array(z.tuple([z.string(), z.string()])),
  body: z.string(),
})
export type Message = z.infer<typeof Message>

export type Sent = {
  method: string
  target: string
  headers: readonly (readonly [name: string, value: string])[]
  body: string
}

const OWN_HEADERS = new Set(['host', 'content-length', 'connection', 'expect', 'accept-encoding'])

const isOwn = ([name, value]: readonly [string, string]): boolean =>
  OWN_HEADERS.has(name) ||
  (name === 'user-agent' && value.startsWith('curl/')) ||
  (name === 'accept' && value === '*/*')

/** Makes requests comparable: the order of headers, spaces between cookies and the boundary do not matter. */
export const toMessage = ({ method, target, headers, body }: Sent): Message => {
  const boundary = headers.map(([, value]) => /;\s*boundary=(\S+)/.exec(value)?.[1]).find(found => found !== undefined)
  const normal = (text: string): string => (boundary === undefined ? text : text.replaceAll(boundary, 'BOUNDARY'))
  const { pathname, search } = new URL(target, 'http://example.com')
  const escaped = (pathname + search).replaceAll(/%[0-9a-f]{2}/gi, text => text.toUpperCase())
  const pairs = headers
    .map(([name, value]) => [name.toLowerCase(), normal(value)] as const)
    .map(([name, value]): [string, string] => [name, name === 'cookie' ? value.split(/;\s*/).join('; ') : value])
    .filter(pair => !isOwn(pair))
  return {
    method,
    target: escaped,
    headers: pairs.toSorted((one, other) => (one.join('\0') < other.join('\0') ? -1 : 1)),
    body: normal(body),
  }
}

/**
 * A tool may write a body in another way that means the same. It also sends JSON as such, which a command without a
 * Content-Type sends as a form, and names the type of a body that has none.
 */
export const meaningOf = ({ headers, body, ...rest }: Message) => {
  const type = headers.find(([name]) => name === 'content-type')?.[1] ?? ''
  const isJson = /json/.test(type) || /^\s*[[{]/.test(body)
  const isForm = /urlencoded/.test(type)
  return {
    ...rest,
    headers: headers.filter(([name]) => name !== 'content-type' || (!isJson && !isForm && !/octet-stream/.test(type))),
    body: isJson && body !== '' ? JSON.parse(body) : isForm ? [...new URLSearchParams(body)] : body,
  }
}

const BOUNDARY = 'a-boundary-of-the-test'

const textOf = (body: ImportedRequest['body']): string => {
  if (body.kind === 'none') return ''
  if (body.kind !== 'multipart') return body.text
  const parts = body.parts.map(({ name, value, fileName, contentType }) => {
    const file = fileName === undefined ? '' : `; filename="${fileName}"`
    const type = contentType === undefined ? '' : `\r\nContent-Type: ${contentType}`
    return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}${type}\r\n\r\n${value}\r\n`
  })
  return `${parts.join('')}--${BOUNDARY}--\r\n`
}

const contentTypeOf = (body: ImportedRequest['body']): string | undefined => {
  if (body.kind === 'none') return undefined
  return body.kind === 'multipart' ? `${body.contentType}; boundary=${BOUNDARY}` : body.contentType
}

type Fill = (text: string) => string

const authorizationOf = (auth: ImportedRequest['auth'], fill: Fill): readonly [string, string][] => {
  if (auth.kind === 'none') return []
  if (auth.kind === 'bearer') return [['Authorization', `Bearer ${fill(auth.token)}`]]
  const credentials = Buffer.from(`${fill(auth.user)}:${fill(auth.password)}`)
  return [['Authorization', `Basic ${credentials.toString('base64')}`]]
}

const urlEncode = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1).replaceAll('*', '%2A')

/** Returns the value of a variable of the commands. curl drops the line breaks of a file after `-d`, or encodes it. */
export const variableText = (written: string, command: string): string => {
  if (written.startsWith('$(')) return 'dXNlcjpwYXNz'
  if (!written.startsWith('@')) return ENVIRONMENT[written.replaceAll(/[${}]/g, '')] ?? ''
  const content = FILES[written.slice(1)] ?? ''
  return command.includes(`--data-ascii ${written}`) ? content.replaceAll(/[\r\n]/g, '') : content
}

/** Returns what is sent for the request that was read from a command. */
export const messageOf = (request: ImportedRequest, command: string): Message => {
  const { method, url, headers, auth, cookies, body } = request
  const written = new Map(request.variables.map(variable => [variable.name, variable.written]))
  const textFor = (name: string): string => variableText(written.get(name) ?? '', command)
  const fill: Fill = text => fillMarks(text, textFor)
  const isEncoded = command.includes('--data-urlencode')
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const contentType = contentTypeOf(body)
  return toMessage({
    method,
    target: fill(url),
    headers: [
      ...headers.map(({ name, value }) => [name, fill(value)] as const),
      ...authorizationOf(auth, fill),
      ...(cookie === '' ? [] : [['Cookie', fill(cookie)] as const]),
      ...(contentType === undefined ? [] : [['Content-Type', contentType] as const]),
    ],
    body: fillMarks(textOf(body), name => (isEncoded ? urlEncode(textFor(name)) : textFor(name))),
  })
}
