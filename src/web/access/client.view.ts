import type { Client } from 'oidc-provider'
import { checkRedirectUri, destinationOf } from '../../oauth/clients/redirects.ts'
import { cleanName } from '../../oauth/clients/registration.ts'

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

/** Builds the data about a client for the pages that ask its user. What it says about itself is marked as unverified. */
export const toClientView = (client: Client, redirectUri: string) => ({
  name: cleanName(client.clientName ?? '') || 'An unnamed application',
  documentHost: documentHostOf(client),
  destination: destinationOf(redirectUri),
  warning: (client.redirectUris ?? []).every(isOnMachine) ? LOOPBACK_WARNING : undefined,
})
