import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import { type FormPage, formText, formValues, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { formatCount, formatNumber, shorten } from '../../lib/kernel/format.ts'
import { isJsonObject } from '../../lib/kernel/json.ts'
import type { CatalogueItem, StoredCatalogue } from '../../upstreams/catalogue/catalogue.ts'
import { removeHidden } from '../../upstreams/catalogue/hidden-text.ts'
import type { UpstreamOffers } from '../../upstreams/catalogue/upstream-offers.ts'
import { MAX_PATTERNS } from '../../upstreams/limits.ts'
import { connectPath } from '../../upstreams/oauth-client/account-messages.ts'
import type { Upstream } from '../../upstreams/upstream.ts'
import type { UpstreamService } from '../../upstreams/upstreams.service.ts'
import { serverTabPath, upstreamPath } from '../frame/server-frame.ts'
import { userRoute } from '../frame/user-page.ts'
import { type AttachedServerParts, attachServer, mayBeShown, readMcpUrl } from './attached-server.ts'
import type { Plugged } from './first-run.store.ts'
import type { FirstRun } from './first-run.ts'
import type { ShowStart } from './show-start.ts'

export type AttachedServerPagesParts = AttachedServerParts & {
  upstreams: Pick<UpstreamService, 'getUpstream'>
  upstreamOffers: Pick<UpstreamOffers, 'find'>
}

const PATH = '/first-run/upstream'
const UrlForm = { url: formText }
const ToolsForm = { tool: formValues }

/** Tools shown. The page of the MCP server has all of them. */
const MAX_SHOWN = 100
const MAX_SHOWN_CHARS = 200

const textIn = ({ declared }: CatalogueItem, member: string): string => {
  const text = declared[member]
  return typeof text === 'string' ? text : ''
}

const isDestructive = ({ declared: { annotations } }: CatalogueItem): boolean =>
  isJsonObject(annotations) && annotations.destructiveHint === true

/** Returns how much an MCP server offers, such as "4 tools, 1 resource, 1 prompt". */
const describeOffer = ({ catalogue: { tools, resources, prompts } }: StoredCatalogue): string =>
  [
    formatCount(tools.length, 'tool'),
    ...(resources.length === 0 ? [] : [formatCount(resources.length, 'resource')]),
    ...(prompts.length === 0 ? [] : [formatCount(prompts.length, 'prompt')]),
  ].join(', ')

const toRows = ({ catalogue }: StoredCatalogue, selected: ReadonlySet<string> | undefined) =>
  catalogue.tools.slice(0, MAX_SHOWN).map(item => ({
    name: removeHidden(item.name),
    about: shorten(textIn(item, 'description') || textIn(item, 'title'), MAX_SHOWN_CHARS),
    isDestructive: isDestructive(item),
    isSelected: selected === undefined ? !isDestructive(item) : selected.has(removeHidden(item.name)),
  }))

const refuseSelection = (message: string): AppError =>
  new AppError('invalid_request', message, { errors: [{ path: 'tool', message }] })

/** Returns the tools to exclude: those shown that were not selected. */
const excludedTools = (stored: StoredCatalogue, selected: ReadonlySet<string>): string[] => {
  const rows = toRows(stored, selected)
  const excluded = rows.filter(({ isSelected }) => !isSelected).map(({ name }) => name)
  if (rows.length > 0 && excluded.length === rows.length) throw refuseSelection('Select at least one tool.')
  return excluded.slice(0, MAX_PATTERNS)
}

/** Registers the pages that attach an MCP server by its URL, and choose which of its tools are offered. */
export const addAttachedServerPages = (
  app: FastifyInstance,
  parts: AttachedServerPagesParts,
  firstRun: FirstRun,
  showStart: ShowStart,
): void => {
  const { upstreams, upstreamOffers, upstreamCatalogues } = parts

  /** Fetches the lists of an MCP server whose account was connected in the meantime. */
  const findOffer = async (upstream: Upstream): Promise<StoredCatalogue | undefined> => {
    const known = await upstreamOffers.find(upstream)
    if (known !== undefined) return known
    return upstreamCatalogues.refresh(upstream).catch((error: unknown) => {
      if (error instanceof AppError && error.code !== 'internal') return undefined
      throw error
    })
  }

  /** Returns the state and the MCP server whose tools are to be chosen, unless there is none. */
  const load = async (request: FastifyRequest) => {
    const actor = actorOf(request)
    const state = await firstRun.getStep(actor)
    if (state.step !== 'plugged' || state.upstreamId === undefined) return undefined
    const { upstream } = await upstreams.getUpstream(actor, state.upstreamId)
    return { state, upstream, stored: await findOffer(upstream) }
  }

  const pageOf = (
    upstream: Upstream,
    stored: StoredCatalogue | undefined,
    selected?: ReadonlySet<string>,
  ): FormPage => ({
    view: 'start/attached',
    data: {
      title: stored === undefined ? `${upstream.name} needs an account` : `${upstream.name} is connected`,
      section: 'servers',
      heading: upstream.name,
      isConnected: stored !== undefined,
      offer: stored && describeOffer(stored),
      rows: stored === undefined ? [] : toRows(stored, selected),
      more: stored !== undefined && stored.catalogue.tools.length > MAX_SHOWN ? formatNumber(MAX_SHOWN) : undefined,
      accountPath: connectPath(upstream.id),
      upstreamPath: upstreamPath(upstream.serverId, upstream.id),
      serverPath: serverTabPath(upstream.serverId, 'overview'),
    },
  })

  const attach = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const actor = actorOf(request)
    const { url } = parseForm(UrlForm, request.body)
    let isShown = mayBeShown(url)
    try {
      const mcp = readMcpUrl(url)
      isShown = mcp.secrets.size === 0
      await firstRun.open(actor, organizationId => attachServer(parts, actor, organizationId, mcp))
      return reply.redirect(PATH, 303)
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'internal') throw error
      return showStart(reply, { urlError: error.message, url: isShown ? url : '' }, error.status)
    }
  }

  app.get(PATH, userRoute, async (request, reply) => {
    const loaded = await load(request)
    if (loaded === undefined) return reply.redirect('/first-run', 303)
    return showForm(reply, pageOf(loaded.upstream, loaded.stored))
  })

  const saveChoice = async (
    request: FastifyRequest,
    loaded: { state: Plugged; upstream: Upstream; stored: StoredCatalogue | undefined },
    selected: ReadonlySet<string>,
  ): Promise<string> => {
    const { state, upstream, stored } = loaded
    if (stored === undefined) throw refuseSelection('Connect the account first.')
    const deny = excludedTools(stored, selected)
    if (deny.length > 0) await parts.upstreams.updateUpstream(actorOf(request), upstream.id, { deny })
    await firstRun.recordChoice(state)
    return '/first-run'
  }

  app.post(PATH, userRoute, async (request, reply) => {
    const { step } = await firstRun.getStep(actorOf(request))
    if (step === 'start') return attach(request, reply)
    const loaded = await load(request)
    if (loaded === undefined) return reply.redirect('/first-run', 303)
    const selected = new Set(parseForm(ToolsForm, request.body).tool)
    return submitForm(
      reply,
      () => pageOf(loaded.upstream, loaded.stored, selected),
      () => saveChoice(request, loaded, selected),
    )
  })
}
