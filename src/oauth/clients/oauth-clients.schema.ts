import { z } from 'zod'
import { nameSchema, readOnlyField, readOnlyTimes, timeSchema } from '../platform/http/index.ts'
import { AUTH_METHODS, type OAuthClient } from './oauth-client.ts'
import type { NewClient } from './oauth-clients.service.ts'
import { cleanName, MAX_NAME_CHARACTERS, MAX_REDIRECTS } from './registration.ts'

const name = nameSchema
  .max(MAX_NAME_CHARACTERS, `is longer than ${MAX_NAME_CHARACTERS} characters`)
  .transform(cleanName)
  .refine(text => text !== '', 'is empty')

const redirectUris = z
  .array(z.string())
  .min(1, 'is empty')
  .max(MAX_REDIRECTS, `holds more than ${MAX_REDIRECTS} addresses`)
  .describe('where answers may be sent: https addresses, exactly; http ones of this machine; schemes of apps')

export const CreateOAuthClient = z.strictObject({
  name,
  redirectUris,
  tokenEndpointAuthMethod: z
    .enum(AUTH_METHODS)
    .default('none')
    .describe('none: a public client, such as a program on somebody’s own machine, which can keep no secret'),
})

export const UpdateOAuthClient = z.strictObject({
  id: readOnlyField,
  organizationId: readOnlyField,
  clientId: readOnlyField,
  tokenEndpointAuthMethod: readOnlyField,
  ...readOnlyTimes,
  name: name.optional(),
  redirectUris: redirectUris.optional().describe('takes the place of all there are'),
})

export const OAuthClientView = z
  .object({
    id: z.uuid(),
    organizationId: z.uuid(),
    clientId: z.string().describe('what the client sends as its client_id'),
    name: z.string(),
    redirectUris: z.array(z.string()),
    tokenEndpointAuthMethod: z.enum(AUTH_METHODS),
    createdAt: timeSchema,
    updatedAt: timeSchema,
  })
  .meta({ id: 'OAuthClient' })

export const NewOAuthClientView = OAuthClientView.extend({
  clientSecret: z.string().optional().describe('of one that is not public: shown this once'),
}).meta({ id: 'NewOAuthClient' })

export const toOAuthClientView = (client: OAuthClient): z.infer<typeof OAuthClientView> => ({
  id: client.id,
  organizationId: client.organizationId,
  clientId: client.clientId,
  name: client.name,
  redirectUris: [...client.redirectUris],
  tokenEndpointAuthMethod: client.authMethod,
  createdAt: client.createdAt.toISOString(),
  updatedAt: client.updatedAt.toISOString(),
})

export const toNewOAuthClientView = (client: NewClient): z.infer<typeof NewOAuthClientView> => ({
  ...toOAuthClientView(client),
  ...(client.clientSecret !== undefined && { clientSecret: client.clientSecret }),
})
