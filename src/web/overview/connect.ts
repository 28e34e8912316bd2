import { clientNameOf } from '../../servers/client-name.ts'
import type { AccessTier } from '../../servers/server.ts'

/** Instructions for adding the server to one client. */
type ClientGuide = {
  /** Anchor to which the page's buttons link. */
  id: string
  title: string
  steps: readonly string[]
  /** Snippets to copy into the client. */
  snippets: readonly { label: string; code: string }[]
}

export type ConnectInput = { id: string; name: string; tier: AccessTier; url: string }

const LOCAL_HOST = /^(localhost|.*\.localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0)$/

/**
 * Returns whether Claude's connectors can reach the URL. They connect from Claude's servers, so the URL must use https
 * and must not point to a local host.
 */
const isReachableFromAfar = (url: string): boolean => {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' && !LOCAL_HOST.test(hostname)
}

const toJson = (value: unknown): string => JSON.stringify(value, undefined, 2)

const SIGN_IN = 'It opens a Patchbay page where you sign in and allow access.'

const ACCESS: Readonly<Record<AccessTier, string>> = {
  public: 'Public: anyone with the address can call it. Clients need nothing else.',
  organization:
    'For members of the organization. Clients sign in with OAuth automatically; clients without OAuth send a personal access token.',
  private:
    'For the owner, the users they allow and admins of the organization. Clients sign in with OAuth automatically; clients without OAuth send a personal access token.',
}

type Known = ConnectInput & { slug: string; isOpen: boolean }

const claude = ({ url, isOpen, slug }: Known): ClientGuide => {
  const id = 'connect-claude'
  const title = 'Claude on the web, desktop and phone'
  if (isReachableFromAfar(url)) {
    return {
      id,
      title,
      steps: [
        'Open Customize, then Connectors, and choose Add custom connector.',
        `Paste the address.${isOpen ? '' : ` Then choose Connect. ${SIGN_IN}`}`,
      ],
      snippets: [{ label: 'Address', code: url }],
    }
  }
  const isPlain = new URL(url).protocol === 'http:' && !LOCAL_HOST.test(new URL(url).hostname)
  const args = ['-y', 'mcp-remote', url, ...(isPlain ? ['--allow-http'] : [])]
  return {
    id,
    title,
    steps: [
      'Claude’s connectors need an https address that is reachable from the internet, and this one is not. Set PATCHBAY_BASE_URL to such an address, or let Claude Desktop connect from this machine:',
      `In Claude Desktop open Settings, Developer, Edit Config, add this and restart it.${isOpen ? '' : ` ${SIGN_IN}`}`,
    ],
    snippets: [
      { label: 'claude_desktop_config.json', code: toJson({ mcpServers: { [slug]: { command: 'npx', args } } }) },
    ],
  }
}

const claudeCode = ({ url, isOpen, slug }: Known): ClientGuide => {
  const add = `claude mcp add --transport http ${slug} ${url}`
  const plain = { label: 'Command', code: add }
  const withToken = {
    label: 'Without a browser, with a personal access token',
    code: `${add} --header "Authorization: Bearer $PATCHBAY_TOKEN"`,
  }
  return {
    id: 'connect-claude-code',
    title: 'Claude Code, on the command line',
    steps: isOpen ? [] : [`Then type /mcp in Claude Code and choose ${slug}. ${SIGN_IN}`],
    snippets: isOpen ? [plain] : [plain, withToken],
  }
}

const cursorLink = ({ slug, url }: Known): string => {
  const config = Buffer.from(JSON.stringify({ url })).toString('base64')
  return `cursor://anysphere.cursor-deeplink/mcp/install?${new URLSearchParams({ name: slug, config })}`
}

const cursor = ({ slug, url, isOpen }: Known): ClientGuide => ({
  id: 'connect-cursor',
  title: 'Cursor',
  steps: ['The button above opens Cursor, which asks before it adds the server.', ...(isOpen ? [] : [SIGN_IN])],
  snippets: [{ label: '~/.cursor/mcp.json, by hand', code: toJson({ mcpServers: { [slug]: { url } } }) }],
})

const codeServer = ({ url }: Known) => ({ type: 'http', url })

const vscodeLink = (known: Known): string =>
  `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: known.slug, ...codeServer(known) }))}`

const vscode = (known: Known): ClientGuide => ({
  id: 'connect-vscode',
  title: 'VS Code',
  steps: ['The button above opens VS Code, which asks before it adds the server.', ...(known.isOpen ? [] : [SIGN_IN])],
  snippets: [
    { label: 'Command', code: `code --add-mcp '${JSON.stringify({ name: known.slug, ...codeServer(known) })}'` },
    { label: '.vscode/mcp.json, by hand', code: toJson({ servers: { [known.slug]: codeServer(known) } }) },
  ],
})

const anyOther = ({ slug, url, isOpen }: Known): ClientGuide => {
  const address =
    'Add the address as a “Streamable HTTP” server. For a client that supports only SSE, append /sse to the address.'
  const access =
    'Clients with OAuth discover the rest automatically. Others send a personal access token with the mcp scope.'
  const configure = (more: object) => toJson({ mcpServers: { [slug]: { type: 'http', url, ...more } } })
  const plain = { label: 'For most configuration files', code: configure({}) }
  const withToken = { label: 'With a token', code: configure({ headers: { Authorization: 'Bearer YOUR_TOKEN' } }) }
  return {
    id: 'connect-other',
    title: 'Any other client',
    steps: isOpen ? [address] : [address, access],
    snippets: isOpen ? [plain] : [plain, withToken],
  }
}

const claudeLink = ({ name, url }: Known): string =>
  isReachableFromAfar(url)
    ? `https://claude.ai/customize/connectors?${new URLSearchParams({ modal: 'add-custom-connector', connectorName: name, connectorUrl: url })}`
    : '#connect-claude'

/** Builds the instructions for connecting clients to a server: buttons, and snippets for clients without one. */
export const toConnectPanel = (input: ConnectInput) => {
  const known = { ...input, slug: clientNameOf(input), isOpen: input.tier === 'public' }
  return {
    buttons: [
      { text: 'Claude', href: claudeLink(known), icon: 'add' },
      { text: 'Cursor', href: cursorLink(known), icon: 'add' },
      { text: 'VS Code', href: vscodeLink(known), icon: 'add' },
      { text: 'Command line', href: '#connect-claude-code', icon: 'terminal' },
    ],
    /** Who has access, and how clients authenticate. */
    access: ACCESS[input.tier],
    /** Path of the page that creates tokens for clients without OAuth support. */
    tokensHref: known.isOpen ? undefined : '/account/tokens',
    clients: [claude, claudeCode, cursor, vscode, anyOther].map(guide => guide(known)),
  }
}
