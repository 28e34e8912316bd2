import type { Import } from '../../imports/import.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'
import { importPath } from './open-import.ts'

const STATE_TEXTS = {
  reading: { text: 'Reading', state: 'slow' },
  ready: { text: 'Not imported yet', state: 'slow' },
  applied: { text: 'Imported', state: 'good' },
  failed: { text: 'Failed', state: 'failed' },
} as const

/** Returns the name of an import's source: its title, file name or URL. */
export const sourceNameOf = ({ sourceName, sourceUrl, summary }: Import): string =>
  summary?.title ?? sourceName ?? sourceUrl ?? summary?.format ?? 'pasted text'

/** Returns an import as a row of a list. */
export const toImportRow = (found: Import) => ({
  href: importPath(found),
  name: sourceNameOf(found),
  started: shownTime(found.createdAt),
  status: STATE_TEXTS[found.state],
})
