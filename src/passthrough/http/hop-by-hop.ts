/** Headers that apply to one connection only (RFC 9110 §7.6.1), including obsolete ones. */
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

/** Always forwarded, even if `Connection` names it. Without its length, a body would be read as the next request. */
const NEVER_HOP = 'content-length'

/**
 * Returns a function that tells whether a header must not be forwarded, either in general or
 * because `Connection` names it.
 */
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
