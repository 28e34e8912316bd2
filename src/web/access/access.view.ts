import { shownTime } from '../platform/http/index.ts'
import { ACCESS_TIERS, type AccessTier, type ServerFrame } from '../servers/index.ts'
import type { Grant } from './grant.ts'
import type { AuthMethod, OAuthClient } from './oauth-client.ts'
import { SCOPE_WORDS } from './scope-words.ts'

/** Who looks at the page, and what they may do on it. */
export type Looker = {
  userId: string
  /** Who may use the server is for them to say. */
  maySay: boolean
  mayBuild: boolean
  mayManage: boolean
}

/** Who may use a server of each tier, and what a change to it does to the clients that are connected. */
const TIER_WORDS: Readonly<Record<AccessTier, { title: string; who: string; change: string }>> = {
  public: {
    title: 'Public',
    who: 'Anyone who has the address, without signing in. Calls of strangers stand in the history without a name.',
    change: 'Connected clients go on, and those who were refused are let in.',
  },
  organization: {
    title: 'Organization',
    who: 'Members of the organization. Clients sign in by OAuth, by themselves; programs send a personal access token.',
    change: 'Open connections of everybody else end at once, and clients without a token are asked to sign in.',
  },
  private: {
    title: 'Private',
    who: 'Its owner, and whom the owner lets in by name. Clients sign in as with an organization’s.',
    change: 'Open connections of everybody else end at once, members’ too.',
  },
}

export const listTiers = ({ tier }: Pick<ServerFrame, 'tier'>, chosen: string | undefined) =>
  ACCESS_TIERS.map(value => ({
    value,
    ...TIER_WORDS[value],
    isNow: value === tier,
    isChosen: value === (ACCESS_TIERS.find(known => known === chosen) ?? tier),
  }))

export const toGrantRow =
  ({ userId, maySay }: Looker) =>
  (grant: Grant) => ({
    id: grant.id,
    client: grant.client.name,
    clientId: grant.client.id,
    email: grant.userEmail,
    isOwn: grant.userId === userId,
    scopes: grant.scopes.map(scope => SCOPE_WORDS[scope].title),
    since: shownTime(grant.createdAt),
    lastUsed: grant.lastUsedAt && shownTime(grant.lastUsedAt),
    mayRevoke: maySay || grant.userId === userId,
  })

const AUTH_WORDS: Readonly<Record<AuthMethod, string>> = {
  none: 'Public: a program on somebody’s own machine, which can keep no secret',
  client_secret_basic: 'With a secret, sent in the Authorization header',
  client_secret_post: 'With a secret, sent in the body',
}

export const AUTH_OPTIONS = Object.entries(AUTH_WORDS).map(([value, text]) => ({ value, text }))

export const toClientView = ({ id, name, clientId, redirectUris, authMethod, createdAt }: OAuthClient) => ({
  id,
  name,
  clientId,
  redirectUris,
  hasSecret: authMethod !== 'none',
  since: shownTime(createdAt),
})
