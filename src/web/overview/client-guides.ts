import { isLoopback } from '../../lib/kernel/loopback.ts'
import { GUIDE_SOURCES, type GuideSource } from './guide-sources.ts'

/** A server, as the instructions for one client need it. */
export type ServerFacts = {
  /** The server's name in configuration files: lowercase letters, digits and hyphens. */
  slug: string
  name: string
  url: string
  /** Whether the server is public, so that clients need no token. */
  isOpen: boolean
}

/** Instructions for adding the server to one client. */
export type ClientGuide = {
  /** Anchor to which the page's buttons link. */
  id: string
  title: string
  /** Why the client cannot connect to this server. It then has neither steps nor snippets. */
  unavailable?: string
  steps: readonly string[]
  /** Snippets to copy into the client. */
  snippets: readonly { label: string; code: string }[]
  source?: GuideSource
}

/** Returns whether a URL leads to this machine. */
const isOnThisMachine = (url: URL): boolean => isLoopback(url) || url.hostname === '0.0.0.0'

/**
 * Returns whether clients that run on their vendor's servers can reach the URL: it must use https and must not name this
 * machine.
 */
export const isReachableFromInternet = (url: string): boolean => {
  const parsed = new URL(url)
  return parsed.protocol === 'https:' && !isOnThisMachine(parsed)
}

const toJson = (value: unknown): string => JSON.stringify(value, undefined, 2)
const WITH_TOKEN = { headers: { Authorization: 'Bearer YOUR_TOKEN' } }

const SIGN_IN = 'It opens a Patchbay page where you sign in and allow access.'

/** Returns the entry as JSON, and for servers that require a token also with one. */
const snippetsOf = (
  { isOpen }: ServerFacts,
  file: string,
  configure: (more: object) => unknown,
): ClientGuide['snippets'] => [
  { label: file, code: toJson(configure({})) },
  ...(isOpen ? [] : [{ label: `${file}, with a personal access token`, code: toJson(configure(WITH_TOKEN)) }]),
]

const claude = ({ url, isOpen, slug }: ServerFacts): ClientGuide => {
  const about = {
    id: 'connect-claude',
    title: 'Claude on the web, desktop and phone',
    source: GUIDE_SOURCES.claude,
  }
  if (isReachableFromInternet(url)) {
    return {
      ...about,
      steps: [
        'The button above opens the form with name and address. Or open Customize, Connectors, choose Add, then Add custom connector, and enter them.',
        `Choose Continue, check the authentication (${isOpen ? 'No sign-in' : 'Sign in now'}), and choose Add.${isOpen ? '' : ` ${SIGN_IN}`}`,
        'On a Team or Enterprise plan, an owner adds the connector in Organization settings, Connectors. Members then choose Connect.',
      ],
      snippets: [{ label: 'Address', code: url }],
    }
  }
  const parsed = new URL(url)
  const isPlain = parsed.protocol === 'http:' && !isOnThisMachine(parsed)
  const args = ['-y', 'mcp-remote', url, ...(isPlain ? ['--allow-http'] : [])]
  return {
    ...about,
    steps: [
      'Claude’s connectors need an https address that is reachable from the internet, and this one is not. Set PATCHBAY_BASE_URL to such an address, or let Claude Desktop connect from this machine:',
      `In Claude Desktop open Settings, Developer, Edit Config, add this and restart it.${isOpen ? '' : ` ${SIGN_IN}`}`,
    ],
    snippets: [
      { label: 'claude_desktop_config.json', code: toJson({ mcpServers: { [slug]: { command: 'npx', args } } }) },
    ],
  }
}

const claudeCode = ({ url, isOpen, slug }: ServerFacts): ClientGuide => {
  const add = `claude mcp add --transport http ${slug} ${url}`
  const plain = { label: 'Command', code: add }
  const withToken = {
    label: 'Without a browser, with a personal access token',
    code: `${add} --header "Authorization: Bearer $PATCHBAY_TOKEN"`,
  }
  return {
    id: 'connect-claude-code',
    title: 'Claude Code, on the command line',
    steps: [
      'Run the command in your project. To use the server in all projects, add --scope user.',
      ...(isOpen
        ? []
        : [
            `Then run claude mcp login ${slug}, or type /mcp in Claude Code, choose ${slug}, then Authenticate. ${SIGN_IN}`,
          ]),
    ],
    snippets: isOpen ? [plain] : [plain, withToken],
    source: GUIDE_SOURCES.claudeCode,
  }
}

const chatgpt = ({ url, isOpen }: ServerFacts): ClientGuide => {
  const about = {
    id: 'connect-chatgpt',
    title: 'ChatGPT on the web',
    source: GUIDE_SOURCES.chatgpt,
  }
  if (!isReachableFromInternet(url)) {
    const unavailable =
      'ChatGPT connects from OpenAI’s servers, so the address must be public: https, and reachable from the internet. This one is not. Set PATCHBAY_BASE_URL to such an address.'
    return { ...about, unavailable, steps: [], snippets: [] }
  }
  return {
    ...about,
    steps: [
      'Open chatgpt.com/plugins, choose the plus button, then Add custom MCP server.',
      `Enter a name, and paste the address as Server URL. For authentication choose ${isOpen ? 'No authentication' : 'OAuth'}.`,
      `Confirm the warning and choose Create as a plugin.${isOpen ? '' : ` ${SIGN_IN}`}`,
      'The address must stay public: https, and reachable from the internet.',
    ],
    snippets: [{ label: 'Server URL', code: url }],
  }
}

const cursor = (server: ServerFacts): ClientGuide => ({
  id: 'connect-cursor',
  title: 'Cursor',
  steps: ['The button above opens Cursor, which asks before it adds the server.', ...(server.isOpen ? [] : [SIGN_IN])],
  snippets: [
    { label: '~/.cursor/mcp.json, by hand', code: toJson({ mcpServers: { [server.slug]: { url: server.url } } }) },
  ],
  source: GUIDE_SOURCES.cursor,
})

/** Returns the server as an entry of VS Code’s configuration. */
export const toCodeServer = ({ url }: ServerFacts) => ({ type: 'http', url })

const vscode = (server: ServerFacts): ClientGuide => ({
  id: 'connect-vscode',
  title: 'VS Code',
  steps: ['The button above opens VS Code, which asks before it adds the server.', ...(server.isOpen ? [] : [SIGN_IN])],
  snippets: [
    { label: 'Command', code: `code --add-mcp '${JSON.stringify({ name: server.slug, ...toCodeServer(server) })}'` },
    {
      label: '.mcp.json in the project folder, by hand',
      code: toJson({ mcpServers: { [server.slug]: toCodeServer(server) } }),
    },
    {
      label: '.vscode/mcp.json, by hand for older versions',
      code: toJson({ servers: { [server.slug]: toCodeServer(server) } }),
    },
  ],
  source: GUIDE_SOURCES.vscode,
})

const codex = ({ slug, url, isOpen }: ServerFacts): ClientGuide => {
  const add = `codex mcp add ${slug} --url ${url}`
  const table = `[mcp_servers.${slug}]\nurl = ${JSON.stringify(url)}`
  const token = 'bearer_token_env_var = "PATCHBAY_TOKEN"'
  return {
    id: 'connect-codex',
    title: 'Codex, and the ChatGPT desktop app',
    steps: isOpen ? [] : [`If the command does not open your browser, run codex mcp login ${slug}. ${SIGN_IN}`],
    snippets: [
      { label: 'Command', code: add },
      { label: '~/.codex/config.toml, by hand', code: table },
      ...(isOpen ? [] : [{ label: '~/.codex/config.toml, with a token in a variable', code: `${table}\n${token}` }]),
    ],
    source: GUIDE_SOURCES.codex,
  }
}

const geminiCli = (server: ServerFacts): ClientGuide => {
  const { slug, url, isOpen } = server
  return {
    id: 'connect-gemini-cli',
    title: 'Gemini CLI',
    steps: isOpen ? [] : [`Then type /mcp auth ${slug} in Gemini CLI. ${SIGN_IN}`],
    snippets: [
      { label: 'Command', code: `gemini mcp add --scope user --transport http ${slug} ${url}` },
      ...snippetsOf(server, '~/.gemini/settings.json', more => ({ mcpServers: { [slug]: { httpUrl: url, ...more } } })),
    ],
    source: GUIDE_SOURCES.geminiCli,
  }
}

const windsurf = (server: ServerFacts): ClientGuide => ({
  id: 'connect-windsurf',
  title: 'Windsurf',
  steps: [
    'In the Cascade panel open MCPs, then the raw configuration. Add this and choose Refresh.',
    ...(server.isOpen ? [] : [SIGN_IN]),
  ],
  snippets: snippetsOf(server, '~/.codeium/windsurf/mcp_config.json', more => ({
    mcpServers: { [server.slug]: { serverUrl: server.url, ...more } },
  })),
  source: GUIDE_SOURCES.windsurf,
})

const zed = (server: ServerFacts): ClientGuide => ({
  id: 'connect-zed',
  title: 'Zed',
  steps: [
    'Open the settings file (zed: open settings file) and add this.',
    ...(server.isOpen ? [] : [`Without an Authorization header, Zed asks you to sign in. ${SIGN_IN}`]),
  ],
  snippets: snippetsOf(server, '~/.config/zed/settings.json', more => ({
    context_servers: { [server.slug]: { url: server.url, ...more } },
  })),
  source: GUIDE_SOURCES.zed,
})

/** How long Goose waits for a call. */
export const GOOSE_TIMEOUT_SECONDS = 300

const gooseYaml = ({ slug, name, url }: ServerFacts, headers: readonly string[]): string =>
  [
    'extensions:',
    `  ${JSON.stringify(slug)}:`,
    '    enabled: true',
    '    type: streamable_http',
    `    name: ${JSON.stringify(name)}`,
    `    uri: ${JSON.stringify(url)}`,
    `    timeout: ${GOOSE_TIMEOUT_SECONDS}`,
    ...headers,
  ].join('\n')

const goose = (server: ServerFacts): ClientGuide => {
  const file = '~/.config/goose/config.yaml'
  const headers = ['    headers:', '      Authorization: Bearer YOUR_TOKEN']
  return {
    id: 'connect-goose',
    title: 'Goose',
    steps: ['The button above opens Goose, which asks before it adds the server.', ...(server.isOpen ? [] : [SIGN_IN])],
    snippets: [
      { label: `${file}, by hand`, code: gooseYaml(server, []) },
      ...(server.isOpen ? [] : [{ label: `${file}, with a personal access token`, code: gooseYaml(server, headers) }]),
    ],
    source: GUIDE_SOURCES.goose,
  }
}

const cline = (server: ServerFacts): ClientGuide => ({
  id: 'connect-cline',
  title: 'Cline',
  steps: [
    'Choose the MCP Servers icon, then Configure, then Configure MCP Servers, and add this.',
    ...(server.isOpen ? [] : [SIGN_IN]),
  ],
  snippets: snippetsOf(server, 'cline_mcp_settings.json', more => ({
    mcpServers: { [server.slug]: { type: 'streamableHttp', url: server.url, ...more } },
  })),
  source: GUIDE_SOURCES.cline,
})

const openCode = (server: ServerFacts): ClientGuide => ({
  id: 'connect-opencode',
  title: 'OpenCode',
  steps: server.isOpen ? [] : [`Then type /mcps in OpenCode and choose ${server.slug}. ${SIGN_IN}`],
  snippets: [
    { label: 'Command', code: `opencode mcp add ${server.slug} --global --url ${server.url}` },
    ...snippetsOf(server, '~/.config/opencode/opencode.json', more => ({
      mcp: { servers: { [server.slug]: { type: 'remote', url: server.url, ...more } } },
    })),
  ],
  source: GUIDE_SOURCES.openCode,
})

const lmStudio = (server: ServerFacts): ClientGuide => ({
  id: 'connect-lm-studio',
  title: 'LM Studio',
  steps: [
    'The button above opens LM Studio, which asks before it adds the server.',
    ...(server.isOpen ? [] : ['If it cannot sign in, open Program, Install, Edit mcp.json and add a token.']),
  ],
  snippets: snippetsOf(server, 'mcp.json', more => ({ mcpServers: { [server.slug]: { url: server.url, ...more } } })),
  source: GUIDE_SOURCES.lmStudio,
})

const anyOther = (server: ServerFacts): ClientGuide => {
  const { slug, url, isOpen } = server
  return {
    id: 'connect-other',
    title: 'Any other client',
    steps: [
      'Add the address as a “Streamable HTTP” server. For a client that supports only SSE, append /sse to the address.',
      ...(isOpen
        ? []
        : [
            'Clients with OAuth discover the rest automatically. Others send a personal access token with the mcp scope.',
          ]),
      'If a client does not notice new tools, append ?list=2 to the address, then ?list=3 and so on: it is the same server, but a new address, whose tools the client loads.',
    ],
    snippets: snippetsOf(server, 'For most configuration files', more => ({
      mcpServers: { [slug]: { type: 'http', url, ...more } },
    })),
  }
}

/** The instructions for each client, in the order in which they are shown. */
export const CLIENT_GUIDES: readonly ((server: ServerFacts) => ClientGuide)[] = [
  claude,
  claudeCode,
  chatgpt,
  codex,
  cursor,
  vscode,
  geminiCli,
  windsurf,
  zed,
  goose,
  cline,
  openCode,
  lmStudio,
  anyOther,
]
