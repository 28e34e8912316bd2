import type { Actor, JsonObject } from '../../kernel/index.ts'

/** Everything that the audit log tells apart, as `thing.what_happened`. */
export const AUDIT_ACTIONS = [
  'user.signed_up',
  'user.signed_in',
  'user.sign_in_failed',
  'user.signed_out',
  'user.email_verified',
  'user.email_changed',
  'user.password_changed',
  'user.password_reset',
  'user.second_factor_added',
  'user.second_factor_removed',
  'user.recovery_codes_made',
  'user.recovery_code_used',
  'user.identity_linked',
  'user.identity_unlinked',
  'user.removed',
  'session.ended',
  'token.created',
  'token.removed',
  'organization.created',
  'organization.renamed',
  'organization.removed',
  'member.added',
  'member.role_changed',
  'member.removed',
  'invitation.created',
  'invitation.accepted',
  'invitation.removed',
  'toolkit.created',
  'toolkit.visibility_changed',
  'toolkit.transferred',
  'toolkit.removed',
  'server.created',
  'server.access_changed',
  'server.transferred',
  'server.removed',
  'secret.set',
  'secret.removed',
  'oauth_client.created',
  'oauth_client.changed',
  'oauth_client.removed',
  'grant.created',
  'grant.removed',
  'grant.misused',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** Who did it: a signed-in actor, or what is known of somebody who is not (or not yet). */
export type AuditActor = Pick<Actor, 'address'> & { userId?: string | undefined; email?: string | undefined }

export type AuditRecord = {
  action: AuditAction
  /** Undefined: the command line, or Patchbay itself. */
  actor: AuditActor | undefined
  /** Whose log it stands in. Left out: the installation's, such as of sign-ins. */
  organizationId?: string | undefined
  target: { type: string; id?: string | undefined; name?: string | undefined }
  /** What is different now, as `{field: {from, to}}` or the facts of it. Never a secret, a token or a password. */
  change?: JsonObject | undefined
}
