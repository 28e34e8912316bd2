import { formatCount } from '../../lib/kernel/format.ts'
import type { Mail } from '../../lib/mail/mailer.ts'
import type { FoundChanges } from './toolkit-source.ts'

/** Returns what a check found in words: `3 tools changed, 1 breaking, 2 operations added`. */
export const describeFound = ({ changed, breaking, added, gone }: FoundChanges): string =>
  [
    ...(changed > 0 ? [`${formatCount(changed, 'tool')} changed`] : []),
    ...(gone > 0 ? [`${formatCount(gone, 'tool')} without its operation`] : []),
    ...(breaking > 0 ? [`${breaking} breaking`] : []),
    ...(added > 0 ? [`${formatCount(added, 'operation')} added`] : []),
  ].join(', ')

/** The contents of an email about changes in the source of a toolkit. They are reviewed on the page at `link`. */
type ChangeEmail = { to: string; toolkit: string; url: string; found: FoundChanges; link: string }

export const changedSourceEmail = ({ to, toolkit, url, found, link }: ChangeEmail): Mail => ({
  to,
  subject: `The API of ${toolkit} has changed: ${describeFound(found)}`,
  text: `${[
    `The API description of the toolkit "${toolkit}" on Patchbay has changed: ${describeFound(found)}.`,
    `It was read from ${url}.`,
    `To review the changes and import them, open this page:\n${link}`,
    'Nothing has changed in your tools. You get this email once for each change of the description.',
  ].join('\n\n')}\n`,
})
