import { formatCount } from '../../lib/kernel/format.ts'
import type { Mail } from '../../lib/mail/mailer.ts'
import { describeFound, type FoundChanges } from './toolkit-source.ts'

/** The contents of an email about changes in the source of a toolkit. They are reviewed on the page at `link`. */
type ChangeEmail = { to: string; toolkit: string; url: string; found: FoundChanges; link: string }

export const changedSourceEmail = ({ to, toolkit, url, found, link }: ChangeEmail): Mail => ({
  to,
  subject: `The API of ${toolkit} has changed: ${describeFound(found)}`,
  text: `${[
    `The API description of the toolkit "${toolkit}" on Patchbay has changed:\n${url}`,
    `Importing it again would change ${formatCount(found.changed, 'tool')}. ${
      found.breaking === 0
        ? 'None of these changes would break calls that work now.'
        : `${formatCount(found.breaking, 'change')} may break calls that work now.`
    }`,
    `To review the changes, open this page and choose "Import again":\n${link}`,
    'Nothing has changed in your tools yet. You get one email for each change of the description.',
  ].join('\n\n')}\n`,
})
