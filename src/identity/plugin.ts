import type { Lifecycle } from '../lib/process/lifecycle.ts'
import type { Settings } from '../lib/process/settings.ts'
import { type AccountServiceParts, createAccountService } from './accounts.service.ts'
import { createAuditLog } from './audit/audit-log.ts'
import { removeExpiredLinks } from './mail/mailed-links.store.ts'
import { createSessionStore, removeEndedSessions } from './sign-in/sessions.store.ts'

export type IdentityNeeds = Omit<AccountServiceParts, 'policy' | 'externalProvider' | 'baseUrl'> & {
  settings: Pick<Settings, 'signup' | 'tenancy' | 'baseUrl' | 'externalProvider' | 'auditDays'>
  /** Token required to create the first account, or undefined if Patchbay listens on loopback only. */
  setupToken: string | undefined
}

export const identityPlugin = ({ settings, setupToken, ...needs }: IdentityNeeds, lifecycle: Lifecycle) => {
  const { db } = needs
  const { signup, tenancy, baseUrl, externalProvider, auditDays } = settings
  const policy = { signup, tenancy, setupToken }
  const accounts = createAccountService({ ...needs, policy, baseUrl, externalProvider })
  lifecycle.onClose(accounts.close)
  const audit = createAuditLog({ db, keptDays: auditDays })
  lifecycle.addChores(
    { name: 'remove old audit entries', run: audit.removeOld },
    { name: 'remove ended sessions', run: signal => removeEndedSessions(db, new Date(), signal) },
    { name: 'remove expired links', run: signal => removeExpiredLinks(db, new Date(), signal) },
  )
  return { accounts, audit, sessionStore: createSessionStore(db) }
}
