import { type Answerer, answerJson } from '../../support/fake-api.ts'

const BASE = { base: { source: 'server', value: 'carrier_url' }, token: { source: 'server', value: 'carrier_token' } }
const headers = [{ name: 'Authorization', value: 'Bearer {{token}}' }]

/** Tools for a carrier's API. */
export const CARRIER_TOOLS = [
  {
    name: 'track_shipment',
    title: 'Track a shipment',
    description: 'Says where a shipment is, and what happened to it on its way.',
    method: 'GET',
    url: '{{url:base}}/v2/shipments/{{shipment_id}}?since={{string:since?}}&limit={{integer:limit=20}}',
    headers,
    parameters: {
      shipment_id: { description: 'The number on the label', example: 'KF-2041' },
      since: { description: 'Only events after this day, ISO 8601' },
      limit: { description: 'At most this many events', minimum: 1, maximum: 100 },
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'quote_rate',
    title: 'Quote a rate',
    description: 'What a shipment would cost, in euros.',
    method: 'POST',
    url: '{{url:base}}/v2/quotes',
    headers,
    body: '{"from": "{{from}}", "to": "{{to}}", "weight": {{number:weight_kg}}, "currency": "{{currency}}"}',
    parameters: {
      weight_kg: { description: 'In kilograms', minimum: 0 },
      currency: { description: 'ISO 4217', enum: ['EUR', 'DKK', 'SEK'] },
    },
  },
  {
    name: 'book_pickup',
    title: 'Book a pickup',
    description: 'Sends a truck to a depot.',
    method: 'POST',
    url: '{{url:base}}/v2/pickups',
    headers,
    body: '{"account": "{{account_no}}", "depot": "{{depot}}", "on": "{{on}}"}',
    annotations: { destructiveHint: false },
  },
  {
    name: 'cancel_pickup',
    title: 'Cancel a pickup',
    description: 'Calls the truck back.',
    method: 'DELETE',
    url: '{{url:base}}/v2/pickups/{{integer:pickup_id}}',
    headers,
    annotations: { destructiveHint: true },
  },
]

/** Bindings by tool. Other parameters are exposed. */
export const BINDINGS: Readonly<Record<string, object>> = {
  track_shipment: BASE,
  quote_rate: { ...BASE, currency: { source: 'instance', value: 'EUR' } },
  book_pickup: { ...BASE, account_no: { source: 'server' } },
  cancel_pickup: BASE,
}

/** Responds as the carrier does. Pickups always fail. */
export const answerCarrier: Answerer = ({ method, url }, response) => {
  if (url.startsWith('/v2/pickups')) return answerJson(response, { error: 'depot unknown' }, 422)
  if (method === 'POST') return answerJson(response, { price: 284.5, currency: 'EUR', days: 2 })
  return answerJson(response, {
    shipment: url.split(/[/?]/)[3],
    state: 'in transit',
    events: [
      { at: '2027-01-12T06:40:00Z', place: 'Leipzig', what: 'left the depot' },
      { at: '2027-01-12T14:05:00Z', place: 'Hamburg', what: 'sorted' },
    ],
  })
}
