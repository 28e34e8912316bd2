import type { Logger } from '../../lib/process/logger.ts'
import { createPasswordChange } from '../password-change.ts'
import { createEmailChange } from './email-change.ts'
import { createEmailVerification } from './email-verification.ts'
import type { MailFlowParts } from './mail-parts.ts'
import { createMailQueue } from './mail-queue.ts'
import { createMailedLinks } from './mailed-links.service.ts'
import { createPasswordReset } from './password-reset.ts'

export type MailFlowsParts = Omit<MailFlowParts, 'mailQueue' | 'links'> & { logger: Pick<Logger, 'error'> }

/** Combines the operations that send emails. `settle` waits for pending emails. */
export const createMailFlows = ({ logger, ...rest }: MailFlowsParts) => {
  const mailQueue = createMailQueue(logger)
  const parts: MailFlowParts = { ...rest, mailQueue, links: createMailedLinks(rest) }
  const { welcome, ...verification } = createEmailVerification(parts)
  return {
    welcome,
    operations: {
      ...verification,
      ...createPasswordReset(parts),
      ...createPasswordChange(parts),
      ...createEmailChange(parts),
      /** Whether emails are delivered, or only saved to the outbox for the operator. */
      isMailDelivered: rest.mailer.isDelivering,
    },
    settle: mailQueue.settle,
  }
}
