import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { AppError } from '../kernel/index.ts'
import {
  actorOf,
  assertTypedName,
  type FormPage,
  formText,
  parseForm,
  showForm,
  submitForm,
  uuidParam,
} from '../platform/http/index.ts'
import type { Upstream, UpstreamState } from './upstream.ts'
import {
  isSameForm,
  LABELS,
  NEW_UPSTREAM,
  readUpstreamForm,
  rethrowBesideFields,
  type TypedUpstream,
  toWholeChange,
  typedOf,
  typedPlaceOf,
  UpstreamForm,
} from './upstream-form.ts'
import {
  TIMEOUT_HINT,
  toFacts,
  toFeatureChoices,
  toPlaceFacts,
  toStateView,
  toTransportChoices,
} from './upstream-page.view.ts'
import { upstreamPath } from './upstream-path.ts'
import type { UpstreamService, UpstreamWithGlobals } from './upstreams.service.ts'

const config = { access: 'user' } as const
const ServerParams = z.object({ uuid: uuidParam })
const Params = z.object({ uuid: uuidParam, upstreamId: uuidParam })
const serverSchema = { params: ServerParams }
const schema = { params: Params }
const RemovalForm = { sure: formText }

const DONE = {
  attached: () => 'The MCP server is attached',
  saved: () => 'Saved',
}

/** What these pages show of the server around them. */
type Frame = { id: string; name: string; mayBuild: boolean; liveText: string }

/** The tab of a server's page in which these stand; servers supply it. */
export type SourcesTab = {
  frameOf: (request: FastifyRequest) => Promise<Frame>
  /** Throws where the one who asks may not build. */
  frameForChange: (request: FastifyRequest) => Promise<Frame>
  pathOf: (serverId: string) => string
  addGlobalPath: (serverId: string, key: string) => string
  doneNote: (request: FastifyRequest, frame: Frame, texts: typeof DONE) => string | undefined
  redirectDone: (reply: FastifyReply, path: string, done: keyof typeof DONE | 'detached') => FastifyReply
}

type Parts = {
  upstreams: UpstreamService
  tab: SourcesTab
  stateOf: (upstream: Upstream) => UpstreamState
  /** Whether commands of this machine may be attached at all. */
  allowStdio: boolean
}

/** When it was as the sender of the form saw it: not asked where that is not said, older than anything where it is no time. */
const versionOf = (typed: string): Date | undefined => {
  if (typed === '') return undefined
  const time = new Date(typed)
  return Number.isNaN(time.getTime()) ? new Date(0) : time
}

/** MCP servers that a server holds: attached, changed and removed among its sources. */
export const upstreamPages =
  ({ upstreams, tab, stateOf, allowStdio }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    const mayRunCommands = (request: FastifyRequest): boolean => allowStdio && actorOf(request).isOperator

    /** What every form of an upstream shows. */
    const toFormData = (request: FastifyRequest, typed: TypedUpstream) => ({
      typed,
      transports: toTransportChoices(mayRunCommands(request)),
      features: toFeatureChoices(typed),
      timeoutHint: TIMEOUT_HINT,
    })

    const newPath = '/servers/:uuid/sources/upstreams/new'
    const newPage = (request: FastifyRequest, server: Frame, typed: TypedUpstream): FormPage => ({
      view: 'upstreams/new',
      data: {
        title: `Attach an MCP server to ${server.name}`,
        server,
        path: `${tab.pathOf(server.id)}/upstreams/new`,
        listHref: tab.pathOf(server.id),
        ...toFormData(request, typed),
      },
      labels: LABELS,
    })

    app.get(newPath, { config, schema: serverSchema }, async (request, reply) =>
      showForm(reply, newPage(request, await tab.frameForChange(request), NEW_UPSTREAM)),
    )

    app.post(newPath, { config, schema: serverSchema }, async (request, reply) => {
      const server = await tab.frameForChange(request)
      const typed = { ...parseForm(UpstreamForm, request.body), enabled: 'on' }
      return submitForm(reply, newPage(request, server, typed), async () => {
        const work = async () => upstreams.createUpstream(actorOf(request), server.id, readUpstreamForm(typed))
        const { upstream } = await work().catch(rethrowBesideFields)
        return tab.redirectDone(reply, upstreamPath(server.id, upstream.id), 'attached')
      })
    })

    /** That of the server in the address. */
    const upstreamOf = async (request: FastifyRequest): Promise<UpstreamWithGlobals> => {
      const { uuid, upstreamId } = Params.parse(request.params)
      const found = await upstreams.getUpstream(actorOf(request), upstreamId)
      if (found.upstream.serverId !== uuid) throw new AppError('not_found', 'There is no such upstream.')
      return found
    }

    /** `typed` is undefined where nobody has typed yet. */
    const editPage = (
      request: FastifyRequest,
      server: Frame,
      { upstream, missingGlobals }: UpstreamWithGlobals,
      typed?: TypedUpstream,
    ): FormPage => {
      const now = typedOf(upstream)
      const isOverwritten = typed !== undefined && typed.version !== now.version && !isSameForm(typed, now)
      const isCommandOfOthers = upstream.config.transport === 'stdio' && !mayRunCommands(request)
      return {
        view: 'upstreams/edit',
        data: {
          title: `${upstream.name} in ${server.name}`,
          server,
          path: upstreamPath(server.id, upstream.id),
          listHref: tab.pathOf(server.id),
          // The parts of a page get its data too, and have names and states of their own.
          heading: upstream.name,
          connection: toStateView(stateOf(upstream)),
          missing: missingGlobals.map(key => ({ key, href: tab.addGlobalPath(server.id, key) })),
          facts: toFacts(upstream),
          // Who may not run commands neither changes nor switches on what this machine runs.
          fixedFacts: isCommandOfOthers ? toPlaceFacts(upstream) : undefined,
          theirs: isOverwritten,
          // Sent again, the form says that its sender has seen what is there now.
          version: now.version,
          ...toFormData(request, typed ?? now),
          done: tab.doneNote(request, server, DONE),
        },
        labels: LABELS,
      }
    }

    const path = '/servers/:uuid/sources/upstreams/:upstreamId'
    app.get(path, { config, schema }, async (request, reply) => {
      const server = await tab.frameOf(request)
      return showForm(reply, editPage(request, server, await upstreamOf(request)))
    })

    /** What the form does not show is as it was: the command of somebody who may run one. */
    const withUnshown = (
      request: FastifyRequest,
      { config: before }: Upstream,
      typed: TypedUpstream,
    ): TypedUpstream => {
      return before.transport === 'stdio' && !mayRunCommands(request) ? { ...typed, ...typedPlaceOf(before) } : typed
    }

    app.post(path, { config, schema }, async (request, reply) => {
      const server = await tab.frameForChange(request)
      const found = await upstreamOf(request)
      const typed = withUnshown(request, found.upstream, parseForm(UpstreamForm, request.body))
      const { id } = found.upstream
      return submitForm(reply, editPage(request, server, found, typed), async () => {
        const work = async () => {
          const change = toWholeChange(readUpstreamForm(typed))
          return upstreams.updateUpstream(actorOf(request), id, change, { ifUnchangedSince: versionOf(typed.version) })
        }
        await work().catch(rethrowBesideFields)
        return tab.redirectDone(reply, upstreamPath(server.id, id), 'saved')
      })
    })

    const removalPage = (server: Frame, { id, name }: Upstream, typed: string): FormPage => ({
      view: 'servers/removal',
      data: {
        title: `Remove ${name}`,
        server,
        question: `Remove ${name} from this server?`,
        consequence:
          'Its tools, resources and prompts are gone for clients at once. The MCP server itself stays as it is.',
        blocks: [],
        action: `${upstreamPath(server.id, id)}/remove`,
        back: upstreamPath(server.id, id),
        name,
        button: 'Remove the MCP server',
        typed,
      },
      labels: { sure: 'name' },
    })

    app.get(`${path}/remove`, { config, schema }, async (request, reply) => {
      const server = await tab.frameForChange(request)
      return showForm(reply, removalPage(server, (await upstreamOf(request)).upstream, ''))
    })

    app.post(`${path}/remove`, { config, schema }, async (request, reply) => {
      const server = await tab.frameForChange(request)
      const { upstream } = await upstreamOf(request)
      const { sure } = parseForm(RemovalForm, request.body)
      return submitForm(reply, removalPage(server, upstream, sure), async () => {
        assertTypedName(sure, upstream.name)
        await upstreams.removeUpstream(actorOf(request), upstream.id)
        return tab.redirectDone(reply, tab.pathOf(server.id), 'detached')
      })
    })
  }
