import type { Actor } from '../../kernel/index.ts'
import { formatCount, shownTime, timeText } from '../../platform/http/index.ts'
import { isPerCaller } from '../upstream.ts'
import type { UpstreamWithGlobals } from '../upstreams.service.ts'
import type { AccountMark } from './account.ts'
import { connectPath } from './account-words.ts'
import type { UpstreamAccounts } from './upstream-accounts.ts'

const toConnected = (account: AccountMark | undefined) =>
  account && { since: shownTime(account.connectedAt), isBroken: account.brokenAt !== undefined }

/** What the page of an upstream shows of the account by which it is reached; undefined where it asks for none. */
export const readAccountPart = async (
  accounts: Pick<UpstreamAccounts, 'findOwn' | 'countCallers'>,
  actor: Actor,
  { upstream: { id, config }, account }: UpstreamWithGlobals,
) => {
  if (config.auth.type === 'none') return undefined
  const path = connectPath(id)
  if (!isPerCaller(config)) return { isShared: true, connected: toConnected(account), path }
  const [own, count] = await Promise.all([accounts.findOwn(actor, id), accounts.countCallers(id)])
  const callers =
    count === 0
      ? 'None has connected theirs yet. What it offers is known once the first has.'
      : `${formatCount(count, 'caller')} connected.`
  return { isShared: false, connected: toConnected(own), callers, path }
}

/** Beside the field of a secret that is there already. */
export const toSecretNote = ({ clientSecretSetAt }: UpstreamWithGlobals): string | undefined =>
  clientSecretSetAt && `Set ${timeText(clientSecretSetAt)}. Left empty, it stays.`
