import type { Scope } from '../lib/kernel/actor.ts'
import { AppError } from '../lib/kernel/errors.ts'
import type { Role } from '../lib/kernel/roles.ts'

/** A user account, without its password. */
export type User = {
  id: string
  /** Trimmed and in lower case, so that other spellings of an email belong to the same account. */
  email: string
  /** When the user opened a link sent to this address, or undefined if they have not done so yet. */
  emailVerifiedAt: Date | undefined
  isOperator: boolean
  /** Why the operator has suspended the account; undefined if it is not suspended. */
  suspendedReason: string | undefined
  createdAt: Date
  updatedAt: Date
}

/** Returns the error for a user whose account was deleted while they were signed in. */
export const accountGone = (): AppError => new AppError('unauthenticated', 'This account no longer exists.')

/** An organization as one of its members sees it. */
export type OwnOrganization = { id: string; name: string; role: Role }

/** A personal access token's metadata, without its value. */
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
