import { z } from 'zod'
import { nameUpTo, orNull, timeSchema } from '../lib/http/schemas.ts'
import { withoutRootDot } from '../lib/outbound/target.ts'
import { SUSPENDABLE } from './suspension.ts'

/** Maximum length of a reason. It is part of error messages. */
const MAX_REASON_CHARACTERS = 300

const reason = nameUpTo(MAX_REASON_CHARACTERS).describe('Shown to those concerned, such as members and callers')

export const NewSuspension = z.object({ reason })

const NO_ORIGIN = 'must be an origin such as https://api.example.com'
const MAX_ORIGIN_CHARACTERS = 300

/** An http or https origin. Accepts any URL there. */
const origin = z
  .string()
  .trim()
  .max(MAX_ORIGIN_CHARACTERS, NO_ORIGIN)
  .transform((text, context) => {
    const url = URL.parse(text)
    if (url !== null && ['http:', 'https:'].includes(url.protocol)) return withoutRootDot(url.origin)
    context.addIssue({ code: 'custom', message: NO_ORIGIN })
    return z.NEVER
  })

export const NewBlockedOrigin = z.object({ origin, reason })

export const SuspensionView = z
  .object({
    id: z.uuid(),
    kind: z.enum(SUSPENDABLE),
    name: z.string().describe('Email address of a user, or name of an organization or a server'),
    organizationId: orNull(z.uuid()).describe('Organization of a server'),
    reason: z.string(),
    since: timeSchema,
    suspendedById: orNull(z.uuid()).describe('The operator; null for the command line'),
  })
  .meta({ id: 'Suspension' })

export const BlockedOriginView = z
  .object({
    id: z.uuid(),
    origin: z.string(),
    reason: z.string(),
    createdById: orNull(z.uuid()).describe('The operator; null for the command line'),
    createdAt: timeSchema,
    updatedAt: timeSchema,
  })
  .meta({ id: 'BlockedOrigin' })
