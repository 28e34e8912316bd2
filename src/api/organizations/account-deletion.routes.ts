import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { AccountService } from '../../identity/accounts.service.ts'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { orNull } from '../../lib/http/schemas.ts'
import { endSession } from '../../lib/http/sessions.ts'
import { ROLES } from '../../lib/kernel/roles.ts'
import type { AccountDeletion } from '../../tenancy/deletion/account-deletion.service.ts'
import { REMOVE } from '../../tenancy/deletion/deletion-plan.ts'

type Parts = { accountDeletion: AccountDeletion; accounts: Pick<AccountService, 'hasPassword' | 'proveSelf'> }

/** Limits for the request body. The password is hashed to check it, so its length is bounded. */
const MAX_PROOF_CHARACTERS = 1_024
const MAX_DECISIONS = 1_000

const DeleteAccount = z.strictObject({
  password: z.string().max(MAX_PROOF_CHARACTERS).optional().describe('required if the account has a password'),
  confirm: z
    .string()
    .max(MAX_PROOF_CHARACTERS)
    .optional()
    .describe("the account's email address, required if it has no password; needs a session"),
  organizations: z
    .record(z.uuid(), z.union([z.literal(REMOVE), z.uuid()]))
    .refine(decisions => Object.keys(decisions).length <= MAX_DECISIONS, `must be at most ${MAX_DECISIONS}`)
    .default({})
    .describe(
      `what happens to each organization of which you are the only owner: "${REMOVE}", or the user id of its next owner`,
    ),
})

const PersonView = z.object({ userId: z.uuid(), email: z.string(), role: z.enum(ROLES) })

const DeletionView = z
  .object({
    organizations: z.array(
      z.object({
        id: z.uuid(),
        name: z.string(),
        role: z.enum(ROLES),
        mustDecide: z.boolean().describe('you are the only owner, so "organizations" must include it'),
        otherMembers: z.array(PersonView),
        servers: z.int(),
        toolkits: z.int(),
      }),
    ),
    servers: z
      .array(
        z.object({
          id: z.uuid(),
          name: z.string(),
          organizationId: z.uuid(),
          passesTo: orNull(PersonView).describe('null if it depends on what happens to the organization'),
        }),
      )
      .describe('servers that you own'),
    hasPassword: z.boolean().describe('whether the password is required, otherwise the email address'),
    refusal: orNull(z.string()).describe('why the account cannot be deleted at all'),
  })
  .meta({ id: 'AccountDeletion' })

export const accountDeletionRoutes: FastifyPluginAsyncZod<Parts> = async (app, { accountDeletion, accounts }) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['account'] })

  routes.get(
    '/me/deletion',
    { summary: 'Preview the deletion of your account' },
    viewAsIs(DeletionView),
    async ({ actor }) => ({
      ...(await accountDeletion.previewDeletion(actor)),
      hasPassword: await accounts.hasPassword(actor),
    }),
  )
  routes.remove(
    '/me',
    { summary: 'Delete your account', body: DeleteAccount },
    async ({ actor, body: { organizations, ...proof }, request, reply }) => {
      await accounts.proveSelf(actor, proof)
      await accountDeletion.deleteAccount(actor, organizations)
      if (request.signedInBy === 'session') await endSession(request, reply)
    },
  )
}
