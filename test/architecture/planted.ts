const packageJson = JSON.stringify({
  name: 'planted',
  type: 'module',
  dependencies: { '@modelcontextprotocol/client': '1.0.0', 'oidc-provider': '1.0.0', undici: '1.0.0' },
  devDependencies: { vitest: '1.0.0' },
})

const modules = {
  'node_modules/@modelcontextprotocol/client/package.json':
    '{"name":"@modelcontextprotocol/client","version":"1.0.0","main":"index.js"}',
  'node_modules/@modelcontextprotocol/client/index.js': 'export const Client = 1\n',
  'node_modules/oidc-provider/package.json': '{"name":"oidc-provider","version":"1.0.0","main":"index.js"}',
  'node_modules/oidc-provider/index.js': 'export const Provider = 1\n',
  'node_modules/undici/package.json': '{"name":"undici","version":"1.0.0","main":"index.js"}',
  'node_modules/undici/index.js': 'export const request = 1\n',
  'node_modules/vitest/package.json': '{"name":"vitest","version":"1.0.0","main":"index.js"}',
  'node_modules/vitest/index.js': 'export const it = 1\n',
}

const keeping = {
  'src/mcp/good.ts': "import { runtime } from '../runtime/thing.ts'\nexport const good = runtime\n",
  'src/lib/outbound/good.ts': "import { request } from 'undici'\nimport net from 'node:net'\nexport { net, request }\n",
  'src/upstreams/connection/good.ts': "import { spawn } from 'node:child_process'\nexport const good = spawn\n",
  'src/mcp/typed.ts': "import type { Socket } from 'node:net'\nexport type Client = Socket\n",
  'src/identity/users.store.ts': "export { client } from '../lib/db/generated/client.ts'\n",
  'src/upstreams/typed.ts':
    "import type { Client } from '@modelcontextprotocol/client'\nexport type Typed = typeof Client\n",
  'src/oauth/provider.ts': "import { Provider } from 'oidc-provider'\nexport const provider = Provider\n",
  'src/oauth/load.ts': "export const load = () => import('./provider.ts')\n",
  'src/results/good.ts': "import { runtimecall } from '../runtime/call/thing.ts'\nexport const good = runtimecall\n",
  'src/cli/serve.ts': "import { main } from '../main.ts'\nexport const serve = main\n",
  'src/services.ts': "import { mcp } from './mcp/thing.ts'\nexport const services = mcp\n",
}

/**
 * Returns a forbidden import. Folders of the same layer never import each other, so each folder imports the command
 * line, which itself imports a folder without a layer.
 */
const breachOfLayer = (folder: string) => ({
  from: `src/${folder}/upward.ts`,
  target: folder === 'cli' ? 'planted' : 'cli',
})

/** Returns the name that the folder's module exports. */
const exportOf = (folder: string): string => folder.replaceAll(/[-/]/g, '')

const upTo = (folder: string): string => '../'.repeat(folder.split('/').length)

const filesOfLayer = (folder: string): [string, string][] => {
  const { from, target } = breachOfLayer(folder)
  return [
    [`src/${folder}/thing.ts`, `export const ${exportOf(folder)} = 1\n`],
    [from, `import { ${target} } from '${upTo(folder)}${target}/thing.ts'\nexport const upward = ${target}\n`],
  ]
}

/**
 * A small project with these feature folders. It follows the rules in `allowed` and breaks each of those in `breaches`.
 */
export const plant = (folders: readonly string[]) => ({
  files: {
    'package.json': packageJson,
    ...modules,
    ...Object.fromEntries(folders.flatMap(filesOfLayer)),
    ...keeping,
    'src/main.ts': 'export const main = 1\n',
    'src/planted/thing.ts': 'export const planted = 1\n',
    'src/lib/db/generated/client.ts': 'export const client = 1\n',
    'src/stray/thing.ts': "import { lib } from '../lib/thing.ts'\nexport const thing = lib\n",
    'src/api/composing.ts': "import { services } from '../services.ts'\nexport const composing = services\n",
    'src/servers/service.ts': "import { client } from '../lib/db/generated/client.ts'\nexport const service = client\n",
    'src/runtime/dialling.ts': "import net from 'node:net'\nexport const dial = net.connect\n",
    'src/runtime/fetching.ts': "import { request } from 'undici'\nexport const send = request\n",
    'src/upstreams/hasty.ts': "import { Client } from '@modelcontextprotocol/client'\nexport const client = Client\n",
    'src/oauth/hasty.ts': "import { provider } from './provider.ts'\nexport const hasty = provider\n",
    'src/runtime/starting.ts': "import { spawn } from 'node:child_process'\nexport const start = spawn\n",
    'src/runtime/reading.ts': "import { env } from 'node:process'\nexport const key = env.KEY\n",
    'src/mcp/hen.ts': "import { egg } from './egg.ts'\nexport const hen = () => egg\n",
    'src/mcp/egg.ts': "import { hen } from './hen.ts'\nexport const egg = () => hen\n",
    'src/mcp/utils.ts': "import { lib } from '../lib/thing.ts'\nexport const anything = lib\n",
    'src/mcp/taking.ts': "import { anything } from './utils.ts'\nexport const taking = anything\n",
    'node_modules/undeclared/package.json': '{"name":"undeclared","version":"1.0.0","main":"index.js"}',
    'node_modules/undeclared/index.js': 'export const undeclared = 1\n',
    'src/mcp/undeclared.ts': "import { undeclared } from 'undeclared'\nexport const used = undeclared\n",
    'src/mcp/testing.ts': "import { it } from 'vitest'\nexport const testing = it\n",
    'src/mcp/borrowing.ts': "import { support } from '../../test/support.ts'\nexport const borrowing = support\n",
    'src/mcp/guessing.ts': "import { nothing } from './nowhere.ts'\nexport const guessing = nothing\n",
    'test/support.ts': 'export const support = 1\n',
    'bin/launch.mjs': "import { request } from 'undici'\nexport const launch = request\n",
  },
  allowed: Object.keys(keeping),
  breaches: [
    ...folders.map(folder => {
      const { from, target } = breachOfLayer(folder)
      return `layer-of-${folder}: ${from} → src/${target}/thing.ts`
    }),
    'known-folder: src/stray/thing.ts → src/lib/thing.ts',
    'composition-is-for-cli: src/api/composing.ts → src/services.ts',
    'generated-client-is-for-stores: src/servers/service.ts → src/lib/db/generated/client.ts',
    'outgoing-connections: src/runtime/dialling.ts → net',
    'outgoing-connections: src/runtime/fetching.ts → node_modules/undici/index.js',
    'sdk-when-needed: src/upstreams/hasty.ts → node_modules/@modelcontextprotocol/client/index.js',
    'oauth-library-when-needed: src/oauth/hasty.ts → src/oauth/provider.ts',
    'processes-are-for-upstreams: src/runtime/starting.ts → child_process',
    'environment-is-for-settings: src/runtime/reading.ts → process',
    'no-circle: src/mcp/egg.ts → src/mcp/hen.ts',
    'no-drawer: src/mcp/taking.ts → src/mcp/utils.ts',
    'no-drawer-importing: src/mcp/utils.ts → src/lib/thing.ts',
    'declared-dependency: src/mcp/undeclared.ts → node_modules/undeclared/index.js',
    'no-tool-in-production: src/mcp/testing.ts → node_modules/vitest/index.js',
    'production-only: src/mcp/borrowing.ts → test/support.ts',
    'resolvable: src/mcp/guessing.ts → ./nowhere.ts',
    'launcher-of-built-ins: bin/launch.mjs → node_modules/undici/index.js',
  ],
})
