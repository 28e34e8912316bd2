import type { Client } from 'oidc-provider'
import { nextAddressOf } from '../../lib/http/list-query.ts'
import type { Page } from '../../lib/http/paging.ts'
import { AUTHORIZE_PATH } from '../../oauth/paths.ts'
import type { UsableServer } from '../../oauth/resource-servers.store.ts'
import { toClientView } from './client.view.ts'

export type ServerChoiceFacts = {
  /** The parameters of the authorization request. */
  parameters: Readonly<Record<string, string>>
  client: Client
  redirectUri: string
  email: string
  search: string
  servers: Page<UsableServer>
  urlOf: (serverId: string) => string
  /** Why the previous choice was refused. */
  error: string | undefined
}

/** Builds the data for the page that asks which server a client may use. */
export const toServerChoiceView = (facts: ServerChoiceFacts) => {
  const { parameters, client, redirectUri, email, search, servers, urlOf, error } = facts
  const application = toClientView(client, redirectUri)
  const returnTo = `${AUTHORIZE_PATH}?${new URLSearchParams(parameters)}`
  return {
    title: `Choose the server whose address you gave to ${application.name}`,
    width: 'narrow' as const,
    action: AUTHORIZE_PATH,
    parameters,
    returnTo,
    application,
    email,
    search,
    servers: servers.items.map(server => ({ ...server, url: urlOf(server.id) })),
    next: nextAddressOf(AUTHORIZE_PATH, servers.nextCursor, { ...parameters, q: search }),
    error,
  }
}
