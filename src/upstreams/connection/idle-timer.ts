export type IdleTimerOptions = {
  idleMs: number
  /** Whether something is in progress that must not be interrupted. */
  isBusy: () => boolean
  onIdle: () => void
}

/** Calls `onIdle` after a time without activity, unless something is in progress. */
export const createIdleTimer = ({ idleMs, isBusy, onIdle }: IdleTimerOptions) => {
  let timer: NodeJS.Timeout | undefined
  let holdCount = 0

  const check = (): void => {
    timer = undefined
    if (holdCount > 0 || isBusy()) touch()
    else onIdle()
  }
  /** Restarts the time. */
  const touch = (): void => {
    if (timer !== undefined) {
      timer.refresh()
      return
    }
    timer = setTimeout(check, idleMs)
    timer.unref()
  }

  return {
    touch,
    stop: (): void => {
      clearTimeout(timer)
      timer = undefined
    },
    /** Prevents idleness until released. */
    hold: (): (() => void) => {
      let isHeld = true
      holdCount++
      return () => {
        if (isHeld) holdCount--
        isHeld = false
      }
    },
  }
}
