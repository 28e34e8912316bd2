import { isJsonObject, type JsonValue } from '../lib/kernel/json.ts'
import type { InProcessOrigin, OutboundRequest, OutboundResponse } from '../lib/outbound/outbound-request.ts'
import { CONTACTS, RATES } from './sample-data.ts'

/** Origin of the sample API. Requests to it are handled in this process and never reach the network. */
export const SAMPLE_ORIGIN = 'http://sample.patchbay.internal'

type Answer = { status: number; body: JsonValue }

const notFound = (message: string): Answer => ({ status: 404, body: { error: message } })
const badRequest = (message: string): Answer => ({ status: 400, body: { error: message } })

const convert = (query: URLSearchParams): Answer => {
  const from = (query.get('from') ?? 'EUR').toUpperCase()
  const to = (query.get('to') ?? 'USD').toUpperCase()
  const amount = Number(query.get('amount') ?? 1)
  const [fromRate, toRate] = [RATES[from], RATES[to]]
  if (fromRate === undefined || toRate === undefined) {
    return notFound(`unknown currency; available: ${Object.keys(RATES).join(', ')}`)
  }
  if (!Number.isFinite(amount)) return badRequest('amount is not a number')
  const rate = toRate / fromRate
  return { status: 200, body: { from, to, amount, rate: round(rate, 6), result: round(amount * rate, 2) } }
}

const round = (value: number, digits: number): number => Number(value.toFixed(digits))

const contacts = (path: string, query: URLSearchParams): Answer => {
  const id = /^\/contacts\/(.+)$/.exec(path)?.[1]
  if (id !== undefined) {
    const contact = CONTACTS.find(candidate => candidate.id === Number(id))
    return contact === undefined ? notFound(`contact ${id} not found`) : { status: 200, body: { ...contact } }
  }
  const words = (query.get('q') ?? '').toLowerCase()
  const found = CONTACTS.filter(contact => Object.values(contact).join(' ').toLowerCase().includes(words))
  return { status: 200, body: { total: found.length, contacts: found.map(contact => ({ ...contact })) } }
}

const echo = ({ method, body, headers }: OutboundRequest, url: URL): Answer => ({
  status: 200,
  body: {
    method,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    body: readBody(body),
  },
})

const readBody = (body: string | undefined): JsonValue => {
  if (body === undefined) return null
  try {
    const parsed: JsonValue = JSON.parse(body)
    return isJsonObject(parsed) || Array.isArray(parsed) ? parsed : body
  } catch {
    return body
  }
}

const route = (request: OutboundRequest): Answer => {
  const url = new URL(request.url)
  const { pathname, searchParams } = url
  if (pathname === '/rates') return { status: 200, body: { base: 'EUR', rates: { ...RATES } } }
  if (pathname === '/convert') return convert(searchParams)
  if (pathname === '/contacts' || pathname.startsWith('/contacts/')) return contacts(pathname, searchParams)
  if (pathname === '/echo') return echo(request, url)
  return notFound('not found; available paths: /rates, /convert, /contacts, /contacts/{id} and /echo')
}

const STATUS_TEXT: Readonly<Record<number, string>> = { 200: 'OK', 400: 'Bad Request', 404: 'Not Found' }

/** Handles requests to the sample API: a currency converter, an address book and an echo. */
export const sampleApi: InProcessOrigin = async (request): Promise<OutboundResponse> => {
  const { status, body } = route(request)
  return {
    status,
    statusText: STATUS_TEXT[status] ?? '',
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: Buffer.from(JSON.stringify(body)),
    url: request.url,
  }
}
