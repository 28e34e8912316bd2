import type { FastifyInstance } from 'fastify'
import { HOUR_MS } from '../../lib/kernel/durations.ts'
import { formatDuration, formatNumber } from '../../lib/kernel/format.ts'
import { toConnectPanel } from '../overview/connect.ts'
import { toCallChart, toDurationChart } from '../overview/hour-chart.ts'
import { toSpark } from '../overview/spark.ts'
import { toPatchFigure } from './figure.ts'
import { EMPTY_PATCH, LANDING_PATCH } from './landing-patch.ts'
import type { Patch, PatchParameter, PatchTool } from './patch.ts'

const SERVER_ID = '7f3c1a52-9d0e-4c8b-b6a4-2e51d7f08c93'

const HOURS = [12, 8, 5, 4, 6, 9, 21, 48, 92, 118, 126, 109, 84, 97, 121, 117, 104, 92, 76, 58, 41, 33, 22, 15].map(
  (calls, index) => ({
    startsAt: new Date(index * HOUR_MS),
    calls,
    rejected: index % 4 === 0 ? 4 : 0,
    failed: index === 10 ? 5 : index % 9 === 0 ? 1 : 0,
    p50Ms: 150 + calls / 2,
    p99Ms: 900 + calls * 12,
  }),
)

const CALL = {
  href: '/design',
  at: '2026-11-22T11:36:00.000Z',
  time: 'Nov 22, 2026, 11:36 UTC',
  client: 'claude-code/2.1',
}

/** Sample figures, charts, connection guides and calls for the `/design` page. */
const DESIGN_FIGURES = {
  spark: toSpark(
    HOURS.map(({ calls }) => calls),
    index => index === 10,
  ),
  callChart: toCallChart(HOURS, { label: 'Calls by hour', caption: 'calls per hour', toText: formatNumber }),
  durationChart: toDurationChart(HOURS, { label: 'Durations', caption: 'call duration', toText: formatDuration }),
  connect: toConnectPanel({
    id: SERVER_ID,
    name: 'Shipment desk',
    tier: 'organization',
    url: `https://tools.kestrel.example/s/${SERVER_ID}`,
  }),
  calls: [
    { ...CALL, id: '1', tool: 'track_shipment', state: 'good', outcome: '200 OK', duration: '182 ms' },
    { ...CALL, id: '2', tool: 'book_pickup', state: 'rejected', outcome: 'Invalid arguments', duration: '1 ms' },
    { ...CALL, id: '3', tool: 'book_pickup', state: 'failed', outcome: '500 Server error', duration: '96 ms' },
  ],
}

const fromModel = (name: string): PatchParameter => ({ name, source: 'exposed' })
const base: PatchParameter = { name: 'base', source: 'global', key: 'finance_url' }
const token: PatchParameter = { name: 'token', source: 'secret', key: 'finance_token' }

const FAILING: PatchTool = {
  name: 'post_journal',
  href: '/design',
  meta: 'POST · 41 of 60 calls failed',
  calls: 60,
  state: 'failed',
  parameters: [
    base,
    token,
    { name: 'ledger', source: 'missing', key: 'ledger_no' },
    fromModel('entry'),
    fromModel('period'),
  ],
}

const LARGE: Patch = {
  title: 'a group’s office',
  groups: [
    {
      kind: 'toolkit',
      name: 'Finance API',
      href: '/design',
      health: 'healthy, 240 ms',
      state: 'good',
      tools: [
        FAILING,
        ...Array.from({ length: 119 }, (_, index) => ({
          name: `report_${index}`,
          meta: 'GET',
          calls: 68,
          parameters: [
            base,
            token,
            { name: 'unit', source: 'fixed', value: String(index % 9) } as const,
            fromModel('id'),
          ],
        })),
      ],
    },
    {
      kind: 'upstream',
      name: 'Document store',
      href: '/design',
      health: 'slow, 1.9 s',
      state: 'slow',
      tools: Array.from({ length: 16 }, (_, index) => ({
        name: `document_${index}`,
        meta: 'MCP',
        calls: 33,
        parameters: [fromModel('id'), fromModel('revision')],
      })),
    },
    { kind: 'toolkit', name: 'Ledger', href: '/design', health: 'no tools in use', state: 'idle', tools: [] },
  ],
  globals: [
    { key: 'finance_url', source: 'global', value: 'https://finance.example', uses: 120 },
    { key: 'finance_token', source: 'secret', value: 'hidden', uses: 120 },
    { key: 'region', source: 'global', value: 'eu', uses: 0 },
  ],
  callers: {
    tier: 'organization',
    href: '/design',
    list: Array.from({ length: 9 }, (_, index) => ({
      name: `Client ${index + 1}`,
      activity: index < 2 ? '3 open connections' : 'last at 10:42',
      state: index < 2 ? 'good' : 'idle',
    })),
  },
  links: { bindings: '/design', globals: '/design' },
}

/** The patch diagram in each form: empty, with every tool open, and with tools in stacks. */
const DESIGN_PATCHES = [EMPTY_PATCH, LANDING_PATCH, LARGE] as const

const GLOBALS = [
  { value: '', text: 'Choose one…' },
  { value: 'carrier_url', text: 'carrier_url' },
  { value: 'carrier_token', text: 'carrier_token (secret)' },
  { value: '+', text: 'New global…' },
]

const PLAIN = {
  type: 'string',
  about: undefined,
  limits: undefined,
  isRequired: false,
  isLong: false,
  isFixedWrong: false,
  fixed: '',
  fixedHint: 'Any text. Use {{key}} to insert a global.',
  suggestions: [],
  globals: GLOBALS,
  global: '',
  key: '',
  value: '',
  isSecret: false,
  findings: [],
}

/** One sample parameter per source, for the `/design` page. */
const DESIGN_WIRES = [
  { ...PLAIN, name: 'shipment_id', source: 'exposed', isRequired: true, about: 'The number on the label' },
  {
    ...PLAIN,
    name: 'token',
    source: 'global',
    global: '+',
    key: 'night_token',
    isSecret: true,
    findings: [
      { tone: 'warn', text: 'The global night_token does not exist. Calls of this tool fail until you add it.' },
    ],
  },
  {
    ...PLAIN,
    name: 'limit',
    type: 'integer',
    source: 'fixed',
    fixed: 'many',
    fixedHint: 'A whole number. Use {{key}} to insert a global.',
    isFixedWrong: true,
    limits: 'At least 1, at most 100',
    findings: [{ tone: 'danger', text: 'The value of limit must be an integer.' }],
  },
].map(wire => ({ ...wire, id: `wire-${wire.source}`, suggestedKey: wire.name }))

/** Serves `/design`, which shows every UI part in each of its states. Registered only in development. */
export const designPages = async (app: FastifyInstance): Promise<void> => {
  app.get('/design', { config: { access: 'anyone' } }, async (_request, reply) =>
    reply.page('diagram/design', {
      title: 'Parts',
      ...DESIGN_FIGURES,
      patches: DESIGN_PATCHES.map(toPatchFigure),
      wires: DESIGN_WIRES,
    }),
  )
}
