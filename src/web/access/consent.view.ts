import type { Client } from 'oidc-provider'
import { shorten } from '../../lib/kernel/format.ts'
import type { McpScope } from '../../lib/kernel/mcp-scopes.ts'
import type { ResourceServer } from '../../oauth/resource-servers.store.ts'
import { SCOPE_LABELS } from './access.view.ts'
import { toClientView } from './client.view.ts'

export type ConsentFacts = {
  /** URL to which the decision is submitted. */
  action: string
  /** Where to return after the user signs in as someone else. */
  returnTo: string
  client: Client
  redirectUri: string
  /** Undefined if the user may not use the server. The server's name must not be shown in that case. */
  server: ResourceServer | undefined
  serverUrl: string
  scopes: readonly McpScope[]
  email: string
}

/** Maximum characters that fit below the sockets in the drawing. */
const MAX_LABELS = { client: 10, server: 14 } as const

/** Builds the data for the consent page. */
export const toConsentView = (facts: ConsentFacts) => {
  const { action, returnTo, client, redirectUri, server, serverUrl, scopes, email } = facts
  const application = toClientView(client, redirectUri)
  const { name } = application
  const target = server?.name ?? 'this server'
  return {
    title: server === undefined ? `${name} cannot use this server` : `Let ${name} use ${target}?`,
    action,
    returnTo,
    email,
    application,
    shortName: shorten(name, MAX_LABELS.client),
    server: server && {
      name: server.name,
      shortName: shorten(server.name, MAX_LABELS.server),
      organizationName: server.organizationName,
    },
    serverUrl,
    scopes: scopes.map(scope => SCOPE_LABELS[scope]),
  }
}
