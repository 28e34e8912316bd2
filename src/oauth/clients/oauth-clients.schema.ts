import { z } from 'zod'
import { readOnlyField, readOnlyTimes } from '../../lib/http/pages/read-only.ts'
import { nameSchema, timeSchema } from '../../lib/http/schemas.ts'
import { AUTH_METHODS } from './oauth-client.ts'
import { cleanName, MAX_NAME_CHARACTERS, MAX_REDIRECTS } from './registration.ts'

const name = nameSchema
  .max(MAX_NAME_CHARACTERS, `is longer than ${MAX_NAME_CHARACTERS} characters`)
  .transform(cleanName)
  .refine(text => text !== '', 'is empty')

const redirectUris = z
  .array(z.string())
  .min(1, 'is empty')
  .max(MAX_REDIRECTS, `has more than ${MAX_REDIRECTS} addresses`)
  .describe('allowed redirect URIs: exact https addresses, http loopback addresses, or app schemes')

export const CreateOAuthClient = z.strictObject({
  name,
  redirectUris,
  tokenEndpointAuthMethod: z
    .enum(AUTH_METHODS)
    .default('none')
    .describe('none: a public client, such as a program on a user’s machine, which cannot keep a secret'),
})

export const UpdateOAuthClient = z.strictObject({
  id: readOnlyField,
  organizationId: readOnlyField,
  clientId: readOnlyField,
  tokenEndpointAuthMethod: readOnlyField,
  ...readOnlyTimes,
  name: name.optional(),
  redirectUris: redirectUris.optional().describe('replaces all redirect URIs'),
})

export const OAuthClientView = z
  .object({
    id: z.uuid(),
    organizationId: z.uuid(),
    clientId: z.string().describe('the client_id that the client sends'),
    name: z.string(),
    redirectUris: z.array(z.string()),
    tokenEndpointAuthMethod: z.enum(AUTH_METHODS),
    createdAt: timeSchema,
    updatedAt: timeSchema,
  })
  .meta({ id: 'OAuthClient' })

export const NewOAuthClientView = OAuthClientView.extend({
  clientSecret: z.string().optional().describe('for confidential clients; shown only once'),
}).meta({ id: 'NewOAuthClient' })
