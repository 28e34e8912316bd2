import type { Database } from '../lib/db/client.ts'
import type { Counters } from '../lib/db/counters.ts'
import type { Changes } from '../lib/events/changes.ts'
import type { Suspensions } from '../lib/kernel/suspensions.ts'
import type { HttpClient } from '../lib/outbound/outbound-request.ts'
import type { Logger } from '../lib/process/logger.ts'
import type { Sealing } from '../lib/process/sealing.ts'
import type { PendingAuthorizations } from './pending-authorizations.ts'
import type { Resources } from './resources.ts'

/** Dependencies of the authorization server's engine. */
export type EngineParts = {
  db: Database
  changes: Changes
  sealing: Sealing
  counters: Counters
  logger: Logger
  suspensions: Suspensions
  baseUrl: string
  /** Fetches client metadata documents, from public addresses only. */
  documents: Pick<HttpClient, 'send'>
  /** How long a used refresh token remains valid, in case several processes of one client share it. 0 disables this. */
  refreshGraceMs: number
  resources: Resources
  pendingAuthorizations: PendingAuthorizations
}
