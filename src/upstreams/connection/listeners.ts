/** Calls each listener, even if another one throws. */
export const createListeners = <T>() => {
  const listeners = new Set<(value: T) => void>()
  return {
    /** Returns an unsubscribe function. */
    add: (listener: (value: T) => void): (() => void) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
    notify: (value: T): void => {
      for (const listener of listeners) {
        try {
          listener(value)
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
