/** What a call holds, such as memory, until it has ended. Each release is called once, at once if it has ended. */
export type Releases = { add: (release: () => void) => void; end: () => void }

export const createReleases = (): Releases => {
  let added: (() => void)[] | undefined = []
  return {
    add: release => {
      if (added === undefined) release()
      else added.push(release)
    },
    end: () => {
      const ended = added ?? []
      added = undefined
      for (const release of ended) release()
    },
  }
}
