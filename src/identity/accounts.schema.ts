import { z } from 'zod'
import { SCOPES } from '../kernel/index.ts'
import { nameSchema, timeSchema } from '../platform/http/index.ts'
import { DEFAULT_TOKEN_DAYS, MAX_TOKEN_DAYS } from './access-tokens.ts'
import type { AccessToken, OwnOrganization, User } from './account.ts'
import { MAX_EMAIL_CHARACTERS, MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS } from './credentials.ts'
import { code, ownPassword } from './second-factor.schema.ts'

export const Email = z
  .string()
  .trim()
  .toLowerCase()
  .max(MAX_EMAIL_CHARACTERS, `is longer than ${MAX_EMAIL_CHARACTERS} characters`)
  .pipe(z.email('is not written like name@example.com'))

const NEW_PASSWORD_RULE = `must have ${MIN_PASSWORD_CHARACTERS} to ${MAX_PASSWORD_CHARACTERS} characters`
/** Counted as people count, not in UTF-16 units. */
const charactersOf = (text: string): number => [...text].length
export const newPassword = z
  .string()
  .refine(
    text => charactersOf(text) >= MIN_PASSWORD_CHARACTERS && charactersOf(text) <= MAX_PASSWORD_CHARACTERS,
    NEW_PASSWORD_RULE,
  )
  .describe(`${MIN_PASSWORD_CHARACTERS} to ${MAX_PASSWORD_CHARACTERS} characters`)

export const NewUser = z.object({
  email: Email,
  password: newPassword,
  isOperator: z.boolean().optional(),
  /** Joined as builder, or made with this user as its owner. Left out: the oldest. */
  organization: nameSchema.optional(),
})

export const SignUp = z.object({
  email: Email,
  password: newPassword,
  setupToken: z.string().max(256).optional().describe('For the first account, where one was printed at start'),
  invitation: z
    .string()
    .max(256)
    .optional()
    .describe('The token of an invitation to this address: its organization is joined, and none of one’s own made'),
})

// No rule for the length here: an account of before a rule was changed still signs in.
export const SignIn = z.object({
  email: Email,
  password: ownPassword,
  code: code.optional().describe('Of the second factor, where the account has one: six digits, or a recovery code'),
})

export const NewToken = z.object({
  name: nameSchema,
  scopes: z
    .array(z.enum(SCOPES))
    .min(1, 'is empty: leave it out for all of them')
    .transform(scopes => [...new Set(scopes)])
    .optional()
    .describe("Left out: all of them, or the maker's when a token makes this one"),
  expiresInDays: z.int().min(1).max(MAX_TOKEN_DAYS).optional().describe(`Left out: ${DEFAULT_TOKEN_DAYS}`),
})

export const UserView = z
  .object({
    id: z.uuid(),
    email: z.string(),
    emailVerifiedAt: timeSchema.nullable(),
    isOperator: z.boolean(),
    createdAt: timeSchema,
    updatedAt: timeSchema,
  })
  .meta({ id: 'User' })

export const toUserView = (user: User): z.infer<typeof UserView> => ({
  id: user.id,
  email: user.email,
  emailVerifiedAt: user.emailVerifiedAt?.toISOString() ?? null,
  isOperator: user.isOperator,
  createdAt: user.createdAt.toISOString(),
  updatedAt: user.updatedAt.toISOString(),
})

export const SessionView = z
  .object({ user: UserView, csrfToken: z.string().describe('For the header x-csrf-token') })
  .meta({ id: 'Session' })

export const MeView = z
  .object({
    user: UserView,
    organizations: z.array(
      z.object({ id: z.uuid(), name: z.string(), role: z.enum(['owner', 'admin', 'builder', 'viewer']) }),
    ),
  })
  .meta({ id: 'Me' })

export const toMeView = (me: { user: User; organizations: readonly OwnOrganization[] }): z.infer<typeof MeView> => ({
  user: toUserView(me.user),
  organizations: me.organizations.map(({ id, name, role }) => ({ id, name, role })),
})

export const TokenView = z
  .object({
    id: z.uuid(),
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    expiresAt: timeSchema,
    lastUsedAt: timeSchema.nullable(),
    createdAt: timeSchema,
    updatedAt: timeSchema,
  })
  .meta({ id: 'AccessToken' })

export const NewTokenView = TokenView.extend({
  token: z.string().describe('The token itself: shown this once'),
}).meta({ id: 'NewAccessToken' })

export const toTokenView = (token: AccessToken): z.infer<typeof TokenView> => ({
  id: token.id,
  name: token.name,
  scopes: [...token.scopes],
  expiresAt: token.expiresAt.toISOString(),
  lastUsedAt: token.lastUsedAt?.toISOString() ?? null,
  createdAt: token.createdAt.toISOString(),
  updatedAt: token.updatedAt.toISOString(),
})
