import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Actor, AppError } from '../kernel/index.ts'
import { actorOf, endSession, formText, parseForm, parseInput, showForm, submitForm } from '../platform/http/index.ts'
import type { AccountDeletion, DeletionPreview } from './account-deletion.service.ts'
import { type DeletionTyped, decisionField, decisionPath, toDeletionPage } from './account-deletion.view.ts'

/** What deleting an account asks of accounts. */
type Accounts = {
  hasPassword: (actor: Actor) => Promise<boolean>
  proveSelf: (actor: Actor, proof: { password?: string | undefined; confirm?: string | undefined }) => Promise<void>
}

const config = { access: 'user' } as const
const PATH = '/account/deletion'
/** Longer than any password that can be set: it is hashed to be compared. */
const Proof = z.object({ password: z.string().max(1_024), confirm: z.string().max(1_024) })
const NOTHING_TYPED: DeletionTyped = { decisions: {}, confirm: '' }

const mustDecide = ({ organizations }: DeletionPreview) => organizations.filter(one => one.mustDecide)

const readDecisions = (preview: DeletionPreview, body: unknown): Record<string, string> => {
  const ids = mustDecide(preview).map(({ id }) => id)
  const form = parseForm(Object.fromEntries(ids.map(id => [decisionField(id), formText])), body)
  return Object.fromEntries(ids.map(id => [id, form[decisionField(id)] ?? '']))
}

const assertDecided = (decisions: Readonly<Record<string, string>>): void => {
  const errors = Object.entries(decisions)
    .filter(([, decision]) => decision === '')
    .map(([id]) => ({ path: decisionPath(id), message: 'is missing: say what becomes of it' }))
  if (errors.length > 0) throw new AppError('invalid_request', 'Say what becomes of your organizations.', { errors })
}

/** The end of one's account: what becomes of things, then the proof that it is oneself. */
export const accountDeletionPages =
  ({ accountDeletion, accounts }: { accountDeletion: AccountDeletion; accounts: Accounts }) =>
  async (app: FastifyInstance): Promise<void> => {
    const pageFor = async (request: FastifyRequest, preview: DeletionPreview, typed: DeletionTyped) => {
      const actor = actorOf(request)
      return toDeletionPage(preview, { hasPassword: await accounts.hasPassword(actor), email: actor.email, typed })
    }

    app.get(PATH, { config }, async (request, reply) =>
      showForm(reply, await pageFor(request, await accountDeletion.previewDeletion(actorOf(request)), NOTHING_TYPED)),
    )

    app.post(PATH, { config }, async (request, reply) => {
      const actor = actorOf(request)
      const preview = await accountDeletion.previewDeletion(actor)
      const form = parseForm({ password: formText, confirm: formText }, request.body)
      const decisions = readDecisions(preview, request.body)
      const page = await pageFor(request, preview, { decisions, confirm: form.confirm })
      return submitForm(reply, page, async () => {
        assertDecided(decisions)
        await accounts.proveSelf(actor, parseInput(Proof, form))
        await accountDeletion.deleteAccount(actor, decisions)
        if (request.signedInBy === 'session') await endSession(request, reply)
        return reply.page('organizations/account-deleted', { title: 'Your account is deleted', email: actor.email })
      })
    })
  }
