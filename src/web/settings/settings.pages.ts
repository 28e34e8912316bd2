import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { formatCount, formatNumber } from '../../lib/http/pages/format.ts'
import { type FormPage, formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { timeText } from '../../lib/http/pages/time-text.ts'
import { assertTypedName } from '../../lib/http/pages/typed-name.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { compareVersions, parseVersion } from '../../lib/http/versions.ts'
import { type Actor, assertMay } from '../../lib/kernel/actor.ts'
import { mayRole, type Role } from '../../lib/kernel/roles.ts'
import type { Server } from '../../servers/server.ts'
import { CreateServer } from '../../servers/servers.schema.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import { type FindShownAs, findShownAsOf } from '../../servers/settings/shown-as.ts'
import type { ServerTransfer } from '../../servers/settings/transfer.service.ts'
import { getServerFrame, type ServerFrame, type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import { AnswersForm, AnswersInput, toAnswersForm, withTypedAnswers } from './answers-form.ts'
import {
  assertToolNames,
  PresentationForm,
  PresentationInput,
  toPresentationForm,
  withTypedPresentation,
} from './presentation-form.ts'

const config = { access: 'user' } as const
const Params = z.object({ uuid: uuidParam })
const schema = { params: Params }

const Query = z.object({ done: formText })
const EditForm = { name: formText, description: formText, version: formText }
const EditInput = CreateServer.pick({ name: true, description: true })
const ReviewForm = { review: formText }
const TransferForm = { organizationId: formText, ownerEmail: formText }
const TransferInput = z.object({
  organizationId: z.uuid('must be one of the list'),
  ownerEmail: z.string().max(254, 'is longer than 254 characters'),
})
const RemovalForm = { sure: formText }
type Typed = { name: string; description: string; version: string }

const LABELS = { name: 'name', description: 'description' }
const TRANSFER_LABELS = { organizationId: 'organization', ownerEmail: 'new owner' }

/** Calls counted for the page that asks whether to delete: beyond it all that matters is that there are many. */
const MAX_COUNTED_CALLS = 10_000

const DONE: ReadonlyMap<string, string> = new Map([
  ['saved', 'Saved.'],
  ['presented', 'Saved. Connected clients have been notified.'],
  ['tabled', 'Saved. Lists of similar objects are sent as tables from the next result on.'],
  ['untabled', 'Saved. Lists are sent unchanged.'],
  ['reviewed', 'Saved. Clients see changes to attached MCP servers once you approve them.'],
  ['unreviewed', 'Saved. Clients see changes to attached MCP servers immediately.'],
  ['answers', 'Saved. It applies from the next call on.'],
  ['moved', 'The server now belongs to this organization. Its address has not changed.'],
])

export type SettingsPagesParts = {
  frames: ServerFrameParts
  servers: ServerService
  serverTransfer: ServerTransfer
  /** Names of all tools that clients can be shown, those of upstreams among them. */
  listToolNames: (actor: Actor, serverId: string) => Promise<readonly string[]>
  findShownAs: FindShownAs
  /** The names of one's organizations. */
  accounts: {
    getMe: (actor: Actor) => Promise<{ organizations: readonly { id: string; name: string; role: Role }[] }>
  }
}

const typedOf = (server: Server): Typed => ({
  name: server.name,
  description: server.description ?? '',
  version: server.updatedAt.toISOString(),
})

/** Browsers send line ends as CR LF, whatever was typed. */
const descriptionOf = (typed: string): string | null => {
  const text = typed.replaceAll('\r\n', '\n').trim()
  return text === '' ? null : text
}

/** In words, where there are any. */
const countOf = (count: number, one: string): string[] => (count === 0 ? [] : [formatCount(count, one)])

const isSame = (a: Typed, b: Typed): boolean =>
  a.name.trim() === b.name && descriptionOf(a.description) === descriptionOf(b.description)

/** Why a form of moving says no, beside its own fields and none of the other form's. */
const toTransferPage = (page: FormPage, typed: Record<string, string>): FormPage => ({
  ...page,
  data: { ...page.data, moving: typed },
  labels: TRANSFER_LABELS,
})

/** `/servers/:uuid/settings`: what a server is called, where it belongs, and its end. */
export const settingsPages =
  ({ frames, servers, serverTransfer, accounts, listToolNames, findShownAs }: SettingsPagesParts) =>
  async (app: FastifyInstance): Promise<void> => {
    const frameOf = (request: FastifyRequest): Promise<ServerFrame> =>
      getServerFrame(frames, actorOf(request), Params.parse(request.params).uuid, 'settings')

    const listPlaces = async (actor: Actor, server: ServerFrame) => {
      const { organizations } = await accounts.getMe(actor)
      return organizations
        .filter(({ id, role }) => id !== server.organizationId && mayRole(role, 'build'))
        .map(({ id, name }) => ({ value: id, text: name }))
    }

    /** `typed` is undefined where nobody has typed yet. */
    const settingsPage = async (request: FastifyRequest, typed?: Typed): Promise<FormPage> => {
      const actor = actorOf(request)
      const frame = await frameOf(request)
      const saved = await servers.getServer(actor, frame.id)
      const now = typedOf(saved)
      const isOverwritten = typed !== undefined && typed.version !== now.version && !isSame(typed, now)
      return {
        view: 'settings/settings',
        data: {
          title: `Settings of ${frame.name}`,
          server: frame,
          path: serverTabPath(frame.id, 'settings'),
          typed: typed ?? now,
          // Sent again, the form says that its sender has seen what is there now.
          version: now.version,
          versions: isOverwritten
            ? compareVersions([
                { label: 'Name', mine: typed.name, theirs: now.name },
                { label: 'Description', mine: typed.description, theirs: now.description },
              ])
            : undefined,
          isReviewed: saved.reviewUpstreamChanges,
          isTabled: saved.compactTables,
          answers: toAnswersForm(saved),
          presentation: toPresentationForm(saved, await findShownAsOf(saved, findShownAs)),
          moving: {},
          places: frame.mayManage ? await listPlaces(actor, frame) : [],
          mayRemove: frame.mayBuild && (frame.isOwner || frame.mayManage),
          made: { at: saved.createdAt.toISOString(), text: timeText(saved.createdAt) },
          changed: { at: saved.updatedAt.toISOString(), text: timeText(saved.updatedAt) },
          done: DONE.get(Query.parse(request.query).done),
        },
        labels: LABELS,
      }
    }

    app.get('/servers/:uuid/settings', { config, schema }, async (request, reply) =>
      showForm(reply, await settingsPage(request)),
    )

    app.post('/servers/:uuid/settings', { config, schema }, async (request, reply) => {
      const typed = parseForm(EditForm, request.body)
      const { uuid } = Params.parse(request.params)
      const actor = actorOf(request)
      assertMay(actor, (await servers.getServer(actor, uuid)).organizationId, 'build')
      return submitForm(reply, await settingsPage(request, typed), async () => {
        const input = parseInput(EditInput, { name: typed.name, description: descriptionOf(typed.description) })
        const wish = { name: input.name, description: input.description ?? null }
        await servers.updateServer(actor, uuid, wish, { ifUnchangedSince: parseVersion(typed.version) })
        return reply.redirect(`${serverTabPath(uuid, 'settings')}?done=saved`, 303)
      })
    })

    app.post('/servers/:uuid/settings/review', { config, schema }, async (request, reply) => {
      const { review } = parseForm(ReviewForm, request.body)
      const { uuid } = Params.parse(request.params)
      const actor = actorOf(request)
      assertMay(actor, (await servers.getServer(actor, uuid)).organizationId, 'build')
      return submitForm(reply, await settingsPage(request), async () => {
        const reviewUpstreamChanges = review === 'on'
        await servers.updateServer(actor, uuid, { reviewUpstreamChanges })
        const done = reviewUpstreamChanges ? 'reviewed' : 'unreviewed'
        return reply.redirect(`${serverTabPath(uuid, 'settings')}?done=${done}`, 303)
      })
    })

    app.post('/servers/:uuid/settings/answers', { config, schema }, async (request, reply) => {
      const typed = parseForm(AnswersForm, request.body)
      const { uuid } = Params.parse(request.params)
      const actor = actorOf(request)
      const saved = await servers.getServer(actor, uuid)
      assertMay(actor, saved.organizationId, 'build')
      const page = withTypedAnswers(await settingsPage(request), toAnswersForm(saved, typed))
      return submitForm(reply, page, async () => {
        await servers.updateServer(actor, uuid, parseInput(AnswersInput, typed))
        return reply.redirect(`${serverTabPath(uuid, 'settings')}?done=answers`, 303)
      })
    })

    app.post('/servers/:uuid/settings/presentation', { config, schema }, async (request, reply) => {
      const typed = parseForm(PresentationForm, request.body)
      const { uuid } = Params.parse(request.params)
      const actor = actorOf(request)
      const saved = await servers.getServer(actor, uuid)
      assertMay(actor, saved.organizationId, 'build')
      const form = toPresentationForm(saved, await findShownAsOf(saved, findShownAs), typed)
      return submitForm(reply, withTypedPresentation(await settingsPage(request), form), async () => {
        const input = parseInput(PresentationInput, typed)
        if (input.pinnedTools.length > 0) {
          assertToolNames(input.pinnedTools, await listToolNames(actor, uuid), saved)
        }
        await servers.updateServer(actor, uuid, input)
        return reply.redirect(`${serverTabPath(uuid, 'settings')}?done=presented`, 303)
      })
    })

    app.post('/servers/:uuid/settings/transfer', { config, schema }, async (request, reply) => {
      const typed = parseForm(TransferForm, request.body)
      const { uuid } = Params.parse(request.params)
      const actor = actorOf(request)
      assertMay(actor, (await servers.getServer(actor, uuid)).organizationId, 'manage')
      return submitForm(reply, toTransferPage(await settingsPage(request), typed), async () => {
        const { organizationId, ownerEmail } = parseInput(TransferInput, typed)
        const wish = { organizationId, ownerEmail: ownerEmail.trim() === '' ? undefined : ownerEmail }
        await serverTransfer.transferServer(actor, uuid, wish)
        return reply.redirect(`${serverTabPath(uuid, 'settings')}?done=moved`, 303)
      })
    })

    const removalPage = async (request: FastifyRequest, typed = ''): Promise<FormPage> => {
      const frame = await frameOf(request)
      const calls = await servers.countCalls(actorOf(request), frame.id, MAX_COUNTED_CALLS)
      const open = frames.openStreams(frame.id)
      return {
        view: 'settings/settings-removal',
        data: {
          title: `Delete ${frame.name}`,
          server: frame,
          action: `${serverTabPath(frame.id, 'settings')}/removal`,
          back: serverTabPath(frame.id, 'settings'),
          goes: [
            ...countOf(frame.counts.tools, 'tool'),
            ...countOf(frame.counts.globals, 'global'),
            ...countOf(frame.counts.upstreams, 'attached MCP server'),
            ...(calls === MAX_COUNTED_CALLS
              ? [`more than ${formatNumber(calls)} recorded calls`]
              : countOf(calls, 'recorded call')),
            ...countOf(open, 'open connection'),
          ],
          typed,
        },
        labels: { sure: 'name' },
      }
    }

    app.get('/servers/:uuid/settings/removal', { config, schema }, async (request, reply) =>
      showForm(reply, await removalPage(request)),
    )

    app.post('/servers/:uuid/settings/removal', { config, schema }, async (request, reply) => {
      const { sure } = parseForm(RemovalForm, request.body)
      const page = await removalPage(request, sure)
      return submitForm(reply, page, async () => {
        const actor = actorOf(request)
        const { id, name } = await servers.getServer(actor, Params.parse(request.params).uuid)
        assertTypedName(sure, name)
        await servers.removeServer(actor, id)
        return reply.redirect('/servers?done=removed', 303)
      })
    })
  }
