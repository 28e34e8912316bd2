import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import { actorOf } from '../../lib/http/access.ts'
import { formPage, formText, parseForm } from '../../lib/http/pages/forms.ts'
import { endSession } from '../../lib/http/sessions.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { AccountDeletion, DeletionPreview } from '../../tenancy/deletion/account-deletion.service.ts'
import { userRoute } from '../frame/user-page.ts'
import { decisionField, decisionPath, toDeletionPage } from './account-deletion.view.ts'

const PATH = '/account/deletion'
/** The maximum lengths bound the cost of hashing. They exceed the longest allowed password. */
const Proof = z.object({ password: z.string().max(1_024), confirm: z.string().max(1_024) })

const mustDecide = ({ organizations }: DeletionPreview) => organizations.filter(one => one.mustDecide)

const readDecisions = (preview: DeletionPreview, body: unknown): Record<string, string> => {
  const ids = mustDecide(preview).map(({ id }) => id)
  const form = parseForm(Object.fromEntries(ids.map(id => [decisionField(id), formText])), body)
  return Object.fromEntries(ids.map(id => [id, form[decisionField(id)] ?? '']))
}

const assertDecided = (decisions: Readonly<Record<string, string>>): void => {
  const errors = Object.entries(decisions)
    .filter(([, decision]) => decision === '')
    .map(([id]) => ({ path: decisionPath(id), message: 'is missing: choose what should happen to it' }))
  if (errors.length > 0)
    throw new AppError('invalid_request', 'Choose what should happen to your organizations.', { errors })
}

/**
 * Registers the page on which users delete their account, after deciding what happens to their organizations and
 * confirming.
 */
export const accountDeletionPages: FastifyPluginAsync<{
  accountDeletion: AccountDeletion
  accounts: Pick<AccountService, 'hasPassword' | 'proveSelf'>
}> = async (app, { accountDeletion, accounts }) => {
  formPage(app, PATH, {
    ...userRoute,
    fields: { password: formText, confirm: formText },
    load: async request => ({
      actor: actorOf(request),
      preview: await accountDeletion.previewDeletion(actorOf(request)),
    }),
    page: async (request, { actor, preview }, typed) => {
      const decisions = readDecisions(preview, request.body)
      const hasPassword = await accounts.hasPassword(actor)
      const { email } = actor
      return toDeletionPage(preview, { hasPassword, email, typed: { decisions, confirm: typed?.confirm ?? '' } })
    },
    save: async (request, { actor, preview }, typed, reply) => {
      const decisions = readDecisions(preview, request.body)
      assertDecided(decisions)
      await accounts.proveSelf(actor, parseInput(Proof, typed))
      await accountDeletion.deleteAccount(actor, decisions)
      if (request.signedInBy === 'session') await endSession(request, reply)
      return reply.page('organizations/account-deleted', { title: 'Account deleted', email: actor.email })
    },
  })
}
