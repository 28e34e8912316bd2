import { createMailQueue } from '../identity/mail/mail-queue.ts'
import type { Database } from '../lib/db/client.ts'
import type { Changes } from '../lib/events/changes.ts'
import type { EventBus } from '../lib/events/event-bus.ts'
import type { Suspensions } from '../lib/kernel/suspensions.ts'
import type { Mailer } from '../lib/mail/mailer.ts'
import type { Lifecycle } from '../lib/process/lifecycle.ts'
import type { Logger } from '../lib/process/logger.ts'
import type { Sealing } from '../lib/process/sealing.ts'
import type { Settings } from '../lib/process/settings.ts'
import { createServerAccess, type VerifyMcpToken } from './access/access.ts'
import { createAccessRequestService } from './access/access-requests.service.ts'
import { createRewiringService } from './bindings/bindings.service.ts'
import { createGlobalService } from './globals/globals.service.ts'
import { createSampleService, type SampleServiceParts } from './samples/samples.service.ts'
import { createServerService } from './servers.service.ts'
import { createServerRemoval, type ServerRemovalParts } from './settings/server-removal.ts'
import { createServerTransfer } from './settings/transfer.service.ts'
import { createToolkitUseService } from './sources/toolkit-uses.service.ts'
import { listServerIdsUsing } from './sources/toolkit-uses.store.ts'
import { createInstanceService } from './tools/instances.service.ts'
import { createToolAdding } from './tools/tool-adding.service.ts'

export type ServersNeeds = {
  db: Database
  changes: Changes
  bus: EventBus
  sealing: Sealing
  settings: Pick<Settings, 'baseUrl'> & { limits: Pick<Settings['limits'], 'maxToolsPerServer'> }
  logger: Logger
  mailer: Pick<Mailer, 'isDelivering' | 'send'>
  verifyMcpToken: VerifyMcpToken
  suspensions: Suspensions
} & Pick<ServerRemovalParts, 'endAccountsOf' | 'removeHistoryOf'> &
  Pick<SampleServiceParts, 'toolkits' | 'sampleOrigin'>

/**
 * Publishes `server_changed` for each server that uses a changed toolkit or upstream. The runtime listens only for
 * changed servers.
 */
const deriveServerChanges = ({ db, bus }: { db: Database; bus: EventBus }): void => {
  bus.subscribe('toolkit_changed', async ({ toolkitId }) => {
    const serverIds = await listServerIdsUsing(db, toolkitId)
    await Promise.all(serverIds.map(serverId => bus.publish({ type: 'server_changed', serverId })))
  })
  bus.subscribe('upstream_changed', ({ serverId }) => bus.publish({ type: 'server_changed', serverId }))
}

export const serversPlugin = (needs: ServersNeeds, lifecycle: Lifecycle) => {
  const { db, changes, bus, sealing, settings, logger, mailer, verifyMcpToken, toolkits, sampleOrigin } = needs
  const { maxToolsPerServer } = settings.limits
  const removal = createServerRemoval(needs)
  lifecycle.onClose(removal.close)
  const mailQueue = createMailQueue(logger)
  lifecycle.onClose(mailQueue.settle)
  lifecycle.addChores({ name: 'finish removals of servers', run: removal.finishAll })
  deriveServerChanges({ db, bus })
  // Without email delivery, nobody can confirm an email address.
  const servers = createServerService({ db, changes, removal, canConfirmAddresses: mailer.isDelivering })
  return {
    finishServer: removal.finish,
    servers,
    samples: createSampleService({ db, changes, servers, toolkits, sampleOrigin }),
    accessRequests: createAccessRequestService({ db, changes, mailer, mailQueue, baseUrl: settings.baseUrl }),
    serverTransfer: createServerTransfer({ db, changes }),
    globals: createGlobalService({ db, changes, sealing }),
    instances: createInstanceService({ db, changes, sealing, maxToolsPerServer }),
    rewiring: createRewiringService({ db, changes, sealing }),
    toolAdding: createToolAdding({ db, changes, sealing, maxToolsPerServer }),
    toolkitUses: createToolkitUseService({ db, changes }),
    authorizeServer: createServerAccess(verifyMcpToken, needs.suspensions),
  }
}
