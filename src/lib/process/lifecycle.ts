import type { Chore } from './upkeep.ts'

type Close = () => void | Promise<void>

/** Collects recurring chores, and what to close when the process ends or fails to start. */
export type Lifecycle = {
  onClose: (close: Close) => void
  addChores: (...chores: readonly Chore[]) => void
  chores: readonly Chore[]
  /** Closes everything in reverse order of opening. Throws the first error once all have been tried. */
  close: () => Promise<void>
}

export const createLifecycle = (): Lifecycle => {
  const open: Close[] = []
  const chores: Chore[] = []
  return {
    onClose: close => void open.push(close),
    addChores: (...added) => void chores.push(...added),
    chores,
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
