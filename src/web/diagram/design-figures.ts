import { formatDuration, formatNumber } from '../../lib/http/pages/format.ts'
import { toConnectPanel } from '../overview/connect.ts'
import { toCallChart, toDurationChart } from '../overview/hour-chart.ts'
import { toSpark } from '../overview/spark.ts'

const HOUR_MS = 60 * 60 * 1_000
const SERVER_ID = '7f3c1a52-9d0e-4c8b-b6a4-2e51d7f08c93'

const HOURS = [12, 8, 5, 4, 6, 9, 21, 48, 92, 118, 126, 109, 84, 97, 121, 117, 104, 92, 76, 58, 41, 33, 22, 15].map(
  (calls, index) => ({
    startsAt: new Date(index * HOUR_MS),
    calls,
    errors: index === 10 ? 5 : index % 9 === 0 ? 1 : 0,
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

/** Sample figures, charts, connection guides and calls for `/design`. */
export const DESIGN_FIGURES = {
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
    { ...CALL, id: '1', tool: 'track_shipment', state: 'good', outcome: 'answered', duration: '182 ms' },
    { ...CALL, id: '2', tool: 'book_pickup', state: 'failed', outcome: 'failed, 422', duration: '96 ms' },
  ],
}
