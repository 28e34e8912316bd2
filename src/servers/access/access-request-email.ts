import type { Mail } from '../../lib/mail/mailer.ts'

/** The contents of an email that tells a server's owner about a request. The owner answers on the page at `link`. */
type RequestEmail = { to: string; asker: string; serverName: string; organizationName: string; link: string }

export const accessRequestEmail = ({ to, asker, serverName, organizationName, link }: RequestEmail): Mail => ({
  to,
  subject: `${asker} asks for access to ${serverName}`,
  text: `${[
    `${asker} asks for access to your private server "${serverName}" of the organization "${organizationName}" on Patchbay.`,
    `To allow or decline, open this page:\n${link}`,
    'If you do nothing, they get no access.',
  ].join('\n\n')}\n`,
})
