/** The value of a field in two versions, as displayed to people. */
export type VersionedText = { label: string; mine: string; theirs: string }

/** Browsers always send line breaks as CR LF. */
const plain = (text: string): string => text.replaceAll('\r\n', '\n').trim()
const orNothing = (text: string): string => (text === '' ? 'nothing' : text)

/**
 * Compares two versions for `/parts/versions`. Returns the rows that differ, and the labels of the rows that are equal
 * and not empty.
 */
export const compareVersions = (texts: readonly VersionedText[]) => {
  const all = texts.map(({ label, mine, theirs }) => ({ label, mine: plain(mine), theirs: plain(theirs) }))
  return {
    rows: all
      .filter(({ mine, theirs }) => mine !== theirs)
      .map(({ label, mine, theirs }) => ({ label, mine: orNothing(mine), theirs: orNothing(theirs) })),
    same: all.filter(({ mine, theirs }) => mine === theirs && mine !== '').map(({ label }) => label),
  }
}
export type Versions = ReturnType<typeof compareVersions>

/**
 * Parses the time of the last change from a form field. Returns undefined if the field is empty, in which case versions
 * are not compared. Returns a time older than any change if the text is not a time.
 */
export const parseVersion = (typed: string): Date | undefined => {
  if (typed === '') return undefined
  const time = new Date(typed)
  return Number.isNaN(time.getTime()) ? new Date(0) : time
}
