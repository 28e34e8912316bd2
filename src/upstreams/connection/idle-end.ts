export type IdleEndOptions = {
  idleMs: number
  /** Whether something is under way that must not be cut off. */
  isBusy: () => boolean
  onIdle: () => void
}

/** Tells when nothing has happened for a while, and nothing is under way. */
export const createIdleEnd = ({ idleMs, isBusy, onIdle }: IdleEndOptions) => {
  let timer: NodeJS.Timeout | undefined
  let holds = 0

  const look = (): void => {
    timer = undefined
    if (holds > 0 || isBusy()) touch()
    else onIdle()
  }
  /** Something happened: the time begins anew. */
  const touch = (): void => {
    if (timer !== undefined) {
      timer.refresh()
      return
    }
    timer = setTimeout(look, idleMs)
    timer.unref()
  }

  return {
    touch,
    stop: (): void => {
      clearTimeout(timer)
      timer = undefined
    },
    /** Not idle until let go. */
    hold: (): (() => void) => {
      let isHeld = true
      holds++
      return () => {
        if (isHeld) holds--
        isHeld = false
      }
    },
  }
}
