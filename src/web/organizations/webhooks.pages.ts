import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import { listQuery } from '../../lib/http/list-query.ts'
import { type FormPage, formPage, formText, formValues } from '../../lib/http/pages/forms.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { assertMay } from '../../lib/kernel/actor.ts'
import { EVENT_TYPE_NAMES, EVENT_TYPES } from '../../outbox/event-types.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'
import type { Webhook } from '../../webhooks/webhook.ts'
import { CreateWebhook } from '../../webhooks/webhooks.schema.ts'
import type { WebhookService } from '../../webhooks/webhooks.service.ts'
import { doneText, idOf, idRoute, readList } from '../frame/user-page.ts'
import { getOrganizationFrame, organizationPath } from './organization-frame.ts'

type Parts = { organizations: OrganizationService; webhooks: WebhookService }

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

/** Registers the page that lists the webhooks of an organization and adds one. */
export const webhooksPages: FastifyPluginAsync<Parts> = async (app, { organizations, webhooks }) => {
  const manager = (request: FastifyRequest) => {
    const id = idOf(request)
    assertMay(actorOf(request), id, 'manage')
    return { actor: actorOf(request), id }
  }
  const frameOf = ({ actor, id }: ReturnType<typeof manager>) =>
    getOrganizationFrame(organizations, actor, id, 'webhooks')

  formPage(app, '/organizations/:id/webhooks', {
    ...idRoute,
    fields: WebhookForm,
    load: manager,
    page: async (request, loaded, typed = EMPTY): Promise<FormPage> => {
      const { actor, id } = loaded
      const { cursor } = listQuery.parse(request.query)
      const frame = await frameOf(loaded)
      const path = organizationPath(id, 'webhooks')
      const { items, next } = await readList({ path, cursor }, page => webhooks.listWebhooks(actor, id, page), toRow)
      return {
        view: 'organizations/webhooks',
        data: {
          title: `Webhooks of ${frame.name}`,
          organization: frame,
          webhooks: items,
          next,
          typed,
          choices: eventChoices(typed.events),
          done: doneText(request, { removed: 'Webhook deleted.' }),
        },
        labels: { url: 'URL', description: 'description', events: 'events' },
      }
    },
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
}
