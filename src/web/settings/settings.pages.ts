import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import { actorOf } from '../../lib/http/access.ts'
import { type FormPage, formFlag, formPage, formText, postForm } from '../../lib/http/pages/forms.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { compareVersions, parseVersion } from '../../lib/http/versions.ts'
import { type Actor, assertMay } from '../../lib/kernel/actor.ts'
import { isLoopback } from '../../lib/kernel/loopback.ts'
import { mayRole } from '../../lib/kernel/roles.ts'
import type { ExecutionService } from '../../runtime/execution.service.ts'
import type { Server } from '../../servers/server.ts'
import { CreateServer } from '../../servers/servers.schema.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import type { FindCutResultListing } from '../../servers/settings/cut-result-listing.ts'
import { type FindShownAs, findShownAsOf } from '../../servers/settings/shown-as.ts'
import type { ServerTransfer } from '../../servers/settings/transfer.service.ts'
import { removalPage } from '../frame/removal-page.ts'
import { listRemovedWithServer } from '../frame/removed-with-server.ts'
import { type ServerFrame, type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import { createServerTab, donePath, serverRoute } from '../frame/server-tab.ts'
import { doneText } from '../frame/user-page.ts'
import { descriptionOf } from '../toolkits/toolkit-form.ts'
import { LIMITS_LABELS, LimitsForm, LimitsInput, type TypedLimits, toLimitsForm } from './limits-form.ts'
import {
  assertToolNames,
  PRESENTATION_LABELS,
  PresentationForm,
  PresentationInput,
  type TypedPresentation,
  toPresentationForm,
} from './presentation-form.ts'

const PATH = '/servers/:uuid/settings'
const EditForm = { name: formText, description: formText, version: formText }
const EditInput = CreateServer.pick({ name: true, description: true })
const TransferForm = { organizationId: formText, ownerEmail: formText }
const TransferInput = z.object({
  organizationId: z.uuid('must be an option from the list'),
  ownerEmail: z.string().max(254, 'is longer than 254 characters'),
})
type TypedSettings = { name: string; description: string; version: string }

/** The submitted values of one of the page's forms. */
type Typed = {
  settings?: TypedSettings
  limits?: TypedLimits
  presentation?: TypedPresentation
  transfer?: { organizationId: string; ownerEmail: string }
}

/** Labels by field name. Field names are unique across the page's forms. */
const LABELS = {
  name: 'name',
  description: 'description',
  ...LIMITS_LABELS,
  ...PRESENTATION_LABELS,
  organizationId: 'organization',
  ownerEmail: 'new owner',
}

const DONE = {
  saved: 'Saved.',
  presented: 'Saved. Connected clients have been notified.',
  tabled: 'Saved. Lists of similar objects are sent as tables from the next call.',
  untabled: 'Saved. Lists are sent unchanged.',
  reviewed: 'Saved. Clients see changes to attached MCP servers once you approve them.',
  unreviewed: 'Saved. Clients see changes to attached MCP servers immediately.',
  opened: 'Saved. Any website may call this server.',
  unopened: 'Saved. Other websites may not call this server.',
  limited: 'Saved. This applies from the next call. Clients have been notified if their list of tools has changed.',
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
  baseUrl: string
}

const typedOf = (server: Server): TypedSettings => ({
  name: server.name,
  description: server.description ?? '',
  version: server.updatedAt.toISOString(),
})

const isSame = (a: TypedSettings, b: TypedSettings): boolean =>
  a.name.trim() === b.name && descriptionOf(a.description) === descriptionOf(b.description)

/**
 * Registers the Settings tab, where users edit a server's name, results and presentation, and transfer or delete the
 * server.
 */
export const settingsPages: FastifyPluginAsync<SettingsPagesParts> = async (
  app,
  { frames, servers, serverTransfer, accounts, execution, findShownAs, findCutResultListing, baseUrl },
) => {
  const tab = createServerTab(frames, 'settings')
  const isLocal = isLoopback(new URL(baseUrl))

  /** Loads the frame. Throws `forbidden` for everyone but the owner and managers. */
  const frameForOwner = async (request: FastifyRequest): Promise<ServerFrame> => {
    const frame = await tab.frameForChange(request)
    if (!frame.isOwner) assertMay(actorOf(request), frame.organizationId, 'manage')
    return frame
  }

  const listPlaces = async (actor: Actor, server: ServerFrame) => {
    const { organizations } = await accounts.getMe(actor)
    return organizations
      .filter(({ id, role }) => id !== server.organizationId && mayRole(role, 'build'))
      .map(({ id, name }) => ({ value: id, text: name }))
  }

  const settingsPage = async (request: FastifyRequest, frame: ServerFrame, typed: Typed = {}): Promise<FormPage> => {
    const actor = actorOf(request)
    const saved = await servers.getServer(actor, frame.id)
    const now = typedOf(saved)
    const mine = typed.settings
    const isOwnOrManaged = frame.mayBuild && (frame.isOwner || frame.mayManage)
    const isOverwritten = mine !== undefined && mine.version !== now.version && !isSame(mine, now)
    return {
      view: 'settings/settings',
      data: {
        title: `Settings of ${frame.name}`,
        server: frame,
        path: serverTabPath(frame.id, 'settings'),
        typed: mine ?? now,
        // The user has now seen this version, so the next submission may overwrite it.
        version: now.version,
        versions: isOverwritten
          ? compareVersions([
              { label: 'Name', mine: mine.name, theirs: now.name },
              { label: 'Description', mine: mine.description, theirs: now.description },
            ])
          : undefined,
        origins: { isOn: saved.allowAnyOrigin, isLocal, mayChange: isOwnOrManaged },
        isReviewed: saved.reviewUpstreamChanges,
        isTabled: saved.compactTables,
        limits: toLimitsForm(saved, await findCutResultListing(frame.id), typed.limits),
        presentation: toPresentationForm(saved, await findShownAsOf(saved, findShownAs), typed.presentation),
        moving: typed.transfer ?? {},
        places: frame.mayManage ? await listPlaces(actor, frame) : [],
        mayRemove: isOwnOrManaged,
        made: shownTime(saved.createdAt),
        changed: shownTime(saved.updatedAt),
        done: doneText(request, DONE),
      },
      labels: LABELS,
    }
  }

  const doneAt = ({ id }: ServerFrame, done: string): string => donePath(serverTabPath(id, 'settings'), done)

  formPage(app, PATH, {
    ...serverRoute,
    fields: EditForm,
    load: tab.frameOf,
    page: (request, server, settings) => settingsPage(request, server, settings && { settings }),
    save: async (request, server, typed) => {
      const input = parseInput(EditInput, { name: typed.name, description: descriptionOf(typed.description) })
      const change = { name: input.name, description: input.description ?? null }
      const ifUnchangedSince = parseVersion(typed.version)
      await servers.updateServer(actorOf(request), server.id, change, { ifUnchangedSince })
      return doneAt(server, 'saved')
    },
  })

  /** Registers the form for a switch. `name` is used for its path and field, and `done` for its messages. */
  const addSwitch = (
    name: string,
    setting: 'reviewUpstreamChanges' | 'compactTables' | 'allowAnyOrigin',
    done: { on: string; off: string },
    load = tab.frameForChange,
  ) =>
    postForm(app, `${PATH}/${name}`, {
      ...serverRoute,
      fields: { [name]: formFlag },
      load,
      page: (request, server) => settingsPage(request, server),
      save: async (request, server, { [name]: isOn = false }) => {
        await servers.updateServer(actorOf(request), server.id, { [setting]: isOn })
        return doneAt(server, isOn ? done.on : done.off)
      },
    })
  addSwitch('review', 'reviewUpstreamChanges', { on: 'reviewed', off: 'unreviewed' })
  addSwitch('tables', 'compactTables', { on: 'tabled', off: 'untabled' })
  addSwitch('origins', 'allowAnyOrigin', { on: 'opened', off: 'unopened' }, frameForOwner)

  postForm(app, `${PATH}/limits`, {
    ...serverRoute,
    fields: LimitsForm,
    load: tab.frameForChange,
    page: (request, server, limits) => settingsPage(request, server, limits && { limits }),
    save: async (request, server, typed) => {
      await servers.updateServer(actorOf(request), server.id, parseInput(LimitsInput, typed))
      return doneAt(server, 'limited')
    },
  })

  postForm(app, `${PATH}/presentation`, {
    ...serverRoute,
    fields: PresentationForm,
    load: tab.frameForChange,
    page: (request, server, presentation) => settingsPage(request, server, presentation && { presentation }),
    save: async (request, server, typed) => {
      const actor = actorOf(request)
      const input = parseInput(PresentationInput, typed)
      if (input.pinnedTools.length > 0) {
        const saved = await servers.getServer(actor, server.id)
        const { tools } = await execution.listNames(actor, server.id, [])
        assertToolNames(input.pinnedTools, tools, saved)
      }
      await servers.updateServer(actor, server.id, input)
      return doneAt(server, 'presented')
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
    page: (request, server, transfer) => settingsPage(request, server, transfer && { transfer }),
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
