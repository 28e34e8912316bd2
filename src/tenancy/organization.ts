import type { Rows } from '../lib/db/client.ts'
import type { Role } from '../lib/kernel/roles.ts'

/** An organization as seen by one of its members. */
export type Organization = Rows.Organization & { role: Role }

/** A membership with the user's email. The ID is the membership's, not the user's. */
export type Member = Rows.Membership & { email: string }

export type Invitation = Omit<Rows.Invitation, 'tokenHash'>

/** An invitation as shown to the holder of its link. */
export type OpenInvitation = Invitation & { organizationName: string; invitedBy: string | undefined }
