/** Creates a set of listeners. `notify` calls every listener, even if one of them throws. */
export const createListeners = <Args extends readonly unknown[]>() => {
  const listeners = new Set<(...args: Args) => void>()
  return {
    /** Adds a listener and returns a function that removes it. */
    add: (listener: (...args: Args) => void): (() => void) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
    notify: (...args: Args): void => {
      for (const listener of listeners) {
        try {
          listener(...args)
        } catch (error) {
          // Rethrows the error as an unhandled error, so that it is not lost.
          queueMicrotask(() => {
            throw error
          })
        }
      }
    },
  }
}
