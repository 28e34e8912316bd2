import { hasArtifacts } from './artifacts.store.ts'
import { createConsents } from './consents.ts'
import type { EngineParts } from './engine.ts'
import { createFloodGate } from './flood-gate.ts'
import { createHandOver } from './hand-over.ts'
import { createEngineLoader } from './load-engine.ts'
import { createRegistrations } from './registration.ts'
import { findResourceServer } from './resource-servers.store.ts'
import { createResources } from './resources.ts'
import { createVisits } from './visits.ts'

export type AuthorizationServerParts = Omit<EngineParts, 'resources' | 'visits' | 'now'> &
  Partial<Pick<EngineParts, 'now'>>

/** The OAuth 2.1 authorization server: its engine, and what its pages and endpoints need besides. */
export const createAuthorizationServer = (parts: AuthorizationServerParts) => {
  const { db, changes, sealing, counters, baseUrl, now = Date.now } = parts
  const resources = createResources(baseUrl)
  const visits = createVisits()
  const loadEngine = createEngineLoader({ ...parts, resources, visits, now })
  return {
    loadEngine,
    /** Where applications have connected before: the next one would hold up the calls of others while it loads. */
    prepare: async (): Promise<void> => {
      if (await hasArtifacts(db)) await loadEngine()
    },
    handOver: createHandOver(loadEngine, baseUrl),
    visits,
    resources,
    counters,
    gate: createFloodGate(),
    consents: createConsents({ changes, resources, now }),
    registrations: createRegistrations({ db, sealing, now }),
    findResourceServer: (id: string) => findResourceServer(db, id),
  }
}
