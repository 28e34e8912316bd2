import { databaseBusy } from './failures.ts'

/**
 * One at a time, in the order of asking. `take` waits for its turn until `deadline` (of `performance.now()`) and
 * throws an AppError `unavailable` after it; who took must call `pass` exactly once.
 */
export const createTurns = () => {
  const waiting: (() => void)[] = []
  let isTaken = false
  const take = (deadline: number): Promise<void> => {
    if (!isTaken) {
      isTaken = true
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const enter = () => {
        clearTimeout(timer)
        resolve()
      }
      const leave = () => {
        waiting.splice(waiting.indexOf(enter), 1)
        reject(databaseBusy())
      }
      const timer = setTimeout(leave, Math.max(0, deadline - performance.now()))
      waiting.push(enter)
    })
  }
  const pass = (): void => {
    const next = waiting.shift()
    if (next) next()
    else isTaken = false
  }
  return { take, pass }
}
