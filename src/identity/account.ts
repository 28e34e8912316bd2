import type { Role, Scope } from '../kernel/index.ts'

/** A person with an e-mail address and a password, without the password. */
export type User = {
  id: string
  /** Trimmed and in lower case: two spellings are one account. */
  email: string
  /** When a link that was sent to the address came back; undefined: not yet. */
  emailVerifiedAt: Date | undefined
  isOperator: boolean
  createdAt: Date
  updatedAt: Date
}

/** An organization as one of its members sees it. */
export type OwnOrganization = { id: string; name: string; role: Role }

/** A personal access token, without the token. */
export type AccessToken = {
  id: string
  userId: string
  name: string
  scopes: readonly Scope[]
  expiresAt: Date
  lastUsedAt: Date | undefined
  createdAt: Date
  updatedAt: Date
}
