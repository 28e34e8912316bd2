import { GOOSE_TIMEOUT_SECONDS, type ServerFacts, toCodeServer } from './client-guides.ts'

/** Links that open a client, which then asks whether to add the server. */
export const CLIENT_LINKS = {
  claude: ({ name, url }: ServerFacts): string =>
    `https://claude.ai/customize/connectors?${new URLSearchParams({ modal: 'add-custom-connector', connectorName: name, connectorUrl: url })}`,
  cursor: ({ slug, url }: ServerFacts): string => {
    const config = Buffer.from(JSON.stringify({ url })).toString('base64')
    return `cursor://anysphere.cursor-deeplink/mcp/install?${new URLSearchParams({ name: slug, config })}`
  },
  vscode: (server: ServerFacts): string =>
    `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: server.slug, ...toCodeServer(server) }))}`,
  goose: ({ slug, name, url }: ServerFacts): string => {
    const about = { id: slug, name, description: name, timeout: String(GOOSE_TIMEOUT_SECONDS) }
    const query = new URLSearchParams({ url, type: 'streamable_http', ...about })
    // Goose decodes only percent-encoding.
    return `goose://extension?${query.toString().replaceAll('+', '%20')}`
  },
  lmStudio: ({ slug, url }: ServerFacts): string => {
    const config = Buffer.from(JSON.stringify({ url })).toString('base64')
    return `lmstudio://add_mcp?${new URLSearchParams({ name: slug, config })}`
  },
} as const
