/** How a client shows at the token endpoint that it is the one (RFC 7591 §2); a public one, `none`, has no secret. */
export const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const
export type AuthMethod = (typeof AUTH_METHODS)[number]

/** A client that somebody registered by hand for their organization, without its secret. */
export type OAuthClient = {
  id: string
  organizationId: string
  clientId: string
  name: string
  redirectUris: readonly string[]
  authMethod: AuthMethod
  createdAt: Date
  updatedAt: Date
}
