import type { Patch } from './patch.ts'

const wired = [
  { name: 'base', source: 'global', key: 'carrier_url' },
  { name: 'token', source: 'secret', key: 'carrier_token' },
] as const
const fromModel = (name: string) => ({ name, source: 'exposed' }) as const

/** The example on the landing page: two tools of a carrier's API, with a value from every source. */
export const LANDING_PATCH: Patch = {
  title: 'a carrier’s API',
  groups: [
    {
      kind: 'toolkit',
      name: 'Carrier API',
      health: 'healthy, 182 ms',
      state: 'good',
      tools: [
        {
          name: 'track_shipment',
          meta: 'GET',
          calls: 0,
          parameters: [...wired, fromModel('shipment_id')],
        },
        {
          name: 'quote_rate',
          meta: 'POST',
          calls: 0,
          parameters: [
            ...wired,
            { name: 'currency', source: 'fixed', value: 'EUR' },
            fromModel('from_port'),
            fromModel('to_port'),
            fromModel('weight_kg'),
          ],
        },
      ],
    },
  ],
  globals: [
    { key: 'carrier_url', source: 'global', value: 'https://…', uses: 2 },
    { key: 'carrier_token', source: 'secret', value: 'hidden', uses: 2 },
  ],
  callers: {
    tier: 'public',
    list: [
      { name: 'Claude', activity: 'connected', state: 'good' },
      { name: 'Cursor', activity: 'connected', state: 'good' },
    ],
  },
  links: {},
}

/** The patch shown instead of an empty list of servers. */
export const EMPTY_PATCH: Patch = { title: '', groups: [], globals: [], callers: { tier: '', list: [] }, links: {} }
