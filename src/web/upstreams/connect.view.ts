import { shorten } from '../../lib/http/pages/format.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { EVERYBODY } from '../../upstreams/oauth-client/account.ts'
import { connectPath } from '../../upstreams/oauth-client/account-messages.ts'
import type { PendingAuthorization } from '../../upstreams/oauth-client/connect-account.ts'
import type { Connectable } from '../../upstreams/oauth-client/upstream-accounts.ts'
import type { Upstream } from '../../upstreams/upstream.ts'

/** Returns the upstream's host with globals unresolved, because not every caller may know their values. */
const hostOf = ({ config }: Upstream): string =>
  config.transport === 'stdio' ? '' : (URL.parse(config.url)?.host ?? config.url.split('/')[2] ?? '')

const SHORT_CHARS = 18

/** The page shown before the browser leaves for the authorization server. */
export const toConnectView = ({ upstream, server, holder, account }: Connectable, { email }: Actor) => ({
  path: connectPath(upstream.id),
  name: upstream.name,
  shortName: shorten(upstream.name, SHORT_CHARS),
  host: hostOf(upstream),
  serverName: server.name,
  email,
  isShared: holder === EVERYBODY,
  connected: account && { since: shownTime(account.connectedAt), isBroken: account.brokenAt !== undefined },
})

const wordsOfScope = (scope: string | undefined): readonly string[] => scope?.split(' ') ?? []

/** Returns the data of the page that says where the browser is about to go, and why. */
export const toLeaveView = ({
  upstream,
  server,
  authorization,
  authorizationUrl,
}: Connectable & { authorization: PendingAuthorization; authorizationUrl: string }) => ({
  name: upstream.name,
  shortName: shorten(upstream.name, SHORT_CHARS),
  serverName: server.name,
  host: new URL(authorizationUrl).host,
  issuer: authorization.server.issuer,
  isOtherHost: new URL(authorizationUrl).host !== new URL(authorization.url).host,
  upstreamHost: new URL(authorization.url).host,
  scopes: wordsOfScope(authorization.scope),
  authorizationUrl,
})
