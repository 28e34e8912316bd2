/** Creates a set of listeners. `notify` calls each listener, even if another one throws. */
export const createListeners = <Args extends readonly unknown[]>() => {
  const listeners = new Set<(...args: Args) => void>()
  return {
    /** Returns an unsubscribe function. */
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
          // Rethrow it as an unhandled error, so that it is not lost.
          queueMicrotask(() => {
            throw error
          })
        }
      }
    },
  }
}
