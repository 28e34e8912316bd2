import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import { listQuery } from '../../lib/http/list-query.ts'
import { type FormPage, formPage } from '../../lib/http/pages/forms.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { parseInput } from '../../lib/http/validation.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'
import type { Delivery, Webhook } from '../../webhooks/webhook.ts'
import { UpdateWebhook } from '../../webhooks/webhooks.schema.ts'
import type { WebhookService } from '../../webhooks/webhooks.service.ts'
import { removalPage } from '../frame/removal-page.ts'
import { doneText, idOf, idRoute, readList } from '../frame/user-page.ts'
import { getOrganizationFrame, organizationPath } from './organization-frame.ts'
import { eventChoices, stateOf, WebhookForm } from './webhooks.pages.ts'

type Parts = { organizations: OrganizationService; webhooks: WebhookService }

const DELIVERIES_PER_PAGE = 50

const DELIVERY_STATES = {
  waiting: { text: 'Waiting', state: 'slow' },
  delivered: { text: 'Delivered' },
  failed: { text: 'Failed', state: 'failed' },
} as const

const toRow = (delivery: Delivery) => ({
  id: delivery.id,
  type: delivery.type,
  happened: shownTime(delivery.happenedAt),
  state: DELIVERY_STATES[delivery.state],
  attempts: delivery.attempts,
  next: delivery.nextAt && shownTime(delivery.nextAt),
  status: delivery.lastStatus,
  error: delivery.lastError,
})

const DONE = {
  saved: 'Webhook saved.',
  tested: 'The test event is on its way.',
  replayed: 'The event is delivered again.',
  enabled: 'Webhook enabled. Replay what it missed below.',
  disabled: 'Webhook disabled.',
}

const typedOf = ({ description = '', events }: Webhook) => ({ url: '', description, events: events.map(String) })

/** Registers the page of a webhook: its settings, and its deliveries, which can be replayed. */
export const webhookPages: FastifyPluginAsync<Parts> = async (app, { organizations, webhooks }) => {
  const load = async (request: FastifyRequest) => {
    const actor = actorOf(request)
    const webhook = await webhooks.getWebhook(actor, idOf(request))
    return { actor, webhook, path: `/webhooks/${webhook.id}` }
  }

  const page = async (
    request: FastifyRequest,
    { actor, webhook, path }: Awaited<ReturnType<typeof load>>,
    typed = typedOf(webhook),
  ): Promise<FormPage> => {
    const { cursor } = listQuery.parse(request.query)
    const list = (rows: Parameters<typeof webhooks.listDeliveries>[3]) =>
      webhooks.listDeliveries(actor, webhook.id, {}, rows)
    const { items, next } = await readList({ path, cursor, limit: DELIVERIES_PER_PAGE }, list, toRow)
    const organization = await getOrganizationFrame(organizations, actor, webhook.organizationId, 'webhooks')
    return {
      view: 'organizations/webhook',
      data: {
        title: `Webhook of ${organization.name}`,
        organization,
        webhook: { path, address: webhook.address, isActive: webhook.state === 'active', state: stateOf(webhook) },
        problem: webhook.state === 'disabled' ? `This webhook is disabled. ${webhook.disabledReason ?? ''}` : undefined,
        deliveries: items,
        next,
        typed,
        choices: eventChoices(typed.events),
        done: doneText(request, DONE),
      },
      labels: { url: 'URL', description: 'description', events: 'events' },
    }
  }

  formPage(app, '/webhooks/:id', {
    ...idRoute,
    fields: WebhookForm,
    load,
    page,
    save: async (_request, { actor, webhook, path }, { url, description, events }) => {
      const typed = { ...(url.trim() !== '' && { url }), description: description.trim() || null, events }
      await webhooks.changeWebhook(actor, webhook.id, parseInput(UpdateWebhook, typed))
      return `${path}?done=saved`
    },
  })

  app.post('/webhooks/:id/state', idRoute, async (request, reply) => {
    const { actor, webhook, path } = await load(request)
    const state = webhook.state === 'active' ? 'disabled' : 'active'
    await webhooks.changeWebhook(actor, webhook.id, { state })
    return reply.redirect(`${path}?done=${state === 'active' ? 'enabled' : 'disabled'}`, 303)
  })
  app.post('/webhooks/:id/test', idRoute, async (request, reply) => {
    const { webhookId } = await webhooks.testWebhook(actorOf(request), idOf(request))
    return reply.redirect(`/webhooks/${webhookId}?done=tested`, 303)
  })
  app.post('/webhooks/:id/secret', idRoute, async (request, reply) => {
    const { actor, webhook, path } = await load(request)
    const { secret } = await webhooks.renewSecret(actor, webhook.id)
    const organization = await getOrganizationFrame(organizations, actor, webhook.organizationId, 'webhooks')
    // No redirect: the secret is shown only in this response.
    return reply.page('organizations/webhook-secret', {
      title: 'Secret of the webhook',
      organization,
      made: { secret, address: webhook.address, path, isNew: false },
    })
  })
  app.post('/deliveries/:id/replay', idRoute, async (request, reply) => {
    const { webhookId } = await webhooks.replayDelivery(actorOf(request), idOf(request))
    return reply.redirect(`/webhooks/${webhookId}?done=replayed`, 303)
  })

  removalPage(app, '/webhooks/:id/removal', {
    ...idRoute,
    button: 'Delete webhook',
    isUnnamed: true,
    load,
    nameOf: ({ webhook }) => webhook.description ?? webhook.address,
    page: (_request, { webhook, path }) => ({
      section: 'organizations',
      crumbs: [{ href: organizationPath(webhook.organizationId, 'webhooks'), text: 'Webhooks' }],
      text: 'Events are no longer sent to it, and its deliveries are deleted. This cannot be undone.',
      back: path,
    }),
    remove: async (_request, { actor, webhook }) => {
      await webhooks.removeWebhook(actor, webhook.id)
      return `${organizationPath(webhook.organizationId, 'webhooks')}?done=removed`
    },
  })
}
