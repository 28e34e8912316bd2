/** Functions that release the resources of a call, such as memory. `end` calls each once; `add` after `end` calls it at once. */
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
