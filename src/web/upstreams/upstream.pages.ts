import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { formatCount } from '../../lib/http/pages/format.ts'
import { type FormPage, formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { assertTypedName } from '../../lib/http/pages/typed-name.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { UpstreamCatalogues } from '../../upstreams/catalogue/catalogues.ts'
import type { UpstreamAccounts } from '../../upstreams/oauth-client/upstream-accounts.ts'
import type { UpstreamReviews } from '../../upstreams/review/upstream-reviews.ts'
import type { Upstream, UpstreamState } from '../../upstreams/upstream.ts'
import type { UpstreamService, UpstreamWithGlobals } from '../../upstreams/upstreams.service.ts'
import { readAccountPart, toSecretNote } from './account-part.view.ts'
import { toAuthChoices } from './auth-form.ts'
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
import { createUpstreamSections, SectionsQuery, type UpstreamSectionsParts } from './upstream-sections.ts'

const config = { access: 'user' } as const
const ServerParams = z.object({ uuid: uuidParam })
const Params = z.object({ uuid: uuidParam, upstreamId: uuidParam })
const serverSchema = { params: ServerParams }
const schema = { params: Params }
const RemovalForm = { sure: formText }

const DONE = {
  attached: () => 'The MCP server is attached',
  saved: () => 'Saved',
  refreshed: () => 'The lists are up to date',
  unasked: () => 'The lists could not be fetched, for the reason above. The previous lists are still used',
  on: () => 'The MCP server is enabled',
  off: () => 'The MCP server is disabled. Clients do not see it',
  connected: () => 'The account is connected',
  disconnected: () => 'The account is disconnected and deleted from Patchbay',
  unchanged: () => 'Already approved',
  approved: (count: number) => `${formatCount(count, 'tool')} approved`,
}

const DoneQuery = z.object({ done: formText })
const SwitchForm = { enabled: formText }
const ApprovalForm = { tool: formText, version: formText }

/** What these pages show about the server. */
type Frame = { id: string; name: string; mayBuild: boolean; liveText: string }

/** The tab of the server's page that contains these pages, supplied by the server pages. */
export type SourcesTab = {
  frameOf: (request: FastifyRequest) => Promise<Frame>
  /** Throws if the user may not edit the server. */
  frameForChange: (request: FastifyRequest) => Promise<Frame>
  pathOf: (serverId: string) => string
  addGlobalPath: (serverId: string, key: string) => string
  doneNote: (request: FastifyRequest, frame: Frame, texts: typeof DONE) => string | undefined
  redirectDone: (
    reply: FastifyReply,
    path: string,
    done: keyof typeof DONE | 'detached',
    count?: number,
  ) => FastifyReply
}

type Parts = UpstreamSectionsParts & {
  upstreamAccounts: Pick<UpstreamAccounts, 'findOwn' | 'countConnectedCallers'>
  upstreams: UpstreamService
  upstreamCatalogues: Pick<UpstreamCatalogues, 'refresh'>
  upstreamReviews: UpstreamReviews
  tab: SourcesTab
  stateOf: (upstream: Upstream) => UpstreamState
  /** Whether commands on this machine may be attached. */
  allowStdio: boolean
}

/** Parses a form's version. Undefined, if empty, skips the conflict check; an invalid one conflicts with everything. */
const versionOf = (typed: string): Date | undefined => {
  if (typed === '') return undefined
  const time = new Date(typed)
  return Number.isNaN(time.getTime()) ? new Date(0) : time
}

/** Pages for attaching, changing and removing MCP servers among a server's sources. */
export const upstreamPages =
  ({ upstreams, tab, stateOf, allowStdio, ...parts }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    const readSections = createUpstreamSections(parts)
    const readAccount = (request: FastifyRequest, found: UpstreamWithGlobals) =>
      readAccountPart(parts.upstreamAccounts, actorOf(request), found)
    const mayRunCommands = (request: FastifyRequest): boolean => allowStdio && actorOf(request).isOperator

    /** Returns the data that every form of an upstream shows. */
    const toFormData = (request: FastifyRequest, typed: TypedUpstream) => ({
      typed,
      transports: toTransportChoices(mayRunCommands(request)),
      features: toFeatureChoices(typed),
      authChoices: toAuthChoices(typed),
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

    /** Finds the upstream in the address. Throws if it does not belong to the server there. */
    const upstreamOf = async (request: FastifyRequest): Promise<UpstreamWithGlobals> => {
      const { uuid, upstreamId } = Params.parse(request.params)
      const found = await upstreams.getUpstream(actorOf(request), upstreamId)
      if (found.upstream.serverId !== uuid) throw new AppError('not_found', 'There is no such upstream.')
      return found
    }

    const sectionsOf = (request: FastifyRequest, upstream: Upstream) =>
      readSections(
        actorOf(request),
        upstream,
        upstreamPath(upstream.serverId, upstream.id),
        SectionsQuery.parse(request.query),
      )

    /** Returns the page of an upstream. Without `typed`, it also has the sections besides the form. */
    const editPage = async (
      request: FastifyRequest,
      server: Frame,
      found: UpstreamWithGlobals,
      typed?: TypedUpstream,
    ): Promise<FormPage> => {
      const { upstream, missingGlobals, warnings } = found
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
          // Not `name` and `state`: the page's partials get this data too and use those names themselves.
          heading: upstream.name,
          connection: toStateView(stateOf(upstream)),
          isEnabled: upstream.isEnabled,
          account: await readAccount(request, found),
          secretNote: toSecretNote(found),
          sections: typed === undefined ? await sectionsOf(request, upstream) : undefined,
          warnings,
          missing: missingGlobals.map(key => ({ key, href: tab.addGlobalPath(server.id, key) })),
          facts: toFacts(upstream),
          // A user who may not run commands cannot change the command or switch it on.
          fixedFacts: isCommandOfOthers ? toPlaceFacts(upstream) : undefined,
          theirs: isOverwritten,
          // Submitted again, the form overwrites the version that it shows now.
          version: now.version,
          ...toFormData(request, typed ?? now),
          done: tab.doneNote(request, server, DONE),
          doneTone: DoneQuery.parse(request.query).done === 'unasked' ? 'warn' : undefined,
        },
        labels: LABELS,
      }
    }

    const path = '/servers/:uuid/sources/upstreams/:upstreamId'
    app.get(path, { config, schema }, async (request, reply) => {
      const server = await tab.frameOf(request)
      return showForm(reply, await editPage(request, server, await upstreamOf(request)))
    })

    /** Restores the fields that the form hides from users who may not run commands. */
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
      return submitForm(reply, await editPage(request, server, found, typed), async () => {
        const work = async () => {
          const change = toWholeChange(readUpstreamForm(typed))
          return upstreams.updateUpstream(actorOf(request), id, change, { ifUnchangedSince: versionOf(typed.version) })
        }
        await work().catch(rethrowBesideFields)
        return tab.redirectDone(reply, upstreamPath(server.id, id), 'saved')
      })
    })

    /** Adds the action of a button. If it fails with an error for the user, the page is shown again with it. */
    const addAction = (
      name: string,
      work: (request: FastifyRequest, upstream: Upstream) => Promise<[done: keyof typeof DONE, count?: number]>,
    ): void => {
      app.post(`${path}/${name}`, { config, schema }, async (request, reply) => {
        const server = await tab.frameForChange(request)
        const found = await upstreamOf(request)
        const { id } = found.upstream
        return submitForm(reply, await editPage(request, server, found), async () => {
          const [done, count] = await work(request, found.upstream)
          return tab.redirectDone(reply, upstreamPath(server.id, id), done, count)
        })
      })
    }

    addAction('refresh', async (request, { id }) => {
      const upstream = await upstreams.getUpstreamForUse(actorOf(request), id)
      try {
        await parts.upstreamCatalogues.refresh(upstream)
        return ['refreshed']
      } catch (error) {
        // If the connection failed, the page's heading says so and why; otherwise the error is shown.
        if (!(error instanceof AppError) || error.code === 'internal') throw error
        if (stateOf(upstream).kind !== 'failed') throw error
        return ['unasked']
      }
    })
    addAction('switch', async (request, { id }) => {
      const enabled = parseForm(SwitchForm, request.body).enabled === 'on'
      await upstreams.updateUpstream(actorOf(request), id, { enabled })
      return [enabled ? 'on' : 'off']
    })
    addAction('approve', async (request, { id }) => {
      const { tool, version } = parseForm(ApprovalForm, request.body)
      const [nameHash = '', hash = ''] = tool.split('.')
      const wish = tool === '' ? { version } : { tools: [{ nameHash, hash }] }
      const count = await parts.upstreamReviews.approve(actorOf(request), id, wish)
      return count === 0 ? ['unchanged'] : ['approved', count]
    })

    const removalPage = (server: Frame, { id, name }: Upstream, typed: string): FormPage => ({
      view: 'settings/removal',
      data: {
        title: `Remove ${name}`,
        server,
        question: `Remove ${name} from this server?`,
        consequence: 'Clients lose its tools, resources and prompts immediately. The MCP server itself is not changed.',
        blocks: [],
        action: `${upstreamPath(server.id, id)}/remove`,
        back: upstreamPath(server.id, id),
        name,
        button: 'Remove MCP server',
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
