/** One thing that two versions say, as people read it. */
export type VersionedText = { label: string; mine: string; theirs: string }

/** Browsers send line ends as CR LF, whatever was typed. */
const plain = (text: string): string => text.replaceAll('\r\n', '\n').trim()
const orNothing = (text: string): string => (text === '' ? 'nothing' : text)

/** Two versions side by side, for `/parts/versions`: where they differ, and the names of what is the same in both. */
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
 * When what a form changes was last saved, as its sender saw it. Undefined where the form does not say, which asks for
 * no comparison; older than anything where what it says is no time.
 */
export const parseVersion = (typed: string): Date | undefined => {
  if (typed === '') return undefined
  const time = new Date(typed)
  return Number.isNaN(time.getTime()) ? new Date(0) : time
}
