import type { Chore } from './upkeep.ts'

type Close = () => void | Promise<void>

/** Collects recurring chores, and the resources to close when the process ends or fails to start. */
export const createLifecycle = () => {
  const open: Close[] = []
  const chores: Chore[] = []
  return {
    onClose: (close: Close): void => void open.push(close),
    addChores: (...added: readonly Chore[]): void => void chores.push(...added),
    chores,
    /** Closes everything in reverse order of opening. Throws the first error after closing everything else. */
    close: async (): Promise<void> => {
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

export type Lifecycle = ReturnType<typeof createLifecycle>
