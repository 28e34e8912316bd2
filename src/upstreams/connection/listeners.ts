/** Those who want to hear of something; each is told, whatever another throws. */
export const createListeners = <T>() => {
  const listeners = new Set<(value: T) => void>()
  return {
    /** Answers how to stop hearing. */
    add: (listener: (value: T) => void): (() => void) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
    tell: (value: T): void => {
      for (const listener of listeners) {
        try {
          listener(value)
        } catch (error) {
          // Not ours to answer, and not to be lost: it ends up where unhandled errors do.
          queueMicrotask(() => {
            throw error
          })
        }
      }
    },
  }
}
