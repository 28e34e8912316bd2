import type { Role } from '../kernel/index.ts'

/** An organization as one of its members sees it. */
export type Organization = {
  id: string
  name: string
  /** Of whoever asks. */
  role: Role
  createdAt: Date
  updatedAt: Date
}

export type Member = {
  /** Of the membership. */
  id: string
  userId: string
  email: string
  role: Role
  createdAt: Date
  updatedAt: Date
}

/** What was offered to an e-mail address, without the link that it was sent. */
export type Invitation = {
  id: string
  organizationId: string
  email: string
  role: Role
  expiresAt: Date
  createdAt: Date
  updatedAt: Date
}

/** An invitation as who holds its link sees it. */
export type OpenInvitation = Invitation & { organizationName: string; invitedBy: string | undefined }
