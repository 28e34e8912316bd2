// The import rules of ARCHITECTURE.md. test/architecture shows that they see every file and catch what they forbid.

/** A folder of src imports only folders of a lower rank. A folder that is not here may not be in src. */
const RANKS = {
  kernel: 0,
  platform: 1,
  accounts: 2,
  templates: 2,
  context: 2,
  history: 2,
  organizations: 3,
  toolkits: 3,
  upstreams: 3,
  'config-files': 4,
  servers: 4,
  execution: 5,
  oauth: 5,
  mcp: 6,
  discovery: 7,
  dashboard: 7,
  sample: 7,
  cli: 7,
}

const anyOf = names => `(${names.join('|')})`

const rankRules = Object.entries(RANKS).map(([folder, rank]) => ({
  name: `rank-of-${folder}`,
  comment: `src/${folder} has rank ${rank}: it imports only folders of a lower rank`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: {
    path: `^src/${anyOf(Object.keys(RANKS).filter(other => other !== folder && RANKS[other] >= rank))}/`,
  },
}))

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

/** What only the files at `places` import; `but`: the ways of importing that all may use, by a type unless said otherwise. */
const onlyAt = (name, comment, places, path, but = ['type-only']) =>
  rule(name, comment, { path: '^src/', pathNot: places }, { path, dependencyTypesNot: but })

/** The ways into a folder. The generated client is one: who may take it has a rule of its own. */
const DOORS = [
  '^src/[^/]+/index\\.ts$',
  '^src/platform/[^/]+\\.ts$',
  '^src/platform/[^/]+/index\\.ts$',
  '^src/platform/db/generated/',
]
const SOCKET_MODULES = ['dgram', 'dns', 'dns/promises', 'http', 'http2', 'https', 'net', 'tls']
const OAUTH_LIBRARY_USERS = '^src/oauth/(engine|provider|adapter)\\.ts$'
const DRAWER = '(^|/)(utils?|helpers?|common|managers?)(/|\\.ts$)'

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...rankRules,
    rule(
      'known-folder',
      'A folder in src is a feature with a rank: give it one in .dependency-cruiser.mjs and ARCHITECTURE.md',
      { path: '^src/[^/]+/', pathNot: `^src/${anyOf(Object.keys(RANKS))}/` },
      {},
    ),
    rule(
      'through-index',
      "Another folder's files are reached through its index.ts (platform: through that of the subfolder)",
      { path: '^src/([^/]+)' },
      { path: '^src/[^/]+/', pathNot: ['^src/$1/', ...DOORS] },
    ),
    rule(
      'through-index-of-platform',
      'A subfolder of platform reaches another through its index.ts',
      { path: '^src/platform/([^/]+)' },
      { path: '^src/platform/[^/]+/', pathNot: ['^src/platform/$1/', ...DOORS] },
    ),
    rule(
      'composition-is-for-cli',
      'main.ts, services.ts and app*.ts know everything; only the command line knows them',
      { path: '^src/', pathNot: ['^src/cli/', '^src/[^/]+\\.ts$'] },
      { path: '^src/(main|services|app|app-pages|app-api)\\.ts$' },
    ),
    rule(
      'generated-client-is-for-stores',
      'Only *.store.ts and platform/db talk to the database',
      { path: '^src/', pathNot: ['\\.store\\.ts$', '^src/platform/db/'] },
      { path: '^src/platform/db/generated/' },
    ),
    onlyAt(
      'sockets-are-for-platform',
      'Only platform/net, platform/db and platform/mail open connections outwards: the rest goes through them',
      '^src/platform/(net|db|mail)/',
      [`^(node:)?${anyOf(SOCKET_MODULES)}$`, 'node_modules/(undici|httpxy)/'],
    ),
    onlyAt(
      'sdk-when-needed',
      "The SDK's client comes with the first upstream (upstreams/mcp-client.ts), or with a command that is one",
      '^src/cli/',
      'node_modules/@modelcontextprotocol/client/',
    ),
    onlyAt(
      'oauth-library-when-needed',
      'The library of the authorization server comes with its engine, and that with the first request (oauth/load-engine.ts)',
      OAUTH_LIBRARY_USERS,
      ['node_modules/oidc-provider/', OAUTH_LIBRARY_USERS],
      ['type-only', 'dynamic-import'],
    ),
    onlyAt(
      'processes-are-for-upstreams',
      'Only src/upstreams/connection and the threads of src/context start processes: there they are bounded, and none outlives Patchbay',
      '^src/(upstreams/connection/|context/threads/job-process\\.ts$)',
      '^(node:)?(child_process|cluster)$',
    ),
    rule(
      'environment-is-for-settings',
      "Only platform/settings.ts reads the environment (process.env itself is the linter's part)",
      { path: '^src/', pathNot: '^src/platform/settings\\.ts$' },
      { path: '^(node:)?process$' },
    ),
    rule('no-circle', 'Two files that import each other are one, or a third is missing', {}, { circular: true }),
    rule('no-drawer', 'A file or folder is named after what it holds', {}, { path: DRAWER, pathNot: 'node_modules' }),
    rule('no-drawer-importing', 'A file or folder is named after what it holds', { path: DRAWER }, {}),
    rule(
      'declared-dependency',
      'What runs in production imports only what package.json lists under dependencies',
      { path: '^src/' },
      {
        dependencyTypes: ['npm-dev', 'npm-optional', 'npm-peer', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['type-only'],
      },
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
    doNotFollow: { path: ['node_modules', '^src/platform/db/generated/'] },
    exclude: { path: '^dist' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.mjs', '.cjs', '.js', '.json', '.d.ts'],
    },
  },
}
