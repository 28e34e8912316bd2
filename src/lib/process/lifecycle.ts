type Close = () => void | Promise<void>

/** Collects what must be closed when the process ends or a start fails. */
export type Lifecycle = {
  onClose: (close: Close) => void
  /** Closes everything in reverse order of opening. Throws the first error once all have been tried. */
  close: () => Promise<void>
}

export const createLifecycle = (): Lifecycle => {
  const open: Close[] = []
  return {
    onClose: close => void open.push(close),
    close: async () => {
      const errors: unknown[] = []
      for (let close = open.pop(); close !== undefined; close = open.pop()) {
        try {
          await close()
        } catch (error) {
          errors.push(error)
        }
      }
      if (errors.length > 0) throw errors[0]
    },
  }
}
