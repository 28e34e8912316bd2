import type { ExecutionTokens, Recorder } from '../../../src/history/execution-record.ts'

/** Stands in for the recorder: requests the waiting token counts in the next turn of the event loop. */
export const createCountingRecorder = (
  recordTokens: (tokens: ExecutionTokens) => void,
): Pick<Recorder, 'recordTokens' | 'countBeforeWrite' | 'noteUncounted'> => {
  let count = async (): Promise<void> => {}
  let isDue = false
  return {
    recordTokens,
    countBeforeWrite: counting => {
      count = counting
    },
    noteUncounted: () => {
      if (isDue) return
      isDue = true
      setImmediate(() => {
        isDue = false
        void count()
      })
    },
  }
}
