/** An MCP server from npm, which runs as a command. */
export type ThirdPartyServer = {
  name: string
  /** Arguments for its command. `FOLDER` stands for a folder of its own. */
  args?: readonly string[]
  /** Invented credentials, for servers that list no tools without any. Nothing is sent with them. */
  env?: Readonly<Record<string, string>>
  /** Calls whose results do not depend on time, chance or the network. */
  calls?: readonly { name: string; arguments: Record<string, unknown> }[]
}

/** Stands for a folder that the direct connection and the one through Patchbay share. */
export const FOLDER = '<folder>'
const KEY = 'not-a-real-key'

const call = (name: string, args: Record<string, unknown> = {}) => ({ name, arguments: args })

export const SERVERS: readonly ThirdPartyServer[] = [
  {
    name: '@modelcontextprotocol/server-everything',
    calls: [call('echo', { message: 'hello' }), call('get-sum', { a: 2, b: 3 }), call('get-tiny-image'), call('echo')],
  },
  {
    name: '@modelcontextprotocol/server-filesystem',
    args: [FOLDER],
    calls: [
      call('list_directory', { path: FOLDER }),
      call('read_text_file', { path: `${FOLDER}/notes.txt` }),
      call('read_text_file', { path: `${FOLDER}/missing.txt` }),
      call('directory_tree', { path: FOLDER }),
    ],
  },
  {
    name: '@modelcontextprotocol/server-memory',
    env: { MEMORY_FILE_PATH: `${FOLDER}/memory.jsonl` },
    calls: [call('read_graph'), call('search_nodes', { query: 'harbor' }), call('open_nodes', { names: ['nobody'] })],
  },
  {
    name: '@modelcontextprotocol/server-sequential-thinking',
    calls: [
      call('sequentialthinking', { thought: 'first', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }),
    ],
  },
  {
    name: '@modelcontextprotocol/server-github',
    env: { GITHUB_PERSONAL_ACCESS_TOKEN: KEY },
    calls: [call('fork_repository')],
  },
  { name: '@modelcontextprotocol/server-google-maps', env: { GOOGLE_MAPS_API_KEY: KEY } },
  { name: '@modelcontextprotocol/server-slack', env: { SLACK_BOT_TOKEN: KEY, SLACK_TEAM_ID: 'T0' } },
  { name: '@antv/mcp-server-chart' },
  { name: '@brave/brave-search-mcp-server', env: { BRAVE_API_KEY: KEY } },
  { name: '@circleci/mcp-server-circleci', env: { CIRCLECI_TOKEN: KEY } },
  { name: '@coo-quack/calc-mcp', calls: [call('math', { expression: '6 * 7' }), call('hash', { input: 'a' })] },
  { name: '@cyanheads/git-mcp-server', env: { MCP_TRANSPORT_TYPE: 'stdio' } },
  { name: '@eslint/mcp' },
  {
    name: '@kazuph/mcp-taskmanager',
    env: { TASK_MANAGER_FILE_PATH: `${FOLDER}/tasks.json` },
    calls: [call('list_requests')],
  },
  { name: '@mapbox/mcp-server', env: { MAPBOX_ACCESS_TOKEN: 'pk.e30.AA' } },
  { name: '@notionhq/notion-mcp-server', env: { NOTION_TOKEN: KEY } },
  { name: '@perplexity-ai/mcp-server', env: { PERPLEXITY_API_KEY: KEY } },
  { name: '@pinecone-database/mcp', env: { PINECONE_API_KEY: KEY } },
  { name: '@playwright/mcp' },
  { name: '@upstash/context7-mcp' },
  { name: '@wonderwhy-er/desktop-commander' },
  { name: 'chrome-devtools-mcp' },
  { name: 'exa-mcp-server', env: { EXA_API_KEY: KEY } },
  { name: 'figma-developer-mcp', args: ['--stdio'], env: { FIGMA_API_KEY: KEY } },
  { name: 'firecrawl-mcp', env: { FIRECRAWL_API_KEY: KEY } },
  { name: 'mcp-mermaid' },
  { name: 'mcp-server-kubernetes' },
  { name: 'mongodb-mcp-server' },
  { name: 'tavily-mcp', env: { TAVILY_API_KEY: KEY } },
]
