import type { Patch, PatchGlobal, PatchGroup, PatchParameter, PatchTool } from '../../src/web/diagram/patch.ts'

export const exposed = (name: string): PatchParameter => ({ name, source: 'exposed' })
export const fixed = (name: string, value: string): PatchParameter => ({ name, source: 'fixed', value })
export const fromGlobal = (name: string, key: string): PatchParameter => ({ name, source: 'global', key })
export const fromSecret = (name: string, key: string): PatchParameter => ({ name, source: 'secret', key })

const calledTool = (name: string, meta: string, calls: number, parameters: readonly PatchParameter[]): PatchTool => ({
  name,
  href: `/tools/${name}`,
  meta,
  calls,
  parameters,
})

/** Collects the globals that parameters read. A global is a secret if any parameter reads it as a secret. */
const globalsOf = (groups: readonly PatchGroup[], values: Readonly<Record<string, string>> = {}): PatchGlobal[] => {
  const read = groups
    .flatMap(({ tools }) => tools.flatMap(({ parameters }) => parameters))
    .flatMap(parameter => (parameter.source === 'global' || parameter.source === 'secret' ? parameter : []))
  const byKey = Map.groupBy(read, ({ key }) => key)
  return [...byKey].map(([key, of]) => ({
    key,
    source: of.some(({ source }) => source === 'secret') ? 'secret' : 'global',
    value: values[key] ?? 'a value',
    uses: of.length,
  }))
}

export const patchOf = (title: string, groups: readonly PatchGroup[], more: Partial<Patch> = {}): Patch => ({
  title,
  groups,
  globals: globalsOf(groups),
  callers: {
    tier: 'organization',
    href: '/servers/1/access',
    list: [
      { name: 'Claude', activity: '2 open connections', state: 'good' },
      { name: 'Cursor', activity: '1 open connection', state: 'good' },
      { name: 'night-batch', activity: 'token, last at 02:14', state: 'idle' },
    ],
  },
  links: {
    tools: '/servers/1/tools',
    sources: '/servers/1/sources',
    bindings: '/servers/1/bindings',
    globals: '/servers/1/globals',
  },
  ...more,
})

const CARRIER = [fromGlobal('base', 'carrier_url'), fromSecret('token', 'carrier_token')]

const CARRIER_TOOLKIT: PatchGroup = {
  kind: 'toolkit',
  name: 'Carrier toolkit',
  href: '/toolkits/1',
  health: 'healthy, 182 ms',
  state: 'good',
  tools: [
    calledTool('track_shipment', 'GET · 1,204 calls', 1_204, [...CARRIER, exposed('shipment_id')]),
    calledTool('quote_rate', 'POST · 388 calls', 388, [
      ...CARRIER,
      fixed('currency', 'EUR'),
      exposed('from_port'),
      exposed('to_port'),
      exposed('weight_kg'),
    ]),
    calledTool('book_pickup', 'POST · 61 calls, 3 errors', 61, [
      ...CARRIER,
      fixed('window', '08:00–12:00'),
      fromGlobal('account', 'account_no'),
      exposed('shipment_id'),
      exposed('date'),
    ]),
    calledTool('cancel_pickup', 'DELETE · not called', 0, [...CARRIER, exposed('pickup_id')]),
  ],
}

const WEATHER_UPSTREAM: PatchGroup = {
  kind: 'upstream',
  name: 'Depot weather',
  href: '/servers/1/sources',
  health: 'slow, 2.4 s',
  state: 'slow',
  tools: [
    calledTool('weather_at_depot', 'MCP · 97 calls', 97, [
      fromSecret('api_key', 'weather_key'),
      exposed('depot'),
      exposed('hours'),
    ]),
  ],
}

/** Five tools: four from a toolkit and one from an upstream. */
export const FIVE_TOOLS = patchOf('Shipment desk', [WEATHER_UPSTREAM, CARRIER_TOOLKIT])

export const NO_TOOL = patchOf('Nothing yet', [], {
  callers: { tier: 'private', list: [] },
})

export const ONE_TOOL = patchOf('Tracking', [{ ...CARRIER_TOOLKIT, tools: CARRIER_TOOLKIT.tools.slice(0, 1) }])

const manyTools = (count: number, name: string, parametersOf: (index: number) => readonly PatchParameter[]) =>
  Array.from({ length: count }, (_, index) => calledTool(`${name}_${index}`, 'GET · 12 calls', 12, parametersOf(index)))

export const TEN_TOOLS = patchOf('Back office', [
  {
    ...CARRIER_TOOLKIT,
    tools: manyTools(6, 'carrier', index => [...CARRIER, exposed('shipment_id'), fixed('page', String(index))]),
  },
  {
    ...CARRIER_TOOLKIT,
    name: 'Ledger',
    tools: manyTools(3, 'ledger', () => [fromGlobal('account', 'account_no'), exposed('entry'), exposed('period')]),
  },
  WEATHER_UPSTREAM,
])

/** Two toolkits, one with a failing tool whose global is missing, and an upstream without bindings. */
export const TWO_HUNDRED_TOOLS = patchOf('Group office', [
  {
    kind: 'toolkit',
    name: 'Finance API',
    href: '/toolkits/2',
    health: 'healthy, 240 ms',
    state: 'good',
    tools: [
      ...manyTools(119, 'finance', index => [
        fromGlobal('base', 'finance_url'),
        fromSecret('token', 'finance_token'),
        ...(index < 64 ? [fromGlobal('tenant', 'tenant')] : []),
        exposed('entry'),
        exposed('period'),
        exposed('page'),
      ]),
      {
        ...calledTool('post_journal', 'POST · 41 of 60 calls failed', 60, [
          fromGlobal('base', 'finance_url'),
          fromSecret('token', 'finance_token'),
          { name: 'ledger', source: 'missing', key: 'ledger_no' },
          exposed('entry'),
          exposed('period'),
        ]),
        state: 'failed',
      },
    ],
  },
  {
    kind: 'toolkit',
    name: 'Fleet API',
    href: '/toolkits/3',
    health: 'slow, 1.9 s',
    state: 'slow',
    tools: manyTools(64, 'fleet', index => [
      ...(index < 12 ? [fromGlobal('tenant', 'tenant')] : []),
      fromSecret('key', 'fleet_key'),
      fixed('units', `unit-${index % 9}`),
      exposed('vehicle'),
    ]),
  },
  {
    kind: 'upstream',
    name: 'Document store',
    href: '/servers/1/sources',
    health: 'healthy, 88 ms',
    state: 'good',
    tools: manyTools(16, 'document', () => [exposed('id'), exposed('revision')]),
  },
])
