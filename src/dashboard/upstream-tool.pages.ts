import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { ExecutionService, ShapingPreview } from '../execution/index.ts'
import { AppError, isJsonObject, type JsonObject } from '../kernel/index.ts'
import { actorOf, formText, isFragmentRequest, parseForm, parseVersion, uuidParam } from '../platform/http/index.ts'
import { createServerTab, type ServerFrameParts } from '../servers/index.ts'
import {
  findToolAnswers,
  hasToolAnswers,
  type UpstreamOffers,
  type UpstreamService,
  upstreamToolPath,
} from '../upstreams/index.ts'
import { type OpenTool, toUpstreamToolLive, toUpstreamToolPage } from './upstream-tool.view.ts'
import {
  type ReadUpstreamTool,
  readUpstreamTool,
  type TypedUpstreamTool,
  typedUpstreamTool,
  UpstreamToolForm,
} from './upstream-tool-form.ts'

/** In a form each byte may be written with three; an answer that is looked at is as long as a model reads at most. */
const BODY_LIMIT = 3 * 512 * 1_024

const config = { access: 'user' } as const
const Params = z.object({ uuid: uuidParam, upstreamId: uuidParam })
const Query = z.object({ name: formText })
const options = { config, schema: { params: Params }, bodyLimit: BODY_LIMIT }

const DONE = { saved: () => 'Saved' }

type Parts = {
  frames: ServerFrameParts
  upstreams: Pick<UpstreamService, 'getUpstream' | 'updateToolAnswers'>
  upstreamOffers: Pick<UpstreamOffers, 'find'>
  execution: Pick<ExecutionService, 'previewUpstreamAnswer'>
}

/** The schema that clients are shown, and answers are held to. */
const findSchema = ({ declared }: OpenTool, { responseTokens = 0 }: ReadUpstreamTool): JsonObject | undefined =>
  responseTokens === 0 && isJsonObject(declared?.outputSchema) ? declared.outputSchema : undefined

/** What becomes of the answers of one tool of an upstream: how much is sent, what is done with it, how long it is kept. */
export const upstreamToolPages =
  ({ frames, upstreams, upstreamOffers, execution }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    const tab = createServerTab(frames, 'sources')

    const open = async (request: FastifyRequest): Promise<OpenTool> => {
      const server = await tab.frameForChange(request)
      const { upstreamId } = Params.parse(request.params)
      const { name } = Query.parse(request.query)
      const { upstream } = await upstreams.getUpstream(actorOf(request), upstreamId)
      const kept = upstream.serverId === server.id ? await upstreamOffers.find(upstream) : undefined
      const item = kept?.catalogue.tools.find(one => one.name.toWellFormed() === name)
      const { responseTokens, ...answers } = findToolAnswers(upstream, name)
      // One that is gone may be let go of; of an upstream that nobody has heard it may be said beforehand.
      const isKnown =
        item !== undefined || kept === undefined || responseTokens !== undefined || hasToolAnswers(answers)
      if (upstream.serverId !== server.id || name === '' || !isKnown) {
        throw new AppError('not_found', 'There is no such tool of an upstream.')
      }
      return { server, upstream, tool: item?.name ?? name, declared: item?.declared }
    }

    const preview = (
      request: FastifyRequest,
      opened: OpenTool,
      typed: TypedUpstreamTool,
      read: ReadUpstreamTool,
    ): Promise<ShapingPreview | undefined> | undefined => {
      if (read.responseErrors.length > 0) return undefined
      const { response } = read
      const outputSchema = findSchema(opened, read)
      const answer = { serverId: opened.server.id, text: typed.sample, response, outputSchema }
      return execution.previewUpstreamAnswer(actorOf(request), answer)
    }

    const show = async (
      { request, reply }: { request: FastifyRequest; reply: FastifyReply },
      opened: OpenTool,
      typed: TypedUpstreamTool,
      { refused, done }: { refused?: AppError; done?: string | undefined } = {},
    ): Promise<FastifyReply> => {
      const read = readUpstreamTool(typed, opened.declared)
      const state = { opened, typed, read, preview: await preview(request, opened, typed, read), refused }
      return reply.page(
        'dashboard/upstream-tool',
        { ...toUpstreamToolPage(state), done },
        { status: refused?.status ?? 200 },
      )
    }

    const path = '/servers/:uuid/sources/upstreams/:upstreamId/tool'
    app.get(path, options, async (request, reply) => {
      const opened = await open(request)
      const done = tab.doneNote(request, opened.server, DONE)
      return show({ request, reply }, opened, typedUpstreamTool(opened.upstream, opened.tool), { done })
    })

    app.post(path, options, async (request, reply) => {
      const opened = await open(request)
      const { upstream, tool } = opened
      const typed = parseForm(UpstreamToolForm, request.body)
      const { errors, responseTokens, answers } = readUpstreamTool(typed, opened.declared)
      try {
        if (errors.length > 0) throw new AppError('invalid_request', 'Not saved yet.', { errors })
        const unchanged = { ifUnchangedSince: parseVersion(typed.version) }
        await upstreams.updateToolAnswers(actorOf(request), upstream.id, { tool, responseTokens, answers }, unchanged)
        return reply.redirect(`${upstreamToolPath(upstream, tool)}&done=saved`, 303)
      } catch (error) {
        if (!(error instanceof AppError) || !['invalid_request', 'conflict'].includes(error.code)) throw error
        // Sent again, the form says that its sender was told of the other version.
        const version = error.code === 'conflict' ? upstream.updatedAt.toISOString() : typed.version
        return show({ request, reply }, opened, { ...typed, version }, { refused: error })
      }
    })

    /** How it would be, without saving it. */
    app.post(`${path}/preview`, options, async (request, reply) => {
      const opened = await open(request)
      const typed = parseForm(UpstreamToolForm, request.body)
      if (!isFragmentRequest(request)) return show({ request, reply }, opened, typed)
      const read = readUpstreamTool(typed, opened.declared)
      const state = { opened, typed, read, preview: await preview(request, opened, typed, read), refused: undefined }
      return reply.fragment('dashboard/upstream-tool-live', toUpstreamToolLive(state))
    })
  }
