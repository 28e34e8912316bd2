import { createStop, type Stop, type StopSignal } from '../kernel/stop-signal.ts'

type Flight<Value> = { result: Promise<Value>; stop: Stop; waiting: number }
/** `isCurrent` returns whether other callers may still join. It returns false after `forget`. */
type Work<Value> = (stop: StopSignal, isCurrent: () => boolean) => Promise<Value>

/** Runs work once per key at a time. Callers with the same key share the current run. */
export const createSingleFlight = <Value>() => {
  const flights = new Map<string, Flight<Value>>()

  const start = (key: string, work: Work<Value>): Flight<Value> => {
    const stop = createStop()
    const isCurrent = (): boolean => flights.get(key) === flight
    const result = work(stop, isCurrent).finally(() => {
      if (isCurrent()) flights.delete(key)
    })
    const flight: Flight<Value> = { result, stop, waiting: 0 }
    flights.set(key, flight)
    return flight
  }

  return {
    /** Returns the result of the current run, if there is one. */
    find: (key: string): Promise<Value> | undefined => flights.get(key)?.result,
    run: (key: string, work: Work<Value>): Promise<Value> => {
      const flight = flights.get(key) ?? start(key, work)
      flight.waiting++
      return flight.result
    },
    /** Like `run`, but resolves with undefined if `signal` aborts first. Stops the work when no caller waits for it. */
    join: async (key: string, signal: StopSignal | undefined, work: Work<Value>): Promise<Value | undefined> => {
      const flight = flights.get(key) ?? start(key, work)
      const { promise: aborted, resolve } = Promise.withResolvers<undefined>()
      const leave = (): void => resolve(undefined)
      signal?.addEventListener('abort', leave, { once: true })
      flight.waiting++
      try {
        return await Promise.race([flight.result, aborted])
      } finally {
        signal?.removeEventListener('abort', leave)
        flight.waiting--
        if (flight.waiting === 0) {
          if (flights.get(key) === flight) flights.delete(key)
          flight.stop.abort()
        }
      }
    },
    /** Makes later callers start new runs for keys that begin with `prefix`. Current callers still get their result. */
    forget: (prefix = ''): void => {
      for (const key of flights.keys()) if (key.startsWith(prefix)) flights.delete(key)
    },
    /** Resolves when all current runs have ended. */
    settle: async (): Promise<void> => {
      await Promise.allSettled([...flights.values()].map(({ result }) => result))
    },
    /** Returns how many callers are waiting, excluding those of forgotten runs. */
    waiting: (): number => [...flights.values()].reduce((sum, { waiting }) => sum + waiting, 0),
  }
}
