import type { Role } from '../lib/kernel/roles.ts'

/** An organization as one of its members sees it. */
export type Organization = {
  id: string
  name: string
  role: Role
  createdAt: Date
  updatedAt: Date
}

export type Member = {
  /** ID of the membership. */
  id: string
  userId: string
  email: string
  role: Role
  createdAt: Date
  updatedAt: Date
}

export type Invitation = {
  id: string
  organizationId: string
  email: string
  role: Role
  expiresAt: Date
  createdAt: Date
  updatedAt: Date
}

/** An invitation as shown to the holder of its link. */
export type OpenInvitation = Invitation & { organizationName: string; invitedBy: string | undefined }
