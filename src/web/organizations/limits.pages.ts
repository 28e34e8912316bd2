import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Database } from '../../lib/db/client.ts'
import { actorOf } from '../../lib/http/access.ts'
import { listQuery } from '../../lib/http/list-query.ts'
import { type FormPage, formPage, formText, postForm } from '../../lib/http/pages/forms.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { assertMay } from '../../lib/kernel/actor.ts'
import { readNumber } from '../../lib/kernel/whole-number.ts'
import { CreateLimit, UpdateLimit } from '../../limits/limits.schema.ts'
import type { LimitService } from '../../limits/limits.service.ts'
import { listServerNames } from '../../servers/server-names.store.ts'
import type { MemberService } from '../../tenancy/members.service.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'
import { doneText, idOf, idRoute, readList, userRoute } from '../frame/user-page.ts'
import { COUNT_OPTIONS, targetOptions, toLimitRow } from './limits.view.ts'
import { getOrganizationFrame, organizationPath } from './organization-frame.ts'

type Parts = { db: Database; organizations: OrganizationService; members: MemberService; limits: LimitService }

const limitParams = z.object({ id: uuidParam, limitId: uuidParam })
const limitRoute = { ...userRoute, schema: { params: limitParams } }
const PATH = '/organizations/:id/limits'
/** Maximum number of servers and of members that can be chosen. The API takes any. */
const MAX_CHOICES = 100

const LimitForm = { count: formText, target: formText, amount: formText }
const NEW = { count: 'calls minute', target: 'organization', amount: '' }
const LABELS = { amount: 'amount', targetId: 'target', period: 'limit' }
const DONE = { added: 'Limit added. It applies from now on.', changed: 'Limit changed.', removed: 'Limit removed.' }

const limitIdOf = ({ params }: FastifyRequest): string => limitParams.parse(params).limitId

const inputOf = ({ count, target, amount }: typeof NEW) => {
  const [unit, period] = count.split(' ')
  const [scope, targetId] = target.split(' ')
  return parseInput(CreateLimit, { unit, period, scope, targetId, amount: readNumber(amount) })
}

/** Registers the pages on which admins set limits and see how much of them is used. */
export const limitPages: FastifyPluginAsync<Parts> = async (app, { db, organizations, members, limits }) => {
  const manager = (request: FastifyRequest) => {
    const id = idOf(request)
    assertMay(actorOf(request), id, 'manage')
    return { actor: actorOf(request), id, path: organizationPath(id, 'limits') }
  }
  type Manager = ReturnType<typeof manager>

  const listPage = async (request: FastifyRequest, { actor, id, path }: Manager, typed = NEW): Promise<FormPage> => {
    const { cursor } = listQuery.parse(request.query)
    const frame = await getOrganizationFrame(organizations, actor, id, 'limits')
    const servers = await listServerNames(db, id, actor)
    const users = await members.listMembers(actor, id, { limit: MAX_CHOICES, afterId: undefined })
    const { items, next } = await readList(
      { path, cursor },
      page => limits.listLimits(actor, id, page),
      limit => toLimitRow(path, limit),
    )
    const named = users.map(({ userId, email }) => ({ id: userId, name: email }))
    return {
      view: 'organizations/limits',
      data: {
        title: `Limits of ${frame.name}`,
        organization: frame,
        limits: items,
        next,
        counts: COUNT_OPTIONS,
        targets: targetOptions(servers.slice(0, MAX_CHOICES), named.slice(0, MAX_CHOICES)),
        typed,
        done: doneText(request, DONE),
      },
      labels: LABELS,
    }
  }

  formPage(app, PATH, {
    ...idRoute,
    fields: LimitForm,
    load: manager,
    page: listPage,
    save: async (_request, { actor, id, path }, typed) => {
      await limits.createLimit(actor, id, inputOf(typed))
      return `${path}?done=added`
    },
  })

  const limitPage = async (
    request: FastifyRequest,
    { actor, id, path }: Manager,
    typed?: { amount: string },
  ): Promise<FormPage> => {
    const limit = await limits.getLimit(actor, id, limitIdOf(request))
    const { name } = await organizations.getOrganization(actor, id)
    return {
      view: 'organizations/limit',
      data: {
        title: `Limit of ${name}`,
        organization: { path: `/organizations/${id}`, name },
        limit: toLimitRow(path, limit),
        typed: typed?.amount ?? String(limit.amount),
      },
      labels: LABELS,
    }
  }

  formPage(app, `${PATH}/:limitId`, {
    ...limitRoute,
    fields: { amount: formText },
    load: manager,
    page: limitPage,
    save: async (request, { actor, id, path }, typed) => {
      const { amount } = parseInput(UpdateLimit, { amount: readNumber(typed.amount) ?? Number.NaN })
      await limits.updateLimit(actor, id, limitIdOf(request), amount)
      return `${path}?done=changed`
    },
  })

  postForm(app, `${PATH}/:limitId/removal`, {
    ...limitRoute,
    fields: {},
    load: manager,
    page: (request, loaded) => limitPage(request, loaded),
    save: async (request, { actor, id, path }) => {
      await limits.removeLimit(actor, id, limitIdOf(request))
      return `${path}?done=removed`
    },
  })
}
