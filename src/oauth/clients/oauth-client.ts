/** How a client authenticates at the token endpoint (RFC 7591 §2). A public client (`none`) has no secret. */
export const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const
export type AuthMethod = (typeof AUTH_METHODS)[number]

/** A client that was registered manually in an organization, without its secret. */
export type OAuthClient = {
  id: string
  organizationId: string
  clientId: string
  name: string
  redirectUris: readonly string[]
  tokenEndpointAuthMethod: AuthMethod
  createdAt: Date
  updatedAt: Date
}
