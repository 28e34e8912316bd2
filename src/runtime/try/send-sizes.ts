import { noteSend } from '../../history/response-sizes.store.ts'
import { isSuccess } from '../../history/tool-day-sums.ts'
import type { Changes } from '../../lib/events/changes.ts'
import type { TokenWork } from '../../lib/tokens/token-work.ts'
import type { Tenant } from '../../lib/worker/fair-queue.ts'
import { sampleSent } from '../../results/ledger/call-ledger.ts'
import { MIN_RESPONSES } from '../../servers/settings/cut-result-listing.ts'
import { listAutomaticServerIds } from '../../servers/tools/instances.store.ts'
import type { PerformedCall } from '../perform-call.ts'

export type SendSizeParts = {
  changes: Pick<Changes, 'commit'>
  counting: Pick<TokenWork, 'sumTokens'>
  onInternalError: (error: unknown) => void
}

/**
 * Records the sizes of the responses that builders get when they send a saved tool's request. They count like those of
 * recorded calls when a server decides whether its tools for cut results are listed.
 */
export const createSendSizes = ({ changes, counting, onInternalError }: SendSizeParts) => {
  const note = async (toolId: string, { owner, group }: Tenant, { response, result }: PerformedCall): Promise<void> => {
    if (response === undefined || !isSuccess(response.status)) return
    const { tokens, texts, scale } = sampleSent(result)
    const size = tokens + Math.round((await counting.sumTokens({ owner, group }, texts)) * scale)
    await changes.commit(async (tx, announce) => {
      const succeeded = await noteSend(tx, toolId, size, new Date())
      // Further responses do not prove more.
      if (succeeded > MIN_RESPONSES) return
      for (const serverId of await listAutomaticServerIds(tx, toolId)) announce({ type: 'server_changed', serverId })
    })
  }
  return {
    /** Records the size of a successful response. Never rejects, because the request itself succeeded. */
    note: (toolId: string, tenant: Tenant, performed: PerformedCall): Promise<void> =>
      note(toolId, tenant, performed).catch(onInternalError),
  }
}
export type SendSizes = ReturnType<typeof createSendSizes>
