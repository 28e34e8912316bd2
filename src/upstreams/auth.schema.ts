import { z } from 'zod'
import { readOnlyField } from '../lib/http/pages/read-only.ts'
import { timeSchema } from '../lib/http/schemas.ts'
import { MAX_OAUTH_CLIENT_CHARS, MAX_OAUTH_SCOPE_CHARS, MAX_OAUTH_SCOPES } from './limits.ts'

/** RFC 6749 §A.1, §A.2: visible characters and blanks. */
const visible = (name: string) =>
  z
    .string()
    .min(1, 'is empty')
    .max(MAX_OAUTH_CLIENT_CHARS, `is longer than ${MAX_OAUTH_CLIENT_CHARS} characters`)
    .regex(/^[\x20-\x7e]+$/, `is no ${name}: it holds other than visible characters of ASCII`)

/** RFC 6749 §3.3. */
const scope = z
  .string()
  .min(1, 'is empty')
  .max(MAX_OAUTH_SCOPE_CHARS, `is longer than ${MAX_OAUTH_SCOPE_CHARS} characters`)
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'is no scope: it holds blanks, quotes or other than visible characters')

/** In a change, the secret that is left out stays, and `null` takes it away. */
const oauth = z.strictObject({
  type: z.literal('oauth'),
  per: z
    .enum(['server', 'caller'], 'is neither server nor caller')
    .nullish()
    .describe("whose account: one that all callers share (server, unless said), or each caller's own"),
  clientId: visible('client ID')
    .nullish()
    .describe('of a client that was registered there by hand; left out, Patchbay registers itself'),
  clientSecret: visible('client secret')
    .nullish()
    .describe('kept sealed and never shown; left out in a change, it stays; null takes it away'),
  scopes: z
    .array(scope)
    .max(MAX_OAUTH_SCOPES, `is one too many: ${MAX_OAUTH_SCOPES} at most`)
    .nullish()
    .describe('left out, what the upstream says that it needs'),
  // What an answer adds.
  clientSecretSetAt: readOnlyField,
  connection: readOnlyField,
})

/** How a remote upstream is told on whose behalf it is asked, as it is asked for. */
export const authWish = z.discriminatedUnion(
  'type',
  [z.strictObject({ type: z.literal('none') }), oauth],
  'is neither none nor oauth',
)

export const authView = z.discriminatedUnion('type', [
  z.object({ type: z.literal('none') }),
  z.object({
    type: z.literal('oauth'),
    per: z.enum(['server', 'caller']),
    clientId: z.string().nullable(),
    clientSecretSetAt: timeSchema.nullable().describe('when the secret was set that the builder brought'),
    scopes: z.array(z.string()).nullable(),
    connection: z
      .object({
        connectedAt: timeSchema,
        brokenSince: timeSchema.nullable().describe('since when it has to be connected anew'),
      })
      .nullable()
      .describe('the account that all callers share; null where there is none, or each has their own'),
  }),
])
