/** Opens many sessions and event streams. */
import { type Endpoint, encodeListen, openSession, type Session } from './mcp.ts'
import { type EventStream, openConnection, openEventStream } from './wire.ts'

/** Number of connections opened in parallel: enough to be fast, few enough for any listen backlog. */
const WIDTH = 16
const LIST_CHANGED = 'notifications/tools/list_changed'

/** Opens sessions and closes their connections, so that only the server's state of them remains. */
export const openSessions = async (endpoint: Endpoint, count: number): Promise<Session[]> => {
  const sessions: Session[] = []
  const openSome = async (some: number): Promise<void> => {
    const connection = await openConnection(endpoint.port)
    for (let index = 0; index < some; index++) sessions.push(await openSession(endpoint, connection))
    connection.close()
  }
  await Promise.all(Array.from({ length: WIDTH }, (_, lane) => openSome(Math.ceil((count - lane) / WIDTH))))
  return sessions
}

const openListener = async (endpoint: Endpoint, session: Session, id: number, onChange: () => void) => {
  let tail = ''
  const stream = await openEventStream(endpoint.port, encodeListen(endpoint, session, id), text => {
    const seen = tail + text
    const isTold = seen.includes(LIST_CHANGED)
    // The name can be split between two chunks but must be counted only once.
    tail = isTold ? '' : seen.slice(1 - LIST_CHANGED.length)
    if (isTold) onChange()
  })
  if (stream.status !== 200) throw new Error(`the request for an event stream returned HTTP ${stream.status}`)
  return stream
}

/** Opens one stream per session, each on its own connection. `onChange` is called when a stream announces new tools. */
export const openListeners = async (
  endpoint: Endpoint,
  sessions: readonly Session[],
  onChange: (index: number) => void = () => undefined,
): Promise<EventStream[]> => {
  const streams: EventStream[] = []
  for (let at = 0; at < sessions.length; at += WIDTH) {
    const opening = sessions.slice(at, at + WIDTH).map((session, offset) => {
      const index = at + offset
      return openListener(endpoint, session, index + 1, () => onChange(index))
    })
    streams.push(...(await Promise.all(opening)))
  }
  return streams
}
