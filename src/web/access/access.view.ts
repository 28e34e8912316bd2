import { shownTime } from '../../lib/http/pages/time-text.ts'
import type { McpScope } from '../../lib/kernel/mcp-scopes.ts'
import type { AuthMethod, OAuthClient } from '../../oauth/clients/oauth-client.ts'
import type { Grant } from '../../oauth/grants/grants.store.ts'
import type { OwnerNotices } from '../../servers/access/access-requests.store.ts'
import { ACCESS_TIERS, type AccessTier } from '../../servers/server.ts'
import { type ServerFrame, serverTabPath } from '../frame/server-frame.ts'

/** User-facing descriptions of the OAuth scopes. */
export const SCOPE_LABELS: Record<McpScope, { title: string; text: string }> = {
  'mcp:read': {
    title: 'List tools and call read-only tools',
    text: 'See names, descriptions and parameters, and call tools marked as read-only.',
  },
  'mcp:call': { title: 'Call all tools as you', text: 'Each call is recorded under your name.' },
}

/** The user viewing the page, and what they may do on it. */
export type Viewer = {
  userId: string
  /** Whether the viewer may change who can use the server. */
  mayChangeAccess: boolean
  mayBuild: boolean
  mayManage: boolean
}

/** Who may use a server in each tier, and how switching to that tier affects connected clients. */
const TIER_WORDS: Readonly<Record<AccessTier, { title: string; who: string; change: string }>> = {
  public: {
    title: 'Public',
    who: 'Anyone with the address, without signing in. Anonymous calls appear in the history without a user.',
    change: 'Connected clients stay connected, and previously rejected clients get access.',
  },
  organization: {
    title: 'Organization',
    who: 'Members of the organization. Clients sign in with OAuth automatically; programs send a personal access token.',
    change: 'Everyone else is disconnected immediately, and clients without a token have to sign in.',
  },
  private: {
    title: 'Private',
    who: 'The owner, the users they allow, and admins. Other members see only its name and owner, and can ask for access. Allowed users see their own calls in the history.',
    change: 'Everyone else is disconnected immediately, including members of the organization.',
  },
}

export const listTiers = ({ tier }: Pick<ServerFrame, 'tier'>, chosen: string | undefined) =>
  ACCESS_TIERS.map(value => ({
    value,
    ...TIER_WORDS[value],
    isNow: value === tier,
    isChosen: value === (ACCESS_TIERS.find(known => known === chosen) ?? tier),
  }))

/** Builds the rows of what waits for an owner's decision. Each is a sentence with forms that answer it. */
export const toNoticeRows = ({ requests, tiers }: OwnerNotices) => ({
  requests: requests.map(({ serverId, serverName, userId, email }) => ({
    serverName,
    serverHref: serverTabPath(serverId, 'overview'),
    email,
    path: `${serverTabPath(serverId, 'access')}/requests/${userId}`,
  })),
  tiers: tiers.map(({ serverId, serverName }) => ({
    serverName,
    serverHref: serverTabPath(serverId, 'overview'),
    path: `${serverTabPath(serverId, 'access')}/tier`,
  })),
})

export const toGrantRow =
  ({ userId, mayChangeAccess }: Viewer) =>
  (grant: Grant) => ({
    id: grant.id,
    client: grant.client.name,
    clientId: grant.client.id,
    email: grant.userEmail,
    isOwn: grant.userId === userId,
    scopes: grant.scopes.map(scope => SCOPE_LABELS[scope].title),
    since: shownTime(grant.createdAt),
    lastUsed: grant.lastUsedAt && shownTime(grant.lastUsedAt),
    mayRevoke: mayChangeAccess || grant.userId === userId,
  })

const AUTH_WORDS: Readonly<Record<AuthMethod, string>> = {
  none: 'Public: runs on the user’s own machine and cannot keep a secret',
  client_secret_basic: 'Confidential: secret sent in the Authorization header',
  client_secret_post: 'Confidential: secret sent in the request body',
}

export const AUTH_OPTIONS = Object.entries(AUTH_WORDS).map(([value, text]) => ({ value, text }))

export const toClientView = ({ id, name, clientId, redirectUris, ...client }: OAuthClient) => ({
  id,
  name,
  clientId,
  redirectUris,
  hasSecret: client.tokenEndpointAuthMethod !== 'none',
  since: shownTime(client.createdAt),
})
