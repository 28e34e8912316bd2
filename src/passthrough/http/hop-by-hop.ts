/** What concerns one connection alone (RFC 9110 §7.6.1), and what older programs say there. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
])

const isAlwaysHop = (name: string): boolean => HOP_BY_HOP.has(name)

/**
 * Of the whole message, whatever `Connection` says: a body that goes on without its length would be read as the next
 * request.
 */
const NEVER_HOP = 'content-length'

/** Tells of each header, by its name in lower case, whether it ends here: for good, or because `Connection` names it. */
export const createHopCheck = (connection: string | string[] | undefined): ((lowerCaseName: string) => boolean) => {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return isAlwaysHop
  const named = new Set(
    String(connection)
      .split(',')
      .map(name => name.trim().toLowerCase()),
  )
  named.delete(NEVER_HOP)
  return name => isAlwaysHop(name) || named.has(name)
}
