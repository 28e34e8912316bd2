import type { Transaction } from '../../lib/db/client.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { explainUnpassable } from '../../upstreams/passthrough-rules.ts'
import { listAllUpstreams } from '../../upstreams/upstreams.store.ts'
import type { Server } from '../server.ts'
import { countUses } from '../sources/toolkit-uses.store.ts'
import { countInstances } from '../tools/instances.store.ts'

/** Throws `conflict` if the server is a passthrough server, which has no tools of its own. */
export const assertHoldsTools = ({ presentation }: Server): void => {
  if (presentation !== 'passthrough') return
  throw new AppError(
    'conflict',
    'A passthrough server cannot have tools or toolkits of its own. Change its presentation first.',
  )
}

/**
 * Throws `conflict` if a passthrough server would have masking rules: it sends results on as they are, so nobody must
 * rely on the rules. `path` is the setting that is being changed.
 */
export const assertMaskable = (
  { presentation, masking }: Pick<Server, 'presentation' | 'masking'>,
  path: 'presentation' | 'masking',
): void => {
  if (presentation !== 'passthrough' || masking.length === 0) return
  const message =
    path === 'masking'
      ? 'must be empty on a passthrough server, which sends results on unchanged'
      : 'cannot be passthrough: the masking rules would no longer apply to results'
  throw new AppError('conflict', `The ${path} ${message}.`, { errors: [{ path, message }] })
}

const explainTools = async (tx: Transaction, serverId: string): Promise<string | undefined> => {
  if ((await countInstances(tx, serverId)) > 0) return 'it has tools of its own, which could no longer be called'
  return (await countUses(tx, serverId)) > 0 ? 'it uses toolkits, whose tools could not be called' : undefined
}

/** Throws `conflict` if the server has anything other than a single remote upstream. */
export const assertCanPassThrough = async (tx: Transaction, serverId: string): Promise<void> => {
  const why = (await explainTools(tx, serverId)) ?? explainUnpassable(await listAllUpstreams(tx, serverId))
  if (why === undefined) return
  throw new AppError('conflict', `The presentation cannot be passthrough: ${why}.`, {
    errors: [{ path: 'presentation', message: `cannot be passthrough: ${why}` }],
  })
}
