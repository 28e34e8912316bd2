import type { Lifecycle } from '../lib/process/lifecycle.ts'
import type { Settings } from '../lib/process/settings.ts'
import { type AccountServiceParts, createAccountService } from './accounts.service.ts'
import { createAuditLog } from './audit/audit-log.ts'
import { removeExpiredLinks } from './mail/mailed-links.store.ts'
import { createSessionStore, removeEndedSessions } from './sign-in/sessions.store.ts'
import type { Setup } from './sign-in/sign-up.ts'

export type IdentityNeeds = Omit<AccountServiceParts, 'policy' | 'externalProvider' | 'baseUrl'> & {
  settings: Pick<Settings, 'signup' | 'tenancy' | 'baseUrl' | 'externalProvider' | 'auditDays'>
  setup: Setup
}

export const identityPlugin = ({ settings, setup, ...needs }: IdentityNeeds, lifecycle: Lifecycle) => {
  const { db } = needs
  const { signup, tenancy, baseUrl, externalProvider, auditDays } = settings
  const policy = { signup, tenancy, setup }
  const accounts = createAccountService({ ...needs, policy, baseUrl, externalProvider })
  lifecycle.onClose(accounts.close)
  const audit = createAuditLog({ db, keptDays: auditDays })
  lifecycle.addChores(
    { name: 'remove old audit entries', run: audit.removeOld },
    { name: 'remove ended sessions', run: signal => removeEndedSessions(db, new Date(), signal) },
    { name: 'remove expired links', run: signal => removeExpiredLinks(db, new Date(), signal) },
  )
  return { accounts, audit, sessionStore: createSessionStore(db, needs.databaseHealth) }
}
