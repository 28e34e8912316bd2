import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { ImportApplying } from '../../imports/apply/apply-import.service.ts'
import { ImportReport } from '../../imports/apply/import-report.ts'
import { signalOf } from '../../lib/http/gone.ts'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { orNull, uuidParams } from '../../lib/http/schemas.ts'
import type { ExecutionService } from '../../runtime/execution.service.ts'
import { CallArguments, ToolTestView } from '../history/executions.schema.ts'
import { toToolTestView } from '../history/executions.view.ts'

const { server, missing } = ImportReport.shape
const reportView = viewAsIs(
  ImportReport.extend({
    server: orNull(server.unwrap()),
    missing: z
      .array(missing.element.extend({ serverId: orNull(missing.element.shape.serverId.unwrap()) }))
      .describe('globals and secrets that still need a value, and on which server'),
  }),
)

const itemParams = uuidParams.extend({
  key: z.string().min(1).describe('method and path, such as `GET /users/{id}`, percent-encoded'),
})

export const importApplyingRoutes: FastifyPluginAsyncZod<{
  importApplying: ImportApplying
  execution: ExecutionService
}> = async (app, { importApplying, execution }) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['imports'] })

  routes.perform(
    '/imports/:id/apply',
    {
      summary: 'Create and update the tools of the selected operations, all or none, and add them to the chosen server',
      params: uuidParams,
    },
    reportView,
    ({ actor, params }) => importApplying.applyImport(actor, params.id),
  )
  routes.perform(
    '/imports/:id/items/:key/test',
    { summary: 'Send the request of an operation before anything is saved', params: itemParams, body: CallArguments },
    { schema: ToolTestView, toView: toToolTestView },
    async ({ actor, params, body, reply }) => {
      const tool = await importApplying.getUnsavedTool(actor, params.id, params.key)
      return execution.testUnsavedTool(actor, tool, body.arguments, signalOf(reply))
    },
  )
}
