import { writeAudit } from '../../identity/audit/audit.store.ts'
import { type Database, transact } from '../../lib/db/client.ts'
import type { Logger } from '../../lib/process/logger.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { listServersWithPendingOrigins, setOrigins } from '../globals/globals.store.ts'
import { findServerOfAnybody } from '../servers.store.ts'
import { listOriginsInUse } from './secret-origins.ts'

type Parts = { db: Database; sealing: Sealing }

const setFirstOriginsOf = async ({ db, sealing }: Parts, serverId: string): Promise<void> => {
  const { secrets, originsOf } = await listOriginsInUse(db, serverId, sealing)
  await transact(db, async tx => {
    const server = await findServerOfAnybody(tx, serverId)
    for (const secret of secrets) {
      if (!secret.isSecret || secret.originsBy !== 'pending') continue
      const origins = originsOf(secret.key)
      const { key, id } = secret
      await setOrigins(tx, id, { origins, originsBy: origins.length === 0 ? 'nobody' : 'manager' })
      if (server === undefined || origins.length === 0) continue
      await writeAudit(tx, {
        action: 'secret.origins_changed',
        actor: undefined,
        organizationId: server.organizationId,
        target: { type: 'server', id: serverId, name: server.name },
        change: { key, origins: { from: null, to: origins } },
      })
    }
  })
}

/**
 * Gives secrets from before secrets had origins those of the tools and HTTP upstreams that use them now. Templates
 * decide these, so a migration cannot. Call it before the first request: until then, these secrets are sent nowhere.
 */
export const setFirstOrigins = async ({ logger, ...parts }: Parts & { logger: Logger }): Promise<void> => {
  for (const serverId of await listServersWithPendingOrigins(parts.db)) {
    // One server's faulty rows must not stop the start. The next start tries again.
    await setFirstOriginsOf(parts, serverId).catch((error: unknown) => {
      logger.error({ err: error, serverId }, 'the origins of the secrets of this server could not be set')
    })
  }
}
