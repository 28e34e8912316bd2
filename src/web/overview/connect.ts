import { clientNameOf } from '../../servers/client-name.ts'
import type { AccessTier } from '../../servers/server.ts'
import { CLIENT_GUIDES, isReachableFromInternet, type ServerFacts } from './client-guides.ts'
import { CLIENT_LINKS } from './client-links.ts'
import { describeCheck } from './guide-sources.ts'

export type ConnectInput = { id: string; name: string; tier: AccessTier; url: string }

const ACCESS: Readonly<Record<AccessTier, string>> = {
  public: 'Public: anyone with the address can call it. Clients need nothing else.',
  organization:
    'For members of the organization. Clients sign in with OAuth automatically; clients without OAuth send a personal access token.',
  private:
    'For the owner, the users they allow and admins of the organization. Clients sign in with OAuth automatically; clients without OAuth send a personal access token.',
}

/** A link that adds the server to a client. Without `href`, the client cannot reach the server. */
type ConnectButton = { text: string; icon: 'add' | 'terminal'; href?: string }

const listButtons = (server: ServerFacts): ConnectButton[] => {
  const isPublic = isReachableFromInternet(server.url)
  return [
    { text: 'Claude', href: isPublic ? CLIENT_LINKS.claude(server) : '#connect-claude', icon: 'add' },
    { text: 'ChatGPT', ...(isPublic && { href: '#connect-chatgpt' }), icon: 'add' },
    { text: 'Cursor', href: CLIENT_LINKS.cursor(server), icon: 'add' },
    { text: 'VS Code', href: CLIENT_LINKS.vscode(server), icon: 'add' },
    { text: 'Goose', href: CLIENT_LINKS.goose(server), icon: 'add' },
    { text: 'LM Studio', href: CLIENT_LINKS.lmStudio(server), icon: 'add' },
    { text: 'Command line', href: '#connect-claude-code', icon: 'terminal' },
  ]
}

/** Builds the instructions for connecting clients to a server: buttons, and snippets for clients without one. */
export const toConnectPanel = (input: ConnectInput) => {
  const { name, url, tier } = input
  const server: ServerFacts = { name, url, slug: clientNameOf(input), isOpen: tier === 'public' }
  return {
    buttons: listButtons(server),
    /** Who has access, and how clients authenticate. */
    access: ACCESS[tier],
    /** Path of the page that creates tokens for clients without OAuth support. */
    tokensHref: server.isOpen ? undefined : '/account/tokens',
    clients: CLIENT_GUIDES.map(toGuide => {
      const { source, ...guide } = toGuide(server)
      return { ...guide, source: source && { href: source.href, check: describeCheck(source) } }
    }),
  }
}
