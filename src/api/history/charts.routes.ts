import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Chart, ChartFigures } from '../../history/charts/chart.ts'
import { filterFields } from '../../history/query/execution-filters.ts'
import { signalOf } from '../../lib/http/gone.ts'
import { resourceRoutes } from '../../lib/http/resource-routes.ts'
import { orNull, serverParams, timeSchema, uuidParams } from '../../lib/http/schemas.ts'
import type { CallHistory } from '../../runtime/history/call-history.service.ts'

const ChartQuery = z.strictObject({
  ...filterFields,
  from: filterFields.from.describe('start of the chart; default: 24 hours before its end'),
  to: filterFields.to.describe('end of the chart, exclusive; default: now'),
})

const percentile = orNull(z.number())
const figures = {
  calls: z.int(),
  rejected: z.int().describe('calls that were refused: a 4xx status, invalid arguments, a blocked address, or a limit'),
  failed: z.int().describe('calls that ended with any other error'),
  p50Ms: percentile.describe('estimated from a histogram, up to 40 % off; null without calls'),
  p95Ms: percentile,
  p99Ms: percentile,
  counted: z.int().describe('calls whose tokens were counted; the sums of tokens cover only these'),
  tokensSent: z.int(),
  tokensSaved: z.int().describe('tokens that were left out; negative if continuing from cut results cost more'),
}

const ChartView = z.object({
  from: timeSchema.describe('start of the first bar, at or before the start that was asked for'),
  to: timeSchema.describe('end of the last bar'),
  barSeconds: z.int().describe('length of a bar in seconds'),
  lookedUntil: orNull(timeSchema).describe(
    'set if there were too many calls to count: none before this time were counted. Only with several filters, or with one for which there are no sums; then a chart counts 200,000 calls at most',
  ),
  total: z.object(figures),
  bars: z.array(z.object({ startsAt: timeSchema, ...figures })),
  tools: orNull(z.array(z.object({ tool: z.string(), ...figures }))).describe(
    'up to 20 tools with the most calls; null if they are not known for these filters',
  ),
  callers: orNull(z.array(z.object({ caller: z.string(), ...figures }))).describe(
    'up to 20 users with the most calls; null if they are not known for these filters',
  ),
})

const withSaved = <F extends ChartFigures>({ tokensBefore, ...rest }: F) => ({
  ...rest,
  tokensSaved: tokensBefore - rest.tokensSent,
})

const chartView = {
  schema: ChartView,
  toView: ({ total, bars, tools, callers, ...chart }: Chart) => ({
    ...chart,
    total: withSaved(total),
    bars: bars.map(withSaved),
    tools: tools?.map(({ key, ...rest }) => ({ tool: key, ...withSaved(rest) })),
    callers: callers?.map(({ key, ...rest }) => ({ caller: key, ...withSaved(rest) })),
  }),
}

/** Charts of the calls of a server, and of an organization. */
export const chartRoutes: FastifyPluginAsyncZod<{ callHistory: CallHistory }> = async (app, { callHistory }) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['execution'] })

  routes.get(
    '/servers/:uuid/executions/charts',
    { summary: 'Get a chart of the calls of a server', params: serverParams, querystring: ChartQuery },
    chartView,
    ({ actor, params, query, reply }) =>
      callHistory.chartExecutions(actor, { serverId: params.uuid }, query, signalOf(reply)),
  )
  routes.get(
    '/organizations/:id/executions/charts',
    { summary: 'Get a chart of the calls of an organization', params: uuidParams, querystring: ChartQuery },
    chartView,
    ({ actor, params, query, reply }) =>
      callHistory.chartExecutions(actor, { organizationId: params.id }, query, signalOf(reply)),
  )
}
