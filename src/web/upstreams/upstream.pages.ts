import { isDeepStrictEqual } from 'node:util'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { type FormPage, formFlag, formPage, formText, postForm } from '../../lib/http/pages/forms.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { parseVersion } from '../../lib/http/versions.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { formatCount } from '../../lib/kernel/format.ts'
import type { UpstreamCatalogues } from '../../upstreams/catalogue/catalogues.ts'
import type { UpstreamAccounts } from '../../upstreams/oauth-client/upstream-accounts.ts'
import type { UpstreamReviews } from '../../upstreams/review/upstream-reviews.ts'
import { connectSettingsOf, type Upstream, type UpstreamState } from '../../upstreams/upstream.ts'
import type { UpstreamWithGlobals } from '../../upstreams/upstream-reading.ts'
import { noUpstream } from '../../upstreams/upstream-refusals.ts'
import type { UpstreamService } from '../../upstreams/upstreams.service.ts'
import { removalPage } from '../frame/removal-page.ts'
import { type ServerFrame, type ServerFrameParts, serverTabPath, upstreamPath } from '../frame/server-frame.ts'
import { createServerTab, doneNote, donePath, newGlobalPath, serverRoute } from '../frame/server-tab.ts'
import { doneText } from '../frame/user-page.ts'
import {
  LABELS,
  readUpstreamForm,
  rethrowBesideFields,
  type TypedUpstream,
  toWholeChange,
  typedOf,
  typedPlaceOf,
  UpstreamForm,
} from './upstream-form.ts'
import { readAccountPart, toFacts, toFormData, toPlaceFacts, toSecretNote, toStateView } from './upstream-page.view.ts'
import { createUpstreamSections, SectionsQuery, type UpstreamSectionsParts } from './upstream-sections.ts'
import { compareUpstreams } from './upstream-versions.ts'

const Params = z.object({ uuid: uuidParam, upstreamId: uuidParam })
const route = { ...serverRoute, schema: { params: Params } }
const PATH = '/servers/:uuid/sources/upstreams/:upstreamId'

const DONE = {
  attached: () => 'MCP server attached',
  saved: () => 'Saved',
  reconnected: () => 'Saved, and connected with the new settings',
  refreshed: () => 'The lists are up to date',
  unasked: () => 'Not all lists could be fetched, for the reason above. The previous ones are still used',
  on: () => 'MCP server enabled',
  off: () => 'MCP server disabled. Clients do not see it',
  connected: () => 'Account connected',
  disconnected: () => 'Account disconnected and deleted from Patchbay',
  unchanged: () => 'Already decided',
  approved: (count: number) => `${formatCount(count, 'tool')} approved`,
  rejected: (count: number) => `${formatCount(count, 'change')} rejected`,
}

type Parts = UpstreamSectionsParts & {
  upstreamAccounts: Pick<UpstreamAccounts, 'findOwn' | 'countConnectedCallers'>
  upstreams: UpstreamService
  upstreamCatalogues: Pick<UpstreamCatalogues, 'refresh' | 'refreshSoon'>
  upstreamReviews: UpstreamReviews
  frames: ServerFrameParts
  upstreamStateOf: (upstream: Upstream) => UpstreamState
  settings: { allowStdio: boolean }
}

/** Registers the pages for viewing, changing and removing the MCP servers among a server's sources. */
export const upstreamPages: FastifyPluginAsync<Parts> = async (
  app,
  { upstreams, frames, upstreamStateOf, settings, ...parts },
) => {
  const tab = createServerTab(frames, 'sources')
  const readSections = createUpstreamSections(parts)
  const readAccount = (request: FastifyRequest, found: UpstreamWithGlobals) =>
    readAccountPart(parts.upstreamAccounts, actorOf(request), found)
  const mayRunCommands = (request: FastifyRequest): boolean => settings.allowStdio && actorOf(request).isOperator

  /** Loads the server and upstream given in the URL. Throws `not_found` if the upstream belongs to another server. */
  const withUpstream =
    (frameOf: (request: FastifyRequest) => Promise<ServerFrame>) => async (request: FastifyRequest) => {
      const server = await frameOf(request)
      const found = await upstreams.getUpstream(actorOf(request), Params.parse(request.params).upstreamId)
      if (found.upstream.serverId !== server.id) throw noUpstream()
      return { server, found }
    }

  const sectionsOf = (request: FastifyRequest, upstream: Upstream) =>
    readSections(
      actorOf(request),
      upstream,
      upstreamPath(upstream.serverId, upstream.id),
      SectionsQuery.parse(request.query),
    )

  /** Returns an upstream's page. If `typed` is set, the page contains only the form and none of the other sections. */
  const editPage = async (
    request: FastifyRequest,
    { server, found }: { server: ServerFrame; found: UpstreamWithGlobals },
    typed?: TypedUpstream,
  ): Promise<FormPage> => {
    const { upstream, missingGlobals, warnings } = found
    const now = typedOf(upstream)
    const shown = typed ?? now
    const versions = compareUpstreams(shown, now)
    const isCommandOfOthers = upstream.config.transport === 'stdio' && !mayRunCommands(request)
    const sections = typed === undefined ? await sectionsOf(request, upstream) : undefined
    const summary = sections?.summary
    const attached = () => (summary === undefined ? DONE.attached() : `Connected: ${summary}`)
    return {
      view: 'upstreams/edit',
      data: {
        title: `${upstream.name} in ${server.name}`,
        server,
        path: upstreamPath(server.id, upstream.id),
        listHref: serverTabPath(server.id, 'sources'),
        // Do not use `name` and `state`: the page's partials also receive this data and use those names.
        heading: upstream.name,
        connection: toStateView(upstreamStateOf(upstream)),
        isEnabled: upstream.isEnabled,
        account: await readAccount(request, found),
        secretNote: toSecretNote(found),
        sections,
        summary,
        isUnsaved: typed !== undefined,
        warnings,
        missing: missingGlobals.map(key => ({ key, href: newGlobalPath(server.id, key) })),
        facts: toFacts(upstream),
        // A user who may not run commands can neither change the command nor enable the upstream.
        fixedFacts: isCommandOfOthers ? toPlaceFacts(upstream) : undefined,
        versions: shown.version !== now.version && versions.rows.length > 0 ? versions : undefined,
        // The user has now seen this version, so the next submission may overwrite it.
        version: now.version,
        ...toFormData(shown, mayRunCommands(request)),
        done: doneNote(request, server, { ...DONE, attached }),
        doneTone: doneText(request, { unasked: 'warn' }),
      },
      labels: LABELS,
    }
  }

  /** Restores the fields that the form hides from users who may not run commands. */
  const withUnshown = (request: FastifyRequest, { config: before }: Upstream, typed: TypedUpstream): TypedUpstream => {
    return before.transport === 'stdio' && !mayRunCommands(request) ? { ...typed, ...typedPlaceOf(before) } : typed
  }

  formPage(app, PATH, {
    ...route,
    fields: UpstreamForm,
    load: withUpstream(tab.frameOf),
    page: (request, loaded, typed) =>
      editPage(request, loaded, typed && withUnshown(request, loaded.found.upstream, typed)),
    save: async (request, { server, found: { upstream } }, typed) => {
      const ifUnchangedSince = parseVersion(typed.version)
      const work = async () => {
        const change = toWholeChange(readUpstreamForm(withUnshown(request, upstream, typed)))
        return upstreams.updateUpstream(actorOf(request), upstream.id, change, { ifUnchangedSince })
      }
      const { upstream: changed } = await work().catch(rethrowBesideFields)
      const isReconnected = await tryChange(server, upstream, changed)
      return donePath(upstreamPath(server.id, upstream.id), isReconnected ? 'reconnected' : 'saved')
    },
  })

  /** Fetches the lists with changed settings, so that the page shows whether they work. Returns whether it reconnected. */
  const tryChange = async (server: ServerFrame, before: Upstream, after: Upstream): Promise<boolean> => {
    const isSwitched = before.isEnabled !== after.isEnabled
    if (server.passesOn || (!isSwitched && isDeepStrictEqual(before.config, after.config))) return false
    await parts.upstreamCatalogues.refreshSoon(after)
    const isSame = isDeepStrictEqual(connectSettingsOf(before.config), connectSettingsOf(after.config))
    return (isSwitched || !isSame) && upstreamStateOf(after).kind === 'connected'
  }

  /** Registers the action of a button. If the action throws an error meant for the user, the page shows it. */
  const addAction = <Shape extends z.ZodRawShape>(
    name: string,
    fields: Shape,
    work: (
      request: FastifyRequest,
      upstream: Upstream,
      typed: z.output<z.ZodObject<Shape>>,
    ) => Promise<[done: keyof typeof DONE, count?: number]>,
  ): void =>
    postForm(app, `${PATH}/${name}`, {
      ...route,
      fields,
      load: withUpstream(tab.frameForChange),
      page: (request, loaded) => editPage(request, loaded),
      save: async (request, { server, found: { upstream } }, typed) =>
        donePath(upstreamPath(server.id, upstream.id), ...(await work(request, upstream, typed))),
    })

  addAction('refresh', {}, async (request, { id }) => {
    const upstream = await upstreams.getUpstreamForUse(actorOf(request), id)
    try {
      await parts.upstreamCatalogues.refresh(upstream)
      return ['refreshed']
    } catch (error) {
      // The page's heading already reports a failed connection and its reason. Show only other errors.
      if (!(error instanceof AppError) || error.code === 'internal') throw error
      if (upstreamStateOf(upstream).kind !== 'failed') throw error
      return ['unasked']
    }
  })
  addAction('switch', { enabled: formFlag }, async (request, before, { enabled }) => {
    const { upstream } = await upstreams.updateUpstream(actorOf(request), before.id, { enabled })
    await parts.upstreamCatalogues.refreshSoon(upstream)
    return [enabled ? 'on' : 'off']
  })
  for (const [name, done] of [
    ['approve', 'approved'],
    ['reject', 'rejected'],
  ] as const) {
    const fields = { tool: formText, version: formText, rejected: formFlag }
    addAction(name, fields, async (request, { id }, { tool, version, rejected }) => {
      const [nameHash = '', hash = ''] = tool.split('.')
      const decision = tool === '' ? { version } : { tools: [{ nameHash, hash }], isRejected: rejected }
      const count = await parts.upstreamReviews[name](actorOf(request), id, decision)
      return count === 0 ? ['unchanged'] : [done, count]
    })
  }

  removalPage(app, `${PATH}/remove`, {
    ...route,
    button: 'Remove MCP server',
    load: withUpstream(tab.frameForChange),
    nameOf: ({ found }) => found.upstream.name,
    page: (_request, { server, found }) => ({
      server,
      text: 'Clients lose its tools, resources and prompts immediately. The MCP server itself is not changed.',
      back: upstreamPath(server.id, found.upstream.id),
    }),
    remove: async (request, { server, found }) => {
      await upstreams.removeUpstream(actorOf(request), found.upstream.id)
      return donePath(serverTabPath(server.id, 'sources'), 'detached')
    },
  })
}
