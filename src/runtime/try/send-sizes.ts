import { noteSend } from '../../history/response-sizes.store.ts'
import { isSuccess } from '../../history/tool-day-sums.ts'
import type { Database } from '../../lib/db/client.ts'
import type { Changes } from '../../lib/events/changes.ts'
import type { TokenWork } from '../../lib/tokens/token-work.ts'
import type { Tenant } from '../../lib/worker/fair-queue.ts'
import { sampleSent } from '../../results/ledger/call-ledger.ts'
import { listAutomaticServerIds } from '../../servers/tools/instances.store.ts'
import type { ListUpkeep } from '../list-upkeep.ts'
import type { PerformedCall } from '../perform-call.ts'

export type SendSizeParts = {
  db: Database
  changes: Pick<Changes, 'commit'>
  counting: Pick<TokenWork, 'sumTokens'>
  listUpkeep: Pick<ListUpkeep, 'recheckServers'>
  onInternalError: (error: unknown) => void
}

/**
 * Records the sizes of the responses that builders get when they send a saved tool's request. They count like those of
 * recorded calls when a server decides whether its tools for cut results are listed.
 */
export const createSendSizes = ({ db, changes, counting, listUpkeep, onInternalError }: SendSizeParts) => {
  const note = async (toolId: string, { owner, group }: Tenant, { response, result }: PerformedCall): Promise<void> => {
    if (response === undefined || !isSuccess(response.status)) return
    const { tokens, texts, scale } = sampleSent(result)
    const size = tokens + Math.round((await counting.sumTokens({ owner, group }, texts)) * scale)
    await changes.commit(tx => noteSend(tx, toolId, size, new Date()))
    await listUpkeep.recheckServers(await listAutomaticServerIds(db, toolId))
  }
  return {
    /** Records the size of a successful response. Never rejects, because the request itself succeeded. */
    note: (toolId: string, tenant: Tenant, performed: PerformedCall): Promise<void> =>
      note(toolId, tenant, performed).catch(onInternalError),
  }
}
export type SendSizes = ReturnType<typeof createSendSizes>
