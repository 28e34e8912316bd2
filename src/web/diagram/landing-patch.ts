import type { Patch } from './patch.ts'

const wired = [
  { name: 'base', source: 'global', key: 'carrier_url' },
  { name: 'token', source: 'secret', key: 'carrier_token' },
] as const
const asked = (name: string) => ({ name, source: 'exposed' }) as const

/** The picture of the landing page: two tools of a carrier's API, with a value of each kind. */
export const LANDING_PATCH: Patch = {
  title: 'a carrier’s API',
  groups: [
    {
      kind: 'toolkit',
      name: 'Carrier API',
      health: 'answering, 182 ms',
      state: 'good',
      tools: [
        {
          name: 'track_shipment',
          meta: 'GET',
          calls: 0,
          parameters: [...wired, asked('shipment_id')],
        },
        {
          name: 'quote_rate',
          meta: 'POST',
          calls: 0,
          parameters: [
            ...wired,
            { name: 'currency', source: 'fixed', value: 'EUR' },
            asked('from_port'),
            asked('to_port'),
            asked('weight_kg'),
          ],
        },
      ],
    },
  ],
  globals: [
    { key: 'carrier_url', source: 'global', value: 'https://…', uses: 2 },
    { key: 'carrier_token', source: 'secret', value: 'sealed', uses: 2 },
  ],
  callers: {
    tier: 'public',
    list: [
      { name: 'Claude', what: 'connected', state: 'good' },
      { name: 'Cursor', what: 'connected', state: 'good' },
    ],
  },
  links: {},
}

/** Nothing connected yet: what a list without servers shows. */
export const EMPTY_PATCH: Patch = { title: '', groups: [], globals: [], callers: { tier: '', list: [] }, links: {} }
