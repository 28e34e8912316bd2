import type { FastifyInstance, FastifyRequest } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import { addressOf, listQuery } from '../../lib/http/list-query.ts'
import { formatCount, formatNumber } from '../../lib/http/pages/format.ts'
import { type FormPage, formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { timeText } from '../../lib/http/pages/time-text.ts'
import { assertTypedName } from '../../lib/http/pages/typed-name.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { type Actor, assertMay } from '../../lib/kernel/actor.ts'
import { mayRole } from '../../lib/kernel/roles.ts'
import type { ToolkitCatalogue, UsedToolkitCard } from '../../tools/sharing/catalogue.service.ts'
import { CreateToolkit } from '../../tools/toolkits.schema.ts'
import { type ToolkitService, toolkitVersion } from '../../tools/toolkits.service.ts'
import { TOOLS_PER_PAGE, toToolPage, toToolRow } from './tool-row.ts'
import {
  type Accounts,
  descriptionOf,
  TOOLKIT_FORM,
  TOOLKIT_LABELS,
  type ToolkitForm,
  toToolkitForm,
  toVersions,
  VISIBILITY_OPTIONS,
} from './toolkit-form.ts'

type Parts = { toolkits: ToolkitService; toolkitCatalogue: ToolkitCatalogue; accounts: Accounts }

const config = { access: 'user' } as const
const schema = { params: uuidParams }
const Query = listQuery.extend({ done: formText, after: formText })
const EditForm = { ...TOOLKIT_FORM, version: formText }
const RemovalForm = { sure: formText }
const TransferForm = { organizationId: formText }
const EditInput = CreateToolkit.pick({ title: true, description: true, visibility: true })

const DONE: ReadonlyMap<string, string> = new Map([
  ['created', 'Toolkit created. Add its first tool.'],
  ['saved', 'Saved.'],
  ['moved', 'Toolkit moved to this organization.'],
  ['tool-removed', 'Tool deleted.'],
])

const idOf = ({ params }: FastifyRequest): string => uuidParams.parse(params).id

const roleIn = (
  { memberships }: Actor,
  { organizationId }: UsedToolkitCard,
  permission: 'build' | 'manage',
): boolean => {
  const role = memberships.get(organizationId)
  return role !== undefined && mayRole(role, permission)
}

const toHead = (actor: Actor, toolkit: UsedToolkitCard) => ({
  path: `/toolkits/${toolkit.id}`,
  title: toolkit.title,
  visibility: toolkit.visibility,
  description: toolkit.description,
  organization: { href: `/organizations/${toolkit.organizationId}`, name: toolkit.organizationName },
  mayBuild: roleIn(actor, toolkit, 'build'),
  isPublic: toolkit.visibility === 'public',
  galleryHref: `/gallery/${toolkit.id}`,
  tools: formatCount(toolkit.tools, 'tool'),
  toolCount: toolkit.tools,
  usedBy: toolkit.usedBy.map(({ id, name }) => ({ href: `/servers/${id}`, name })),
  created: timeText(toolkit.createdAt),
  createdAt: toolkit.createdAt.toISOString(),
  updated: timeText(toolkit.updatedAt),
  updatedAt: toolkit.updatedAt.toISOString(),
})

/** Serves the pages of a toolkit of one's own organizations: tools, settings, transfer and deletion. */
export const toolkitPages =
  ({ toolkits, toolkitCatalogue, accounts }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    const getForChange = async (request: FastifyRequest): Promise<{ actor: Actor; toolkit: UsedToolkitCard }> => {
      const actor = actorOf(request)
      const toolkit = await toolkitCatalogue.getOwn(actor, idOf(request))
      assertMay(actor, toolkit.organizationId, 'build')
      return { actor, toolkit }
    }

    const isForeign = async (actor: Actor, id: string): Promise<boolean> => {
      const { organizationId } = await toolkits.getToolkit(actor, id)
      return !actor.memberships.has(organizationId)
    }

    app.get('/toolkits/:id', { config, schema }, async (request, reply) => {
      const actor = actorOf(request)
      const id = idOf(request)
      if (await isForeign(actor, id)) return reply.redirect(`/gallery/${id}`, 303)
      const { q, after, done } = Query.parse(request.query)
      const toolkit = await toolkitCatalogue.getOwn(actor, id)
      const page = { limit: TOOLS_PER_PAGE, after: after === '' ? undefined : after }
      const rows = await toolkitCatalogue.listOwnTools(actor, id, q, page)
      const shown = toToolPage(rows, ({ tool }) => tool.name)
      return reply.page('toolkits/toolkit', {
        title: toolkit.title,
        section: 'toolkits',
        toolkit: toHead(actor, toolkit),
        tools: shown.items.map(({ tool, usedBy }) => toToolRow(tool, usedBy)),
        search: q,
        isSearched: q !== '' || page.after !== undefined,
        next: shown.after && addressOf(`/toolkits/${id}`, { q, after: shown.after }),
        done: DONE.get(done),
      })
    })

    /** `typed` is undefined until the form is submitted. */
    const editPage = async (request: FastifyRequest, typed?: ToolkitForm & { version: string }): Promise<FormPage> => {
      const { actor, toolkit } = await getForChange(request)
      const version = toolkitVersion(toolkit)
      const isOverwritten = typed !== undefined && typed.version !== version
      const { organizations } = await accounts.getMe(actor)
      const elsewhere = organizations.filter(({ id, role }) => id !== toolkit.organizationId && mayRole(role, 'build'))
      return {
        view: 'toolkits/edit',
        data: {
          title: `Settings of ${toolkit.title}`,
          section: 'toolkits',
          toolkit: toHead(actor, toolkit),
          typed: typed ?? toToolkitForm(toolkit),
          // The user has now seen this version, so the next submission may overwrite it.
          version,
          versions: isOverwritten ? toVersions(typed, toToolkitForm(toolkit)) : undefined,
          visibilities: VISIBILITY_OPTIONS,
          elsewhere: roleIn(actor, toolkit, 'manage')
            ? elsewhere.map(({ id, name }) => ({ value: id, text: name }))
            : [],
        },
        labels: { ...TOOLKIT_LABELS, organizationId: 'organization' },
      }
    }

    app.get('/toolkits/:id/edit', { config, schema }, async (request, reply) =>
      showForm(reply, await editPage(request)),
    )

    app.post('/toolkits/:id/edit', { config, schema }, async (request, reply) => {
      const typed = parseForm(EditForm, request.body)
      return submitForm(reply, await editPage(request, typed), async () => {
        const { version, ...rest } = typed
        const input = parseInput(EditInput, { ...rest, description: descriptionOf(rest.description) })
        const patch = { ...input, description: input.description ?? null }
        await toolkits.updateToolkit(actorOf(request), idOf(request), patch, version)
        return reply.redirect(`/toolkits/${idOf(request)}?done=saved`, 303)
      })
    })

    app.post('/toolkits/:id/transfer', { config, schema }, async (request, reply) => {
      const { organizationId } = parseForm(TransferForm, request.body)
      const { actor, toolkit } = await getForChange(request)
      assertMay(actor, toolkit.organizationId, 'manage')
      return submitForm(reply, await editPage(request), async () => {
        const target = parseInput(uuidParams, { id: organizationId })
        await toolkits.transferToolkit(actor, toolkit.id, target.id)
        return reply.redirect(`/toolkits/${toolkit.id}?done=moved`, 303)
      })
    })

    const removalPage = async (request: FastifyRequest, typed = ''): Promise<FormPage> => {
      const { actor, toolkit } = await getForChange(request)
      return {
        view: 'toolkits/removal',
        data: {
          title: `Delete ${toolkit.title}`,
          section: 'toolkits',
          width: 'narrow',
          toolkit: toHead(actor, toolkit),
          servers: formatNumber(toolkit.usedBy.length),
          typed,
        },
        labels: { sure: 'name' },
      }
    }

    app.get('/toolkits/:id/removal', { config, schema }, async (request, reply) =>
      showForm(reply, await removalPage(request)),
    )

    app.post('/toolkits/:id/removal', { config, schema }, async (request, reply) => {
      const { sure } = parseForm(RemovalForm, request.body)
      return submitForm(reply, await removalPage(request, sure), async () => {
        const { actor, toolkit } = await getForChange(request)
        assertTypedName(sure, toolkit.title)
        await toolkits.removeToolkit(actor, toolkit.id)
        return reply.redirect('/toolkits?done=removed', 303)
      })
    })
  }
