import type { Client } from 'oidc-provider'
import { shorten } from '../../lib/kernel/format.ts'
import type { McpScope } from '../../lib/kernel/mcp-scopes.ts'
import { checkRedirectUri, destinationOf } from '../../oauth/clients/redirects.ts'
import { cleanName } from '../../oauth/clients/registration.ts'
import type { ResourceServer } from '../../oauth/resource-servers.store.ts'
import { SCOPE_LABELS } from './access.view.ts'

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

const LOOPBACK_WARNING =
  'This application redirects to a program on your own computer. Continue only if you have just started it yourself.'

/**
 * Returns the host that vouches for the client's name, taken from the URL of the client's metadata document. Undefined
 * for registered clients, which choose their own names.
 */
const documentHostOf = ({ clientId }: Client): string | undefined =>
  clientId.startsWith('https://') ? new URL(clientId).host : undefined

const isOnMachine = (uri: string): boolean => {
  const checked = checkRedirectUri(uri)
  return checked.ok && checked.value === 'loopback'
}

/** Maximum characters that fit below the sockets in the drawing. */
const MAX_LABELS = { client: 10, server: 14 } as const

/** Builds the data for the consent page. What the client says about itself is marked as unverified. */
export const toConsentView = (facts: ConsentFacts) => {
  const { action, returnTo, client, redirectUri, server, serverUrl, scopes, email } = facts
  const name = cleanName(client.clientName ?? '') || 'An unnamed application'
  const target = server?.name ?? 'this server'
  return {
    title: server === undefined ? `${name} cannot use this server` : `Let ${name} use ${target}?`,
    action,
    returnTo,
    email,
    name,
    shortName: shorten(name, MAX_LABELS.client),
    documentHost: documentHostOf(client),
    destination: destinationOf(redirectUri),
    warning: (client.redirectUris ?? []).every(isOnMachine) ? LOOPBACK_WARNING : undefined,
    server: server && {
      name: server.name,
      shortName: shorten(server.name, MAX_LABELS.server),
      organizationName: server.organizationName,
    },
    serverUrl,
    scopes: scopes.map(scope => SCOPE_LABELS[scope]),
  }
}
