import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf, toIdPage } from '../../lib/http/id-paging.ts'
import { assertUnchanged } from '../../lib/http/pages/read-only.ts'
import { pageOf, pageQuery } from '../../lib/http/paging.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import { ToolLintView } from '../../tools/findings.schema.ts'
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
import { toToolLintView } from './findings.view.ts'
import { toToolkitView, toToolView } from './toolkits.view.ts'

type Parts = { toolkits: ToolkitService; tools: ToolService; toolLint: ToolLintService }

const config = { access: 'user' } as const
const tags = ['toolkits']

export const toolkitRoutes =
  ({ toolkits, tools, toolLint }: Parts): FastifyPluginAsyncZod =>
  async app => {
    app.post(
      '/toolkits',
      { config, schema: { tags, body: CreateToolkit, response: { 201: ToolkitView } } },
      async (request, reply) => {
        const toolkit = await toolkits.createToolkit(actorOf(request), request.body)
        return reply.code(201).send(toToolkitView(toolkit))
      },
    )

    app.get(
      '/toolkits',
      { config, schema: { tags, querystring: pageQuery, response: { 200: pageOf(ToolkitView) } } },
      async request => {
        const page = idPageOf(request.query)
        return toIdPage(await toolkits.listToolkits(actorOf(request), page), page, toToolkitView)
      },
    )

    app.get(
      '/gallery',
      { config, schema: { tags, querystring: pageQuery, response: { 200: pageOf(ToolkitView) } } },
      async request => {
        const page = idPageOf(request.query)
        return toIdPage(await toolkits.listGallery(page), page, toToolkitView)
      },
    )

    app.get(
      '/toolkits/:id',
      { config, schema: { tags, params: uuidParams, response: { 200: ToolkitView } } },
      async request => toToolkitView(await toolkits.getToolkit(actorOf(request), request.params.id)),
    )

    app.patch(
      '/toolkits/:id',
      { config, schema: { tags, params: uuidParams, body: UpdateToolkit, response: { 200: ToolkitView } } },
      async request => {
        const { body, params } = request
        const actor = actorOf(request)
        await assertUnchanged(['id', 'organizationId'], body, () => toolkits.getToolkit(actor, params.id))
        return toToolkitView(await toolkits.updateToolkit(actor, params.id, body))
      },
    )

    app.delete(
      '/toolkits/:id',
      { config, schema: { tags, params: uuidParams, response: { 204: z.null() } } },
      async (request, reply) => {
        await toolkits.removeToolkit(actorOf(request), request.params.id)
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/toolkits/:id/transfer',
      {
        config,
        schema: {
          tags,
          summary: 'Move a toolkit to another organization; none of your servers may use it',
          params: uuidParams,
          body: TransferToolkit,
          response: { 200: ToolkitView },
        },
      },
      async request => {
        const { organizationId } = request.body
        return toToolkitView(await toolkits.transferToolkit(actorOf(request), request.params.id, organizationId))
      },
    )

    app.post(
      '/toolkits/:id/tools',
      { config, schema: { tags, params: uuidParams, body: CreateTool, response: { 201: ToolView } } },
      async (request, reply) => {
        const tool = await tools.createTool(actorOf(request), request.params.id, request.body)
        return reply.code(201).send(toToolView(tool))
      },
    )

    app.get(
      '/toolkits/:id/tools',
      { config, schema: { tags, params: uuidParams, querystring: pageQuery, response: { 200: pageOf(ToolView) } } },
      async request => {
        const page = idPageOf(request.query)
        return toIdPage(await tools.listTools(actorOf(request), request.params.id, page), page, toToolView)
      },
    )

    app.get(
      '/tools/:id',
      { config, schema: { tags, params: uuidParams, response: { 200: ToolView } } },
      async request => toToolView(await tools.getTool(actorOf(request), request.params.id)),
    )

    app.get(
      '/tools/:id/lint',
      {
        config,
        schema: {
          tags,
          summary: 'List known problems of a tool with clients and models',
          params: uuidParams,
          response: { 200: ToolLintView },
        },
      },
      async request => toToolLintView(await toolLint.lintSaved(actorOf(request), request.params.id)),
    )

    app.patch(
      '/tools/:id',
      { config, schema: { tags, params: uuidParams, body: UpdateTool, response: { 200: ToolView } } },
      async request => {
        const { body, params } = request
        const actor = actorOf(request)
        await assertUnchanged(['id', 'toolkitId'], body, () => tools.getTool(actor, params.id))
        return toToolView(await tools.updateTool(actor, params.id, body))
      },
    )

    app.delete(
      '/tools/:id',
      { config, schema: { tags, params: uuidParams, response: { 204: z.null() } } },
      async (request, reply) => {
        await tools.removeTool(actorOf(request), request.params.id)
        return reply.code(204).send(null)
      },
    )
  }
