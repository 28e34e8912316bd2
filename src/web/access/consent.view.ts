import type { Client } from 'oidc-provider'
import type { McpScope } from '../kernel/index.ts'
import { checkRedirectUri, destinationOf } from './redirects.ts'
import { cleanName } from './registration.ts'
import type { ResourceServer } from './resource-servers.store.ts'
import { SCOPE_WORDS } from './scope-words.ts'

export type ConsentFacts = {
  /** Where the answer goes. */
  action: string
  /** Where to come back to as somebody else. */
  returnTo: string
  client: Client
  redirectUri: string
  /** Undefined where the user may not use it: then even its name is not theirs to know. */
  server: ResourceServer | undefined
  serverUrl: string
  scopes: readonly McpScope[]
  email: string
}

const LOOPBACK_WARNING =
  'It answers to a program on this computer, whichever listens there. Go on only if you have just started it yourself.'

/** The host of a client's metadata document, which nobody else can write to; undefined for one that says its own name. */
const documentHostOf = ({ clientId }: Client): string | undefined =>
  clientId.startsWith('https://') ? new URL(clientId).host : undefined

const isOnMachine = (uri: string): boolean => {
  const checked = checkRedirectUri(uri)
  return checked.ok && checked.value === 'loopback'
}

/** As much as fits under the sockets of the drawing. */
const MAX_LABELS = { client: 10, server: 14 } as const
const shorten = (name: string, maxCharacters: number): string =>
  name.length <= maxCharacters ? name : `${name.slice(0, maxCharacters - 1).toWellFormed()}…`

/** The page's own words. Whatever a client says of itself is a claim, and is shown as one. */
export const toConsentView = (facts: ConsentFacts) => {
  const { action, returnTo, client, redirectUri, server, serverUrl, scopes, email } = facts
  const name = cleanName(client.clientName ?? '') || 'An application without a name'
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
    scopes: scopes.map(scope => SCOPE_WORDS[scope]),
  }
}
