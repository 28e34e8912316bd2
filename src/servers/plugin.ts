import type { Database } from '../lib/db/client.ts'
import type { Changes } from '../lib/events/changes.ts'
import type { EventBus } from '../lib/events/event-bus.ts'
import type { Sealing } from '../lib/process/sealing.ts'
import type { Settings } from '../lib/process/settings.ts'
import { createServerAccess, type VerifyMcpToken } from './access/access.ts'
import { createRewiringService } from './bindings/rewiring.service.ts'
import { createGlobalService } from './globals/globals.service.ts'
import { deriveServerChanges } from './server-changes.ts'
import { createServerService } from './servers.service.ts'
import type { ServerRemoval } from './settings/server-removal.ts'
import { createServerTransfer } from './settings/transfer.service.ts'
import { createToolkitUseService } from './sources/toolkit-uses.service.ts'
import { createInstanceService } from './tools/instances.service.ts'
import { createToolAdding } from './tools/tool-adding.service.ts'

export type ServersNeeds = {
  db: Database
  changes: Changes
  bus: EventBus
  sealing: Sealing
  settings: { limits: Pick<Settings['limits'], 'maxToolsPerServer'> }
  removal: ServerRemoval
  /** Whether mail is delivered, so that an address can be confirmed. */
  canConfirmAddresses: boolean
  verifyMcpToken: VerifyMcpToken
}

export const serversPlugin = ({
  db,
  changes,
  bus,
  sealing,
  settings,
  removal,
  canConfirmAddresses,
  verifyMcpToken,
}: ServersNeeds) => {
  const { maxToolsPerServer } = settings.limits
  deriveServerChanges({ db, bus })
  return {
    servers: createServerService({ db, changes, removal, canConfirmAddresses }),
    serverTransfer: createServerTransfer({ db, changes }),
    globals: createGlobalService({ db, changes, sealing }),
    instances: createInstanceService({ db, changes, maxToolsPerServer }),
    rewiring: createRewiringService({ db, changes, sealing }),
    toolAdding: createToolAdding({ db, changes, maxToolsPerServer }),
    toolkitUses: createToolkitUseService({ db, changes }),
    authorizeServer: createServerAccess(verifyMcpToken),
  }
}
