import { formatCount } from '../../lib/http/pages/format.ts'
import { shownTime, timeText } from '../../lib/http/pages/time-text.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import type { AccountInfo } from '../../upstreams/oauth-client/account.ts'
import { connectPath } from '../../upstreams/oauth-client/account-messages.ts'
import type { UpstreamAccounts } from '../../upstreams/oauth-client/upstream-accounts.ts'
import { isPerCaller } from '../../upstreams/upstream.ts'
import type { UpstreamWithGlobals } from '../../upstreams/upstreams.service.ts'

const toConnected = (account: AccountInfo | undefined) =>
  account && { since: shownTime(account.connectedAt), isBroken: account.brokenAt !== undefined }

/** Returns what an upstream's page shows about its account; undefined if the upstream needs none. */
export const readAccountPart = async (
  accounts: Pick<UpstreamAccounts, 'findOwn' | 'countConnectedCallers'>,
  actor: Actor,
  { upstream: { id, config }, account }: UpstreamWithGlobals,
) => {
  if (config.auth.type === 'none') return undefined
  const path = connectPath(id)
  if (!isPerCaller(config)) return { isShared: true, connected: toConnected(account), path }
  const [own, count] = await Promise.all([accounts.findOwn(actor, id), accounts.countConnectedCallers(id)])
  const callers =
    count === 0
      ? 'No caller has connected an account yet. Its tools appear once the first one has.'
      : `${formatCount(count, 'caller')} connected.`
  return { isShared: false, connected: toConnected(own), callers, path }
}

/** Returns the note beside the field of a secret that is already set. */
export const toSecretNote = ({ clientSecretSetAt }: UpstreamWithGlobals): string | undefined =>
  clientSecretSetAt && `Set ${timeText(clientSecretSetAt)}. Left empty, it stays.`
