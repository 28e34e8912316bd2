import type { User } from '../servers/access/access.ts'
import { hasArtifacts } from './artifacts.store.ts'
import { createRegister } from './clients/register.ts'
import type { EngineParts } from './engine-parts.ts'
import { createEngineLoader, createForwardToLibrary } from './forward-to-library.ts'
import { createConsents } from './grants/consents.ts'
import type { PendingAuthorizations } from './pending-authorizations.ts'
import { createRequestLimiter } from './request-limiter.ts'
import { findResourceServer, listUsableServers, type UsableQuery } from './resource-servers.store.ts'
import { createResources } from './resources.ts'

export type AuthorizationServerParts = Omit<EngineParts, 'resources' | 'pendingAuthorizations'>

/** Creates the OAuth 2.1 authorization server: the engine, and the parts that its pages and endpoints share. */
export const createAuthorizationServer = (parts: AuthorizationServerParts) => {
  const { db, changes, sealing, baseUrl } = parts
  const resources = createResources(baseUrl)
  const pendingAuthorizations: PendingAuthorizations = new WeakMap()
  const loadEngine = createEngineLoader({ ...parts, resources, pendingAuthorizations })
  return {
    loadEngine,
    /** Loads the engine at startup if any artifact is stored, because loading it later would block calls. */
    prepare: async (): Promise<void> => {
      if (await hasArtifacts(db)) await loadEngine()
    },
    forwardToLibrary: createForwardToLibrary(loadEngine, baseUrl),
    pendingAuthorizations,
    resources,
    limiter: createRequestLimiter(),
    consents: createConsents({ changes, resources }),
    register: createRegister({ db, sealing }),
    findResourceServer: (id: string) => findResourceServer(db, id),
    listUsableServers: (user: User, query: UsableQuery) => listUsableServers(db, user, query),
  }
}
