import type { Lifecycle } from '../lib/process/lifecycle.ts'
import type { Settings } from '../lib/process/settings.ts'
import { type AccountDeletionParts, createAccountDeletion } from './deletion/account-deletion.service.ts'
import { createInvitationService, type InvitationServiceParts } from './invitations/invitations.service.ts'
import { removeExpiredInvitations } from './invitations/invitations.store.ts'
import { createMemberService } from './members.service.ts'
import { createOrganizationService } from './organizations.service.ts'

export type TenancyNeeds = Omit<AccountDeletionParts, 'tenancy'> &
  Omit<InvitationServiceParts, 'baseUrl'> & { settings: Pick<Settings, 'tenancy' | 'baseUrl'> }

export const tenancyPlugin = ({ settings: { tenancy, baseUrl }, ...needs }: TenancyNeeds, lifecycle: Lifecycle) => {
  const { db } = needs
  lifecycle.addChores({
    name: 'remove expired invitations',
    run: signal => removeExpiredInvitations(db, new Date(), signal),
  })
  return {
    organizations: createOrganizationService({ ...needs, tenancy }),
    members: createMemberService(needs),
    accountDeletion: createAccountDeletion({ ...needs, tenancy }),
    invitations: createInvitationService({ ...needs, baseUrl }),
  }
}
