/** A field's value in two versions, as people read it. */
export type VersionedText = { label: string; mine: string; theirs: string }

/** Browsers send CR LF line ends, whatever was typed. */
const plain = (text: string): string => text.replaceAll('\r\n', '\n').trim()
const orNothing = (text: string): string => (text === '' ? 'nothing' : text)

/**
 * Compares two versions for `/parts/versions`: returns the rows that differ, and the labels of those that are the same.
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
 * Parses the time at which the object was last saved, as the form's sender saw it. Returns undefined for an empty
 * field, which skips the comparison, and a time older than any other if the text is not a time.
 */
export const parseVersion = (typed: string): Date | undefined => {
  if (typed === '') return undefined
  const time = new Date(typed)
  return Number.isNaN(time.getTime()) ? new Date(0) : time
}
