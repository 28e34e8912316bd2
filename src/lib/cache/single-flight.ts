import { createStop, type Stop, type StopSignal } from '../kernel/stop-signal.ts'

type Flight<Value> = { group: string; waiting: number; stop: Stop; isCurrent: boolean; landed: Promise<Value> }

/** Work that is done once for all who want the same of it at the same time. */
export const createFlights = <Value>() => {
  const underWay = new Map<string, Flight<Value>>()

  const forget = (key: string, flight: Flight<Value>): void => {
    if (underWay.get(key) === flight) underWay.delete(key)
  }

  const take = (
    { group, key }: { group: string; key: string },
    start: (stop: StopSignal, isCurrent: () => boolean) => Promise<Value>,
  ): Flight<Value> => {
    const stop = createStop()
    const flight: Flight<Value> = {
      group,
      waiting: 0,
      stop,
      isCurrent: true,
      landed: start(stop, () => flight.isCurrent).finally(() => forget(key, flight)),
    }
    underWay.set(key, flight)
    return flight
  }

  return {
    /**
     * Waits for what is under way of this key, or starts it: `isOwn`. Rejects as the work does; answers undefined where
     * the signal comes first. The work ends early once nobody waits for it any more.
     */
    join: (
      of: { group: string; key: string },
      signal: StopSignal | undefined,
      start: (stop: StopSignal, isCurrent: () => boolean) => Promise<Value>,
    ): Promise<{ value: Value; isOwn: boolean } | undefined> => {
      const found = underWay.get(of.key)
      const isOwn = found === undefined
      const flight = found ?? take(of, start)
      flight.waiting++
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          flight.waiting--
          if (flight.waiting === 0) {
            forget(of.key, flight)
            flight.stop.abort()
          }
          resolve(undefined)
        }
        signal?.addEventListener('abort', leave, { once: true })
        const stay = (): void => signal?.removeEventListener('abort', leave)
        flight.landed.then(
          value => {
            stay()
            resolve({ value, isOwn })
          },
          (error: unknown) => {
            stay()
            reject(error)
          },
        )
      })
    },
    /** Lets those who wait have what they wait for, and nobody join them. Without a group: of all. */
    close: (group?: string): void => {
      for (const [key, flight] of underWay) {
        if (group !== undefined && flight.group !== group) continue
        flight.isCurrent = false
        underWay.delete(key)
      }
    },
    /** How many wait for work that others may join. */
    waiting: (): number => [...underWay.values()].reduce((sum, flight) => sum + flight.waiting, 0),
  }
}
