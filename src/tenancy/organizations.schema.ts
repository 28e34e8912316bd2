import { z } from 'zod'
import { Email } from '../identity/accounts.schema.ts'
import { readOnlyField, readOnlyTimes } from '../lib/http/pages/read-only.ts'
import { nameSchema, orNull, timeSchema } from '../lib/http/schemas.ts'
import { ROLES } from '../lib/kernel/roles.ts'

const role = z.enum(ROLES)
const times = { createdAt: timeSchema, updatedAt: timeSchema }

export const CreateOrganization = z.strictObject({ name: nameSchema })

/** Upper limits that fit into the column, and into a date. */
const keepCallsDays = z.int().min(1).max(36_500)
const keepCalls = z.int().min(1).max(1_000_000_000)

export const UpdateOrganization = z.strictObject({
  id: readOnlyField,
  role: readOnlyField,
  ...readOnlyTimes,
  name: nameSchema.optional(),
  keepCallsDays: keepCallsDays.nullish(),
  keepCalls: keepCalls.nullish(),
})

export const RemoveOrganization = z.strictObject({
  confirm: z.string().max(200).describe('the name of the organization'),
})

export const OrganizationView = z
  .object({
    id: z.uuid(),
    name: z.string(),
    role: role.describe('role of the requesting user'),
    keepCallsDays: orNull(z.int()).describe('days after which calls leave the history; null: never'),
    keepCalls: orNull(z.int()).describe('how many calls the history keeps, the newest; null: all'),
    ...times,
  })
  .meta({ id: 'Organization' })

export const ChangeRole = z.strictObject({ role })

export const RemoveMember = z
  .strictObject({
    serversTo: z
      .uuid()
      .optional()
      .describe('member who gets their servers; default: the user who removes them, or the oldest owner if they leave'),
  })
  .nullish()

export const MemberView = z
  .object({ id: z.uuid(), userId: z.uuid(), email: z.string(), role, ...times })
  .meta({ id: 'Member' })

export const CreateInvitation = z.strictObject({ email: Email, role })

export const AcceptInvitation = z.strictObject({ token: z.string().max(256).describe('from the link in the email') })

export const InvitationView = z
  .object({ id: z.uuid(), organizationId: z.uuid(), email: z.string(), role, expiresAt: timeSchema, ...times })
  .meta({ id: 'Invitation' })
