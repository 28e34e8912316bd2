import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

const PROGRAM_TYPES: readonly string[] = ['application/json', 'text/event-stream', 'application/problem+json']

/** Returns the accepted media types in the order given, without those rejected by a weight of 0 (RFC 9110 §12.5.1). */
export const acceptedTypesOf = (accept: string): string[] =>
  accept
    .toLowerCase()
    .split(',')
    .flatMap(part => {
      const [type = '', ...parameters] = part.split(';').map(text => text.trim())
      return parameters.some(text => /^q=0(\.0*)?$/.test(text)) ? [] : [type]
    })

/** Returns whether the sender might show the response as a page. A browser that opens an address always says so. */
export const acceptsHtml = ({ accept = '' }: IncomingHttpHeaders): boolean =>
  acceptedTypesOf(accept).includes('text/html')

/** Returns whether a browser sent the request to show a page: it accepts HTML, before any type for programs. */
export const isForPerson = ({ accept }: IncomingHttpHeaders): boolean => {
  if (accept === undefined || !accept.includes('text/html')) return false
  const first = acceptedTypesOf(accept).find(type => type === 'text/html' || PROGRAM_TYPES.includes(type))
  return first === 'text/html'
}

const PERSON = 'person'
const PROGRAM = 'program'
/**
 * Value for a route's `constraints` that makes the route reachable only by browsers. Other requests are routed as if
 * the route did not exist.
 */
export const FOR_PERSON = { reader: PERSON } as const

/** Fastify route constraint `reader`, which says whether a person or a program sent the request. */
export const readerConstraint = {
  name: 'reader',
  storage: <Handler>() => {
    const handlers = new Map<string, Handler>()
    return {
      get: (reader: string): Handler | null => handlers.get(reader) ?? null,
      set: (reader: string, handler: Handler): void => {
        handlers.set(reader, handler)
      },
    }
  },
  deriveConstraint: ({ headers }: Pick<IncomingMessage, 'headers'>) => (isForPerson(headers) ? PERSON : PROGRAM),
  mustMatchWhenDerived: false,
}
