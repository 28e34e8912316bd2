import { z } from 'zod'
import { nameSchema, orNull, timeSchema } from '../lib/http/schemas.ts'
import { SCOPES } from '../lib/kernel/actor.ts'
import { ROLES } from '../lib/kernel/roles.ts'
import { MAX_EMAIL_CHARACTERS, MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS } from './credentials.ts'
import { code, ownPassword } from './second-factor/second-factor.schema.ts'
import { DEFAULT_TOKEN_DAYS, MAX_TOKEN_DAYS } from './tokens/access-tokens.ts'

export const Email = z
  .string()
  .trim()
  .toLowerCase()
  .max(MAX_EMAIL_CHARACTERS, `must not exceed ${MAX_EMAIL_CHARACTERS} characters`)
  .pipe(z.email('must have the form name@example.com'))

const NEW_PASSWORD_RULE = `must have ${MIN_PASSWORD_CHARACTERS} to ${MAX_PASSWORD_CHARACTERS} characters`
/** Counts Unicode code points, not UTF-16 units. */
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
  /**
   * The organization to join as a builder. If it does not exist, it is created with this user as owner. Defaults to the
   * oldest organization.
   */
  organization: nameSchema.optional(),
})

export const SignUp = z.object({
  email: Email,
  password: newPassword,
  setupToken: z
    .string()
    .max(256)
    .optional()
    .describe('Required for the first account unless the request was made on this machine; printed at startup'),
  invitation: z
    .string()
    .max(256)
    .optional()
    .describe(
      'Token of an invitation to this email: the user joins its organization instead of getting one of their own',
    ),
})

// No minimum length here, so that accounts created under older rules can still sign in.
export const SignIn = z.object({
  email: Email,
  password: ownPassword,
  code: code.optional().describe('Required if the account has a second factor: six digits, or a recovery code'),
})

export const NewToken = z.object({
  name: nameSchema,
  scopes: z
    .array(z.enum(SCOPES))
    .min(1, 'must not be empty; omit it to get all scopes')
    .transform(scopes => [...new Set(scopes)])
    .optional()
    .describe('Default: all scopes, or those of the token that makes this request'),
  expiresInDays: z.int().min(1).max(MAX_TOKEN_DAYS).optional().describe(`Default: ${DEFAULT_TOKEN_DAYS}`),
})

export const UserView = z
  .object({
    id: z.uuid(),
    email: z.string(),
    emailVerifiedAt: orNull(timeSchema),
    isOperator: z.boolean(),
    createdAt: timeSchema,
    updatedAt: timeSchema,
  })
  .meta({ id: 'User' })

export const SessionView = z
  .object({ user: UserView, csrfToken: z.string().describe('Send this value in the x-csrf-token header') })
  .meta({ id: 'Session' })

export const MeView = z
  .object({
    user: UserView,
    organizations: z.array(z.object({ id: z.uuid(), name: z.string(), role: z.enum(ROLES) })),
  })
  .meta({ id: 'Me' })

export const TokenView = z
  .object({
    id: z.uuid(),
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    expiresAt: timeSchema,
    lastUsedAt: orNull(timeSchema),
    createdAt: timeSchema,
    updatedAt: timeSchema,
  })
  .meta({ id: 'AccessToken' })

export const NewTokenView = TokenView.extend({
  token: z.string().describe('The token itself; returned only once'),
}).meta({ id: 'NewAccessToken' })
