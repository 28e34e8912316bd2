import type { Settings } from '../lib/process/settings.ts'
import type { Chore } from '../lib/process/upkeep.ts'
import { type AccountDeletionParts, createAccountDeletion } from './deletion/account-deletion.service.ts'
import { createInvitationService, type InvitationServiceParts } from './invitations/invitations.service.ts'
import { removeExpiredInvitations } from './invitations/invitations.store.ts'
import { createMemberService } from './members.service.ts'
import { createOrganizationService } from './organizations.service.ts'

export type TenancyNeeds = Omit<AccountDeletionParts, 'tenancy'> &
  Omit<InvitationServiceParts, 'baseUrl'> & { settings: Pick<Settings, 'tenancy' | 'baseUrl'> }

export const tenancyPlugin = ({ settings: { tenancy, baseUrl }, ...needs }: TenancyNeeds) => {
  const { db } = needs
  const chores: Chore[] = [
    { name: 'remove expired invitations', run: signal => removeExpiredInvitations(db, new Date(), signal) },
  ]
  return {
    organizations: createOrganizationService({ ...needs, tenancy }),
    members: createMemberService(needs),
    accountDeletion: createAccountDeletion({ ...needs, tenancy }),
    invitations: createInvitationService({ ...needs, baseUrl }),
    chores,
  }
}
