import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

export const SCENARIOS = [
  'calls',
  'lists',
  'access',
  'budget',
  'memory',
  'start',
  'changes',
  'pages',
  'imports',
  'upstreams',
  'passthrough',
  'answers',
  'facts',
  'finding',
  'neighbours',
  'outbox',
] as const
/** Run only if they are named: one writes files into the checkout, the other gigabytes into the temporary folder. */
const ONLY_IF_NAMED = ['profile', 'history'] as const
export type Scenario = (typeof SCENARIOS)[number] | (typeof ONLY_IF_NAMED)[number]

export type Options = {
  only: ReadonlySet<Scenario>
  rounds: number
  sliceMs: number
  /** Uses small numbers throughout, only to check that everything works. */
  quick: boolean
  strict: boolean
  withSdk: boolean
  keep: boolean
  /** Number of calls in a long history. */
  calls: number
  /** Root of another checkout to compare with. */
  against: string | undefined
  /** Flags for the Node that runs Patchbay. */
  nodeFlags: readonly string[]
  json: string | undefined
}

export const USAGE = `Usage: npm run bench -- [options]
  --against DIR     compare with another checkout of Patchbay, round by round; exit 1 when this one is worse
  --only NAMES      comma-separated: ${SCENARIOS.join(', ')} (default: all); or ${ONLY_IF_NAMED.join(', ')}
  --rounds N        number of measured rounds (default 5)
  --seconds N       length of a measured slice of load (default 2)
  --calls N         number of calls in the history (default 10 million, with --quick 20,000)
  --quick           one short round of everything, to check that it works
  --strict          exit 1 when a figure misses its requirement
  --with-sdk        also measure a server built on the official SDK
  --json FILE       also write the results as JSON
  --cpu-prof DIR    write CPU profiles of Patchbay's processes to this folder
  --node-flags TEXT flags for the Node that runs Patchbay, separated by spaces
  --keep            keep the temporary folder with the databases and the log`

const isScenario = (name: string): name is Scenario =>
  [...SCENARIOS, ...ONLY_IF_NAMED].some(scenario => scenario === name)

const toPositive = (name: string, text: string): number => {
  const value = Number(text)
  if (value > 0 && value <= 1_000) return value
  throw new Error(`--${name} takes a number from 1 to 1000, not ${text}`)
}

const toCalls = (text: string): number => {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new Error(`--calls takes a whole number, not ${text}`)
}

/** Throws a one-line error for invalid arguments. Returns undefined for `--help`. */
export const parseOptions = (args: readonly string[]): Options | undefined => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: SCENARIOS.join(',') },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      calls: { type: 'string' },
      quick: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
      'with-sdk': { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      json: { type: 'string' },
      against: { type: 'string' },
      'node-flags': { type: 'string', default: '' },
      'cpu-prof': { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const only = values.only.split(',').map(name => {
    if (isScenario(name)) return name
    throw new Error(`--only takes ${[...SCENARIOS, ...ONLY_IF_NAMED].join(', ')}, not ${name}`)
  })
  const profiles = values['cpu-prof']
  return {
    only: new Set(only),
    rounds: Math.ceil(toPositive('rounds', values.rounds ?? (values.quick ? '1' : '5'))),
    sliceMs: toPositive('seconds', values.seconds ?? (values.quick ? '0.5' : '2')) * 1_000,
    quick: values.quick,
    strict: values.strict,
    withSdk: values['with-sdk'],
    keep: values.keep,
    calls: toCalls(values.calls ?? (values.quick ? '20000' : '10000000')),
    against: values.against === undefined ? undefined : resolve(values.against),
    nodeFlags: [
      ...values['node-flags'].split(' ').filter(flag => flag !== ''),
      ...(profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(profiles)}`]),
    ],
    json: values.json,
  }
}
