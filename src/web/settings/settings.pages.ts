import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import { actorOf } from '../../lib/http/access.ts'
import { type FormPage, formPage, formText, postForm, showForm } from '../../lib/http/pages/forms.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { parseVersion } from '../../lib/http/versions.ts'
import { type Actor, assertMay } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { isLoopback } from '../../lib/kernel/loopback.ts'
import { mayRole } from '../../lib/kernel/roles.ts'
import type { ExecutionService } from '../../runtime/execution.service.ts'
import { createPublicReach } from '../../servers/access/public-reach.ts'
import type { Server } from '../../servers/server.ts'
import type { ServerChanges } from '../../servers/servers.schema.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import type { FindCutResultListing } from '../../servers/settings/cut-result-listing.ts'
import { type FindShownAs, findShownAsOf } from '../../servers/settings/shown-as.ts'
import type { ServerTransfer } from '../../servers/settings/transfer.service.ts'
import type { UpstreamReviews } from '../../upstreams/review/upstream-reviews.ts'
import { listTiers } from '../access/access.view.ts'
import { PUBLIC_STEP_VIEW, toPublicStep } from '../access/public-step.ts'
import { removalPage } from '../frame/removal-page.ts'
import { listRemovedWithServer } from '../frame/removed-with-server.ts'
import { type ServerFrame, type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import { createServerTab, donePath, serverRoute } from '../frame/server-tab.ts'
import { doneText } from '../frame/user-page.ts'
import { toLimitsForm } from './limits-form.ts'
import { describeMasking } from './masking-form.ts'
import { assertToolNames, toPresentationForm } from './presentation-form.ts'
import {
  compareSettings,
  fillSettings,
  readSettings,
  SETTINGS_LABELS,
  SettingsForm,
  type TypedSettings,
  typedOf,
} from './settings-form.ts'

const PATH = '/servers/:uuid/settings'
const TransferForm = { organizationId: formText, ownerEmail: formText }
const TransferInput = z.object({
  organizationId: z.uuid('must be an option from the list'),
  ownerEmail: z.string().max(254, 'is longer than 254 characters'),
})
type TypedTransfer = { organizationId: string; ownerEmail: string }

/**
 * Refuses to make a server public together with settings that change what clients can reach, because the confirmation
 * names what they can reach now.
 */
const assertReachStays = (saved: Server, { presentation, reviewUpstreamChanges }: ServerChanges): void => {
  const passesOn = (value: string | undefined): boolean => value === 'passthrough'
  const changesPassing = passesOn(presentation) !== passesOn(saved.presentation)
  if (!changesPassing && !(saved.reviewUpstreamChanges && reviewUpstreamChanges === false)) return
  const message = 'can only become public once the presentation and the review of MCP servers are saved'
  throw new AppError(
    'invalid_request',
    'Save the presentation and the review of MCP servers first, then make the server public.',
    {
      errors: [{ path: 'access', message }],
    },
  )
}

/** Labels by field name. Field names are unique across the page's forms. */
const LABELS = { ...SETTINGS_LABELS, organizationId: 'organization', ownerEmail: 'new owner' }

const DONE = {
  saved: 'Saved. Changes apply from the next call. Clients are notified if their list of tools has changed.',
  moved: 'The server now belongs to this organization. Its address has not changed.',
}

export type SettingsPagesParts = {
  frames: ServerFrameParts
  servers: ServerService
  serverTransfer: ServerTransfer
  execution: Pick<ExecutionService, 'listNames'>
  findShownAs: FindShownAs
  findCutResultListing: FindCutResultListing
  accounts: Pick<AccountService, 'getMe'>
  upstreamReviews: Pick<UpstreamReviews, 'listLiveSources'>
  baseUrl: string
}

const isOwnOrManaged = ({ mayBuild, isOwner, mayManage }: ServerFrame): boolean => mayBuild && (isOwner || mayManage)

/**
 * Registers the Settings tab, where users edit a server's name, access, results and presentation, and transfer or
 * delete the server.
 */
export const settingsPages: FastifyPluginAsync<SettingsPagesParts> = async (
  app,
  { frames, servers, serverTransfer, accounts, execution, findShownAs, findCutResultListing, upstreamReviews, baseUrl },
) => {
  const tab = createServerTab(frames, 'settings')
  const isLocal = isLoopback(new URL(baseUrl))
  const readPublicReach = createPublicReach({ db: frames.db, listLiveSources: upstreamReviews.listLiveSources })

  const listPlaces = async (actor: Actor, server: ServerFrame) => {
    const { organizations } = await accounts.getMe(actor)
    return organizations
      .filter(({ id, role }) => id !== server.organizationId && mayRole(role, 'build'))
      .map(({ id, name }) => ({ value: id, text: name }))
  }

  /** Builds the page. `mine` contains the settings as typed, if they are not saved. */
  const settingsPage = async (
    request: FastifyRequest,
    frame: ServerFrame,
    { mine, transfer }: { mine?: TypedSettings | undefined; transfer?: TypedTransfer | undefined } = {},
  ): Promise<FormPage> => {
    const actor = actorOf(request)
    const saved = await servers.getServer(actor, frame.id)
    const now = typedOf(saved)
    const typed = mine ?? now
    const versions = compareSettings(typed, now)
    const path = serverTabPath(frame.id, 'settings')
    const done = doneText(request, DONE)
    return {
      view: 'settings/settings',
      data: {
        title: `Settings of ${frame.name}`,
        server: frame,
        path,
        typed,
        draftOwner: actor.userId,
        isUnsaved: mine !== undefined,
        draftsDone: done === undefined ? undefined : path,
        // The user has now seen this version, so the next submission may overwrite it.
        version: now.version,
        versions: typed.version !== now.version && versions.rows.length > 0 ? versions : undefined,
        access: {
          tiers: listTiers(frame, typed.access),
          isAnyOrigin: typed.allowAnyOrigin === 'on',
          isLocal,
          mayChange: isOwnOrManaged(frame),
        },
        isReviewed: typed.reviewUpstreamChanges === 'on',
        storesBodies: typed.storesBodies === 'on',
        isTabled: typed.compactTables === 'on',
        masking: { text: describeMasking(saved.masking), href: `${path}/masking` },
        limits: toLimitsForm(typed, saved, await findCutResultListing(frame.id)),
        presentation: toPresentationForm(typed, saved, await findShownAsOf(saved, findShownAs)),
        moving: transfer ?? {},
        places: frame.mayManage ? await listPlaces(actor, frame) : [],
        mayRemove: isOwnOrManaged(frame),
        made: shownTime(saved.createdAt),
        changed: shownTime(saved.updatedAt),
        done,
      },
      labels: LABELS,
    }
  }

  const doneAt = ({ id }: ServerFrame, done: string): string => donePath(serverTabPath(id, 'settings'), done)

  /** Returns the form as typed, with the saved values of the fields that it does not have. */
  const fillFor = async (request: FastifyRequest, { id }: ServerFrame, sent: Parameters<typeof fillSettings>[0]) =>
    fillSettings(sent, typedOf(await servers.getServer(actorOf(request), id)))

  const assertPinnedTools = async (actor: Actor, saved: Server, { pinnedTools = [] }: ServerChanges) => {
    if (pinnedTools.every(name => saved.pinnedTools.includes(name))) return
    const { tools } = await execution.listNames(actor, saved.id, [])
    assertToolNames(pinnedTools, tools, saved)
  }

  /** Returns the page that asks before the server becomes public. Returns undefined if the user has confirmed it. */
  const findPublicStep = async (
    request: FastifyRequest,
    server: ServerFrame,
    { typed, sure }: { typed: TypedSettings; sure: string },
  ) => {
    const actor = actorOf(request)
    if (!server.isOwner) assertMay(actor, server.organizationId, 'manage')
    const fields = { ...typed, switches: 'allowAnyOrigin compactTables storesBodies reviewUpstreamChanges' }
    const pending = { server, action: serverTabPath(server.id, 'settings'), fields, sure }
    return toPublicStep(pending, await readPublicReach(actor, server.id))
  }

  formPage(app, PATH, {
    ...serverRoute,
    fields: SettingsForm,
    load: tab.frameOf,
    page: async (request, server, sent) =>
      settingsPage(request, server, { mine: sent && (await fillFor(request, server, sent)) }),
    save: async (request, server, sent, reply) => {
      const actor = actorOf(request)
      const saved = await servers.getServer(actor, server.id)
      const typed = fillSettings(sent, typedOf(saved))
      if (sent.step === 'back') return showForm(reply, await settingsPage(request, server, { mine: typed }))
      const change = readSettings(typed, saved)
      await assertPinnedTools(actor, saved, change)
      if (change.access === 'public') {
        assertReachStays(saved, change)
        const step = await findPublicStep(request, server, { typed, sure: sent.sure })
        if (step !== undefined) return reply.page(PUBLIC_STEP_VIEW, step)
      }
      await servers.updateServer(actor, server.id, change, { ifUnchangedSince: parseVersion(sent.version) })
      return doneAt(server, 'saved')
    },
  })

  postForm(app, `${PATH}/transfer`, {
    ...serverRoute,
    fields: TransferForm,
    load: async request => {
      const server = await tab.frameOf(request)
      assertMay(actorOf(request), server.organizationId, 'manage')
      return server
    },
    page: (request, server, transfer) => settingsPage(request, server, { transfer }),
    save: async (request, server, typed) => {
      const { organizationId, ownerEmail } = parseInput(TransferInput, typed)
      const target = { organizationId, ownerEmail: ownerEmail.trim() === '' ? undefined : ownerEmail }
      await serverTransfer.transferServer(actorOf(request), server.id, target)
      return doneAt(server, 'moved')
    },
  })

  removalPage(app, `${PATH}/removal`, {
    ...serverRoute,
    button: 'Delete server',
    load: tab.frameOf,
    nameOf: ({ name }) => name,
    page: async (request, server) => {
      const { openStreams } = frames
      const items = await listRemovedWithServer({ servers, openStreams }, actorOf(request), server)
      return {
        server,
        text:
          items.length === 0
            ? 'Its address stops working immediately. There is nothing else to delete.'
            : 'Its address stops working immediately. These are deleted with it and cannot be restored:',
        items,
        footnote: 'Toolkits are not deleted. Clients will report that the server does not exist.',
        back: serverTabPath(server.id, 'settings'),
      }
    },
    remove: async (request, { id }) => {
      await servers.removeServer(actorOf(request), id)
      return donePath('/servers', 'removed')
    },
  })
}
