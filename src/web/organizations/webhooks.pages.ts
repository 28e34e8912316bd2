import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { ChooseEventMails } from '../../event-mails/event-mails.schema.ts'
import type { EventMailService } from '../../event-mails/event-mails.service.ts'
import { actorOf } from '../../lib/http/access.ts'
import { listQuery } from '../../lib/http/list-query.ts'
import { type FormPage, formPage, formText, formValues, postForm } from '../../lib/http/pages/forms.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { assertMay } from '../../lib/kernel/actor.ts'
import { EVENT_TYPE_NAMES, EVENT_TYPES } from '../../outbox/event-types.ts'
import { UpdateOrganization } from '../../tenancy/organizations.schema.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'
import type { Webhook } from '../../webhooks/webhook.ts'
import { CreateWebhook } from '../../webhooks/webhooks.schema.ts'
import type { WebhookService } from '../../webhooks/webhooks.service.ts'
import { doneText, idOf, idRoute, readList } from '../frame/user-page.ts'
import { getOrganizationFrame, organizationPath } from './organization-frame.ts'

type Parts = { organizations: OrganizationService; webhooks: WebhookService; eventMails: EventMailService }

export const WebhookForm = { url: formText, description: formText, events: formValues }

export const eventChoices = (chosen: readonly string[]) =>
  EVENT_TYPE_NAMES.map(type => ({ type, text: EVENT_TYPES[type], isChosen: chosen.includes(type) }))

export const stateOf = ({ state, failingSince }: Webhook) => {
  if (state === 'disabled') return { text: 'Disabled', state: 'failed' }
  return failingSince === undefined
    ? { text: 'Active' }
    : { text: 'Failing since', since: shownTime(failingSince), state: 'slow' }
}

const toRow = (webhook: Webhook) => ({
  path: `/webhooks/${webhook.id}`,
  address: webhook.address,
  description: webhook.description,
  events: webhook.events.length,
  state: stateOf(webhook),
})

const EMPTY = { url: '', description: '', events: [] as string[] }
const DONE = {
  removed: 'Webhook deleted.',
  mails: 'Your choice is saved.',
  'error-rate': 'Error rate saved.',
}

/** Values typed into one of the forms of the page. */
type TypedForms = { webhook?: typeof EMPTY; mails?: readonly string[]; errorRate?: string }

const parsePercent = (typed: string): number | null => (typed.trim() === '' ? null : Number(typed))

/** Registers the page with the webhooks of an organization, the viewer's own emails, and the error rate of servers. */
export const webhooksPages: FastifyPluginAsync<Parts> = async (app, { organizations, webhooks, eventMails }) => {
  const manager = (request: FastifyRequest) => {
    const id = idOf(request)
    assertMay(actorOf(request), id, 'manage')
    return { actor: actorOf(request), id, path: organizationPath(id, 'webhooks') }
  }
  type Manager = ReturnType<typeof manager>
  const frameOf = ({ actor, id }: Manager) => getOrganizationFrame(organizations, actor, id, 'webhooks')

  const page = async (request: FastifyRequest, loaded: Manager, typed: TypedForms = {}): Promise<FormPage> => {
    const { actor, id, path } = loaded
    const { cursor } = listQuery.parse(request.query)
    const frame = await frameOf(loaded)
    const { items, next } = await readList({ path, cursor }, page => webhooks.listWebhooks(actor, id, page), toRow)
    const { events, isDelivered } = await eventMails.getEventMails(actor, id)
    const { errorRatePercent } = await organizations.getOrganization(actor, id)
    const { webhook = EMPTY } = typed
    return {
      view: 'organizations/webhooks',
      data: {
        title: `Webhooks of ${frame.name}`,
        organization: frame,
        webhooks: items,
        next,
        typed: webhook,
        choices: eventChoices(webhook.events),
        mails: { email: actor.email, choices: eventChoices(typed.mails ?? events), isDelivered },
        errorRate: typed.errorRate ?? String(errorRatePercent ?? ''),
        done: doneText(request, DONE),
      },
    }
  }

  formPage(app, '/organizations/:id/webhooks', {
    ...idRoute,
    fields: WebhookForm,
    load: manager,
    page: async (request, loaded, webhook): Promise<FormPage> => ({
      ...(await page(request, loaded, { ...(webhook !== undefined && { webhook }) })),
      labels: { url: 'URL', description: 'description', events: 'events' },
    }),
    save: async (_request, loaded, typed, reply) => {
      const wanted = parseInput(CreateWebhook, { ...typed, description: typed.description.trim() || null })
      const { secret, ...webhook } = await webhooks.addWebhook(loaded.actor, loaded.id, wanted)
      const organization = await frameOf(loaded)
      // No redirect: the secret is shown only in this response.
      return reply.page('organizations/webhook-secret', {
        title: 'Secret of the webhook',
        organization,
        made: { secret, address: webhook.address, path: `/webhooks/${webhook.id}`, isNew: true },
      })
    },
  })

  postForm(app, '/organizations/:id/event-emails', {
    ...idRoute,
    fields: { events: formValues },
    load: manager,
    page: (request, loaded, typed) => page(request, loaded, { ...(typed !== undefined && { mails: typed.events }) }),
    save: async (_request, { actor, id, path }, typed) => {
      await eventMails.chooseEventMails(actor, id, parseInput(ChooseEventMails, typed))
      return `${path}?done=mails`
    },
  })

  postForm(app, '/organizations/:id/error-rate', {
    ...idRoute,
    fields: { errorRatePercent: formText },
    load: manager,
    page: async (request, loaded, typed) => ({
      ...(await page(request, loaded, { ...(typed !== undefined && { errorRate: typed.errorRatePercent }) })),
      labels: { errorRatePercent: 'error rate' },
    }),
    save: async (_request, { actor, id, path }, typed) => {
      const wanted = { errorRatePercent: parsePercent(typed.errorRatePercent) }
      const { errorRatePercent } = parseInput(UpdateOrganization, wanted)
      await organizations.changeOrganization(actor, id, { errorRatePercent })
      return `${path}?done=error-rate`
    },
  })
}
