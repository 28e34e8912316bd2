import type { Transaction } from '../../lib/db/client.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { explainUnpassable } from '../../upstreams/passthrough-rules.ts'
import { listAllUpstreams } from '../../upstreams/upstreams.store.ts'
import type { Server } from '../server.ts'
import { countUses } from '../sources/toolkit-uses.store.ts'
import { countInstances } from '../tools/instances.store.ts'

/** Refuses tools and toolkits for a server that passes its requests on: it answers none itself. */
export const assertHoldsTools = ({ presentation }: Server): void => {
  if (presentation !== 'passthrough') return
  throw new AppError(
    'conflict',
    'This server passes its requests on to one upstream, and holds no tools: change its presentation first.',
  )
}

const explainTools = async (tx: Transaction, serverId: string): Promise<string | undefined> => {
  if ((await countInstances(tx, serverId)) > 0) return 'it has tools of its own, which nobody could call any more'
  return (await countUses(tx, serverId)) > 0 ? 'it uses toolkits, of which nothing could be called' : undefined
}

/** Refuses to have a server pass its requests on that holds anything besides one remote upstream. */
export const assertCanPassThrough = async (tx: Transaction, serverId: string): Promise<void> => {
  const why = (await explainTools(tx, serverId)) ?? explainUnpassable(await listAllUpstreams(tx, serverId))
  if (why === undefined) return
  throw new AppError('conflict', `The server cannot pass its requests on: ${why}.`, {
    errors: [{ path: 'presentation', message: `cannot be passthrough: ${why}` }],
  })
}
