import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { type FormPage, formPage, formText, parseForm, postForm } from '../../lib/http/pages/forms.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { uuidParam, uuidParams } from '../../lib/http/schemas.ts'
import { type BlockedOrigin, SUSPENDABLE, type Suspendable, type Suspension } from '../../suspensions/suspension.ts'
import type { SuspensionService } from '../../suspensions/suspensions.service.ts'
import { doneText, idOf } from '../frame/user-page.ts'
import { frameOf } from './operator-tabs.ts'

const PATH = '/operator/suspensions'
const config = { access: 'operator' } as const
const suspensionParams = z.object({ kind: z.enum(SUSPENDABLE), id: uuidParam })

/** Rows shown of each kind. The API lists all. */
const MAX_SHOWN = 100

const KINDS = [
  { value: 'user', text: 'User' },
  { value: 'organization', text: 'Organization' },
  { value: 'server', text: 'Server' },
] as const satisfies readonly { value: Suspendable; text: string }[]
const kindOf = (text: string): Suspendable => SUSPENDABLE.find(kind => kind === text) ?? 'user'

const DONE = {
  suspended: 'Suspended.',
  restored: 'Restored.',
  blocked: 'Blocked.',
  allowed: 'Allowed again.',
}

/** Fields of both forms. The address of the page can fill them in. */
const TYPED = { kind: formText, target: formText, origin: formText, reason: formText }
type Typed = { [Name in keyof typeof TYPED]: string }

const toRow = ({ id, kind, name, reason, since }: Suspension) => ({
  name,
  kind: KINDS.find(({ value }) => value === kind)?.text ?? '',
  reason,
  since: shownTime(since),
  restoration: `${PATH}/${kind}/${id}/restoration`,
})

const toOriginRow = ({ id, origin, reason, createdAt }: BlockedOrigin) => ({
  origin,
  reason,
  since: shownTime(createdAt),
  removal: `/operator/blocked-origins/${id}/removal`,
})

/** Registers the page on which the operator suspends and restores, and blocks origins. */
export const suspensionPages: FastifyPluginAsync<{ suspensionService: SuspensionService }> = async (
  app,
  { suspensionService: service },
) => {
  const page = async (request: FastifyRequest, form: 'suspend' | 'block', typed: Typed): Promise<FormPage> => {
    const place = { limit: MAX_SHOWN, afterId: undefined }
    const found = await Promise.all(SUSPENDABLE.map(kind => service.listSuspended(kind, place)))
    const origins = await service.listBlockedOrigins(place)
    return {
      view: 'operator/suspensions',
      data: {
        ...frameOf(PATH),
        rows: found.flatMap(list => list.slice(0, MAX_SHOWN).map(toRow)),
        origins: origins.slice(0, MAX_SHOWN).map(toOriginRow),
        hasMore: [...found, origins].some(({ length }) => length > MAX_SHOWN),
        kinds: KINDS,
        form,
        typed: { ...typed, kind: kindOf(typed.kind) },
        done: doneText(request, DONE),
      },
      labels: form === 'suspend' ? { target: 'name', reason: 'reason' } : { origin: 'origin', reason: 'reason' },
    }
  }

  formPage(app, PATH, {
    config,
    fields: TYPED,
    load: request => parseForm(TYPED, request.query),
    page: (request, linked, typed = linked) => page(request, 'suspend', typed),
    save: async (request, _, { kind, target, reason }) => {
      const { id, kind: found } = await service.findSuspendable(kindOf(kind), target)
      await service.suspend(actorOf(request), found, id, { reason })
      return `${PATH}?done=suspended`
    },
  })

  postForm(app, '/operator/blocked-origins', {
    config,
    fields: TYPED,
    load: () => undefined,
    page: (request, _, typed) => page(request, 'block', typed ?? parseForm(TYPED, {})),
    save: async (request, _, { origin, reason }) => {
      await service.blockOrigin(actorOf(request), { origin, reason })
      return `${PATH}?done=blocked`
    },
  })

  app.post(
    `${PATH}/:kind/:id/restoration`,
    { config, schema: { params: suspensionParams } },
    async (request, reply) => {
      const { kind, id } = suspensionParams.parse(request.params)
      await service.restore(actorOf(request), kind, id)
      return reply.redirect(`${PATH}?done=restored`, 303)
    },
  )

  app.post(
    '/operator/blocked-origins/:id/removal',
    { config, schema: { params: uuidParams } },
    async (request, reply) => {
      await service.unblockOrigin(actorOf(request), idOf(request))
      return reply.redirect(`${PATH}?done=allowed`, 303)
    },
  )
}
