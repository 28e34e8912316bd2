/** Calls each listener, even if another one throws. */
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
          // Reported as an unhandled error instead of getting lost.
          queueMicrotask(() => {
            throw error
          })
        }
      }
    },
  }
}
