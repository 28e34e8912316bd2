import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { signalOf } from '../../lib/http/gone.ts'
import { formText, parseForm } from '../../lib/http/pages/forms.ts'
import { isFragmentRequest } from '../../lib/http/pages/views.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { parseVersion } from '../../lib/http/versions.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { ShapingPreview } from '../../results/shape/shape-by-rules.ts'
import type { ExecutionService } from '../../runtime/execution.service.ts'
import { findToolAnswers, hasToolAnswers } from '../../upstreams/catalogue/tool-answers.ts'
import type { UpstreamOffers } from '../../upstreams/catalogue/upstream-offers.ts'
import type { UpstreamService } from '../../upstreams/upstreams.service.ts'
import { type ServerFrameParts, upstreamToolPath } from '../frame/server-frame.ts'
import { createServerTab, doneNote } from '../frame/server-tab.ts'
import { userRoute } from '../frame/user-page.ts'
import { type OpenTool, toUpstreamToolLive, toUpstreamToolPage, type UpstreamToolState } from './upstream-tool.view.ts'
import {
  type ReadUpstreamTool,
  readToolArguments,
  readUpstreamTool,
  type TypedUpstreamTool,
  typedUpstreamTool,
  UpstreamToolForm,
} from './upstream-tool-form.ts'

/** Maximum length of a sample. It is several times what a model receives. */
const MAX_SAMPLE_CHARS = 400_000
/**
 * Maximum size of the submitted form. Form encoding needs up to nine bytes per character. The other fields are short.
 */
const BODY_LIMIT = 9 * MAX_SAMPLE_CHARS + 512 * 1_024
const TOO_LONG = 'The result is too large for this page. Request less, or paste a part of it.'

const Params = z.object({ uuid: uuidParam, upstreamId: uuidParam })
const Query = z.object({ name: formText })
const options = { ...userRoute, schema: { params: Params }, bodyLimit: BODY_LIMIT }

const DONE = { saved: () => 'Saved' }

type Parts = {
  frames: ServerFrameParts
  upstreams: Pick<UpstreamService, 'getUpstream' | 'updateToolAnswers'>
  upstreamOffers: Pick<UpstreamOffers, 'find'>
  execution: Pick<ExecutionService, 'callUpstreamTool' | 'previewUpstreamResult'>
}

/** Returns the output schema that clients see and that results are validated against. */
const findSchema = ({ declared }: OpenTool, { responseTokens = 0 }: ReadUpstreamTool): JsonObject | undefined =>
  responseTokens === 0 && isJsonObject(declared?.outputSchema) ? declared.outputSchema : undefined

/** Registers the page for an upstream tool's result settings: token limit, shaping and caching. */
export const upstreamToolPages: FastifyPluginAsync<Parts> = async (
  app,
  { frames, upstreams, upstreamOffers, execution },
) => {
  const tab = createServerTab(frames, 'sources')

  const open = async (request: FastifyRequest): Promise<OpenTool> => {
    const server = await tab.frameForChange(request)
    const { upstreamId } = Params.parse(request.params)
    const { name } = Query.parse(request.query)
    const { upstream } = await upstreams.getUpstream(actorOf(request), upstreamId)
    const stored = upstream.serverId === server.id ? await upstreamOffers.find(upstream) : undefined
    const item = stored?.catalogue.tools.find(one => one.name.toWellFormed() === name)
    const { responseTokens, ...answers } = findToolAnswers(upstream, name)
    // The page opens for a tool that the upstream has removed, so that its settings can be cleared. Before the first
    // fetch, it opens for any name.
    const isKnown =
      item !== undefined || stored === undefined || responseTokens !== undefined || hasToolAnswers(answers)
    if (upstream.serverId !== server.id || name === '' || !isKnown) {
      throw new AppError('not_found', 'This MCP server has no such tool.')
    }
    return { server, upstream, tool: item?.name ?? name, item, declared: item?.declared }
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
    return execution.previewUpstreamResult(actorOf(request), answer)
  }

  const show = async (
    reply: FastifyReply,
    opened: OpenTool,
    typed: TypedUpstreamTool,
    more: { refused?: AppError; done?: string | undefined; called?: UpstreamToolState['called'] } = {},
  ): Promise<FastifyReply> => {
    const { refused, done, called } = more
    const { request } = reply
    const read = readUpstreamTool(typed, opened.declared)
    const state = { opened, typed, read, preview: await preview(request, opened, typed, read), refused, called }
    return reply.page(
      'upstream-tool/upstream-tool',
      { ...toUpstreamToolPage(state, actorOf(request).userId), done },
      { status: refused?.status ?? (called?.argsError === undefined ? 200 : 400) },
    )
  }

  const path = '/servers/:uuid/sources/upstreams/:upstreamId/tool'
  app.get(path, options, async (request, reply) => {
    const opened = await open(request)
    const done = doneNote(request, opened.server, DONE)
    return show(reply, opened, typedUpstreamTool(opened.upstream, opened.tool), { done })
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
      // Show the form with the new version, so that saving it again overwrites the other change.
      const version = error.code === 'conflict' ? upstream.updatedAt.toISOString() : typed.version
      return show(reply, opened, { ...typed, version }, { refused: error })
    }
  })

  /** Calls the tool and returns its unshaped result for the sample. */
  const callTool = async (
    request: FastifyRequest,
    { upstream, item }: OpenTool,
    typed: TypedUpstreamTool,
    signal: AbortSignal,
  ): Promise<{ sample: string } | NonNullable<UpstreamToolState['called']>> => {
    const args = readToolArguments(typed)
    if (!args.ok) return { argsError: args.error }
    // The tool has disappeared since the page was opened. The page, when shown again, explains what to do.
    if (item === undefined) return {}
    const asked = { upstream, item, args: args.value, signal }
    const answer = await execution.callUpstreamTool(actorOf(request), asked)
    if ('failed' in answer) return { failed: answer.failed }
    return answer.text.length > MAX_SAMPLE_CHARS ? { failed: TOO_LONG } : { sample: answer.text }
  }

  app.post(`${path}/call`, options, async (request, reply) => {
    const opened = await open(request)
    const typed = parseForm(UpstreamToolForm, request.body)
    const called = await callTool(request, opened, typed, signalOf(reply))
    if ('sample' in called) return show(reply, opened, { ...typed, sample: called.sample })
    return show(reply, opened, typed, { called })
  })

  /** Previews the settings without saving them. */
  app.post(`${path}/preview`, options, async (request, reply) => {
    const opened = await open(request)
    const typed = parseForm(UpstreamToolForm, request.body)
    if (!isFragmentRequest(request)) return show(reply, opened, typed)
    const read = readUpstreamTool(typed, opened.declared)
    const state = { opened, typed, read, preview: await preview(request, opened, typed, read), refused: undefined }
    return reply.fragment('upstream-tool/upstream-tool-live', toUpstreamToolLive(state))
  })
}
