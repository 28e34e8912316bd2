import type { Logger } from '../platform/logger.ts'
import { createEmailChange } from './email-change.ts'
import { createEmailVerification } from './email-verification.ts'
import type { MailFlowParts } from './mail-parts.ts'
import { createMailedLinks } from './mailed-links.service.ts'
import { createPasswordChange } from './password-change.ts'
import { createPasswordReset } from './password-reset.ts'
import { createPostbox } from './postbox.ts'

export type MailFlowsParts = Omit<MailFlowParts, 'postbox' | 'links'> & { logger: Pick<Logger, 'error'> }

/** What goes by mail, and what a letter tells of; `settle` waits for the letters under way. */
export const createMailFlows = ({ logger, ...rest }: MailFlowsParts) => {
  const postbox = createPostbox(logger)
  const parts: MailFlowParts = { ...rest, postbox, links: createMailedLinks(rest) }
  const { welcome, ...verification } = createEmailVerification(parts)
  return {
    welcome,
    operations: {
      ...verification,
      ...createPasswordReset(parts),
      ...createPasswordChange(parts),
      ...createEmailChange(parts),
      /** Whether letters reach people, or wait in the outbox for the operator. */
      isMailDelivered: rest.mailer.isDelivering,
    },
    settle: postbox.settle,
  }
}
