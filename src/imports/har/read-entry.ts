import { isReservedHeader } from '../../lib/kernel/http-headers.ts'
import { kindOf } from '../../templates/body-template.ts'
import { describeBody } from '../../tools/import/curl-body.ts'
import { parseAuthorization, parseCookies, takeHeaders } from '../../tools/import/curl-headers.ts'
import type { ImportedRequest, MultipartPart, Pair, RequestBody } from '../../tools/import/imported-request.ts'
import type { HarEntry, HarPostData } from './har.schema.ts'

/** What Chrome loads for a page, and not for its scripts. */
const PAGE_PARTS: ReadonlySet<string> = new Set(
  'document stylesheet script image font media texttrack manifest preflight websocket ping prefetch cspviolationreport'.split(
    ' ',
  ),
)

/** Media types of pages and their assets. */
const PAGE_TYPES =
  /^(?:text\/(?:html|css|javascript|ecmascript)|application\/(?:x-)?(?:javascript|font|wasm)|(?:image|font|audio|video)\/)/i
const PAGE_FILES = /\.(?:html?|css|m?js|map|png|jpe?g|gif|svg|ico|webp|avif|woff2?|ttf|otf|mp[34]|webm|wasm)$/i

/** Returns whether an entry is a part of a page, and no request of an API. */
export const isPageAsset = ({ request, response, _resourceType: type }: HarEntry): boolean => {
  const method = request.method.toUpperCase()
  if (method === 'OPTIONS' || !/^https?:\/\//i.test(request.url)) return true
  if (method !== 'GET' && method !== 'HEAD') return false
  if (type) return PAGE_PARTS.has(type.toLowerCase())
  const path = URL.parse(request.url)?.pathname ?? ''
  return PAGE_TYPES.test(response?.content?.mimeType ?? '') || PAGE_FILES.test(path)
}

/** Headers that browsers add to every request, and those that make a request conditional. */
const OF_BROWSER =
  /^(?:accept-encoding|accept-language|alt-used|cache-control|dnt|if-modified-since|if-none-match|origin|pragma|priority|referer|save-data|upgrade-insecure-requests|user-agent|x-client-data)$/i

const isKept = ({ name, value }: Pair): boolean =>
  !name.startsWith(':') &&
  !OF_BROWSER.test(name) &&
  !isReservedHeader(name.toLowerCase()) &&
  !(/^accept$/i.test(name) && value === '*/*') &&
  !/^content-type$/i.test(name)

const partsOf = ({ params }: HarPostData): readonly MultipartPart[] =>
  params.map(({ name, value = '', fileName, contentType }) => ({
    name,
    value,
    fileName: fileName ?? undefined,
    contentType: contentType ?? undefined,
  }))

const formText = ({ params }: HarPostData): string =>
  new URLSearchParams(params.map(({ name, value = '' }): [string, string] => [name, value])).toString()

/** Reads a body. Undefined if it is bytes, which a tool cannot send. */
const readBody = (data: HarPostData | null | undefined, note: (sentence: string) => void): RequestBody | undefined => {
  if (data === null || data === undefined) return { kind: 'none' }
  const { mimeType, text = '', encoding } = data
  if (encoding === 'base64' || /^application\/(?:octet-stream|grpc|x-protobuf)/i.test(mimeType)) return undefined
  const kind = kindOf(mimeType)
  if (kind === 'multipart' && data.params.length > 0) {
    return { kind, parts: partsOf(data), contentType: mimeType.split(';', 1)[0]?.trim() ?? mimeType }
  }
  const written = kind === 'form' && text === '' ? formText(data) : text
  return written === '' ? { kind: 'none' } : describeBody(written, mimeType === '' ? undefined : mimeType, note)
}

/** Reads the request of an entry. Undefined if no tool can send it. */
export const readEntry = ({ request }: HarEntry): ImportedRequest | undefined => {
  const notes: string[] = []
  const url = URL.parse(request.url)
  const body = readBody(request.postData, sentence => notes.push(sentence))
  if (url === null || body === undefined) return undefined
  const withCookies = takeHeaders(request.headers.filter(isKept), 'cookie')
  const cookies = parseCookies(withCookies.values.join('; ')) ?? []
  const { rest, values } = takeHeaders(withCookies.rest, 'authorization')
  const auth = values.length === 1 ? parseAuthorization(values[0] ?? '') : undefined
  return {
    method: request.method,
    // User and password are in the Authorization header.
    url: `${url.origin}${url.pathname}${url.search}`,
    headers: auth === undefined ? withCookies.rest : rest,
    auth: auth ?? { kind: 'none' },
    cookies,
    body,
    variables: [],
    notes,
  }
}
