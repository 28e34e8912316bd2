import { z } from 'zod'
import { readOnlyField } from '../lib/http/pages/read-only.ts'
import { orNull, timeSchema } from '../lib/http/schemas.ts'
import { MAX_OAUTH_CLIENT_CHARS, MAX_OAUTH_SCOPE_CHARS, MAX_OAUTH_SCOPES } from './limits.ts'

/** RFC 6749 §A.1, §A.2: printable ASCII. */
const visible = (name: string) =>
  z
    .string()
    .min(1, 'is empty')
    .max(MAX_OAUTH_CLIENT_CHARS, `is longer than ${MAX_OAUTH_CLIENT_CHARS} characters`)
    .regex(/^[\x20-\x7e]+$/, `is not a valid ${name}: use printable ASCII characters only`)

/** RFC 6749 §3.3. */
const scope = z
  .string()
  .min(1, 'is empty')
  .max(MAX_OAUTH_SCOPE_CHARS, `is longer than ${MAX_OAUTH_SCOPE_CHARS} characters`)
  .regex(
    /^[\x21\x23-\x5b\x5d-\x7e]+$/,
    'is not a valid scope: use printable ASCII characters without spaces, quotes or backslashes',
  )

/** In an update, a missing secret is left unchanged and `null` removes it. */
const oauth = z.strictObject({
  type: z.literal('oauth'),
  per: z
    .enum(['server', 'caller'], 'must be server or caller')
    .nullish()
    .describe("whose account is used: one that all callers share (server, the default) or each caller's own (caller)"),
  clientId: visible('client ID')
    .nullish()
    .describe('ID of a client registered by hand; by default Patchbay registers itself'),
  clientSecret: visible('client secret')
    .nullish()
    .describe('stored encrypted and never returned; in an update, a missing value stays and null removes it'),
  scopes: z
    .array(scope)
    .max(MAX_OAUTH_SCOPES, `must have at most ${MAX_OAUTH_SCOPES} entries`)
    .nullish()
    .describe('by default the scopes that the MCP server asks for'),
  clientSecretSetAt: readOnlyField,
  connection: readOnlyField,
})

/** Authorization settings of a remote upstream, as sent in a request. */
export const authInput = z.discriminatedUnion(
  'type',
  [z.strictObject({ type: z.literal('none') }), oauth],
  'must be none or oauth',
)

export const authView = z.discriminatedUnion('type', [
  z.object({ type: z.literal('none') }),
  z.object({
    type: z.literal('oauth'),
    per: z.enum(['server', 'caller']),
    clientId: orNull(z.string()),
    clientSecretSetAt: orNull(timeSchema).describe(
      'when the client secret was entered; null if it is not set, or must be entered again because the MCP server moved to another origin (see `warnings`)',
    ),
    scopes: orNull(z.array(z.string())),
    connection: orNull(
      z.object({
        connectedAt: timeSchema,
        brokenSince: orNull(timeSchema).describe('set once the account must be reconnected'),
      }),
    ).describe('the account that all callers share; null if there is none or each caller has their own'),
  }),
])
