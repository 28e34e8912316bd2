import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { assertUnchanged } from '../../lib/http/pages/read-only.ts'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import { ToolLintView } from '../../tools/findings.schema.ts'
import type { Tool } from '../../tools/tool.ts'
import { type CompiledDefinition, checkDefinition } from '../../tools/tool-definition.ts'
import type { ToolLintService } from '../../tools/tool-lint.ts'
import {
  CreateTool,
  CreateToolkit,
  ToolkitView,
  ToolView,
  TransferToolkit,
  UpdateTool,
  UpdateToolkit,
} from '../../tools/toolkits.schema.ts'
import type { ToolkitService } from '../../tools/toolkits.service.ts'
import type { ToolService } from '../../tools/tools.service.ts'

type Parts = { toolkits: ToolkitService; tools: ToolService; toolLint: ToolLintService }

const toParameterViews = ({ parameters }: CompiledDefinition) =>
  Object.fromEntries(
    parameters.map(({ parameter, meta }) => [
      parameter.name,
      {
        type: parameter.type,
        required: parameter.required,
        places: parameter.places,
        ...meta,
        default: parameter.default === undefined ? meta.default : parameter.default,
      },
    ]),
  )

/**
 * Returns a tool as the API shows it. A tool that was saved by an older version and that this version cannot compile
 * has no parameters.
 */
const toToolView = (tool: Tool) => {
  const compiled = checkDefinition(tool)
  return { ...tool, parameters: compiled.ok ? toParameterViews(compiled.value) : {} }
}

const params = uuidParams
const toolkitView = viewAsIs(ToolkitView)
const toolView = { schema: ToolView, toView: toToolView }
const toolLintView = viewAsIs(ToolLintView)

export const toolkitRoutes: FastifyPluginAsyncZod<Parts> = async (app, { toolkits, tools, toolLint }) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['toolkits'] })

  routes.create('/toolkits', { body: CreateToolkit }, toolkitView, ({ actor, body }) =>
    toolkits.createToolkit(actor, body),
  )
  routes.list('/toolkits', {}, toolkitView, ({ actor, page }) => toolkits.listToolkits(actor, page))
  routes.list('/gallery', {}, toolkitView, ({ page }) => toolkits.listGallery(page))
  routes.get('/toolkits/:id', { params }, toolkitView, ({ actor, params }) => toolkits.getToolkit(actor, params.id))
  routes.update(
    '/toolkits/:id',
    { params, body: UpdateToolkit },
    toolkitView,
    async ({ actor, params: { id }, body }) => {
      await assertUnchanged(['id', 'organizationId'], body, () => toolkits.getToolkit(actor, id))
      return toolkits.updateToolkit(actor, id, body)
    },
  )
  routes.remove('/toolkits/:id', { params }, ({ actor, params }) => toolkits.removeToolkit(actor, params.id))
  routes.perform(
    '/toolkits/:id/transfer',
    {
      summary: 'Move a toolkit to another organization; none of your servers may use it',
      params,
      body: TransferToolkit,
    },
    toolkitView,
    ({ actor, params, body }) => toolkits.transferToolkit(actor, params.id, body.organizationId),
  )

  routes.create('/toolkits/:id/tools', { params, body: CreateTool }, toolView, ({ actor, params, body }) =>
    tools.createTool(actor, params.id, body),
  )
  routes.list('/toolkits/:id/tools', { params }, toolView, ({ actor, params, page }) =>
    tools.listTools(actor, params.id, page),
  )
  routes.get('/tools/:id', { params }, toolView, ({ actor, params }) => tools.getTool(actor, params.id))
  routes.get(
    '/tools/:id/lint',
    { summary: 'List problems that clients and models are known to have with a tool', params },
    toolLintView,
    ({ actor, params }) => toolLint.lintSaved(actor, params.id),
  )
  routes.update('/tools/:id', { params, body: UpdateTool }, toolView, async ({ actor, params: { id }, body }) => {
    await assertUnchanged(['id', 'toolkitId'], body, () => tools.getTool(actor, id))
    const { problem: _problem, ...patch } = body
    return tools.updateTool(actor, id, patch)
  })
  routes.remove('/tools/:id', { params }, ({ actor, params }) => tools.removeTool(actor, params.id))
}
