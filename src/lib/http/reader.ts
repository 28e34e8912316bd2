import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

const PROGRAM_TYPES: readonly string[] = ['application/json', 'text/event-stream', 'application/problem+json']

/** The media types that are taken, as they are written; what has no weight is refused (RFC 9110 §12.5.1). */
const typesOf = (accept: string): string[] =>
  accept
    .toLowerCase()
    .split(',')
    .flatMap(part => {
      const [type = '', ...parameters] = part.split(';').map(text => text.trim())
      return parameters.some(text => /^q=0(\.0*)?$/.test(text)) ? [] : [type]
    })

/** Whether a person's browser asks: HTML is named, and before anything that only programs read. */
export const isForPerson = ({ accept }: IncomingHttpHeaders): boolean => {
  if (accept === undefined || !accept.includes('text/html')) return false
  const first = typesOf(accept).find(type => type === 'text/html' || PROGRAM_TYPES.includes(type))
  return first === 'text/html'
}

const PERSON = 'person'
const PROGRAM = 'program'
/** For the `constraints` of a route that people's browsers alone are to reach; all else goes on as if it were not there. */
export const FOR_PERSON = { reader: PERSON } as const

/** A route constraint of Fastify's: `reader` tells who asks. */
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
