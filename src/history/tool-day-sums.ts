import { RESERVED_TOOL_PREFIX } from '../lib/kernel/names.ts'

/** What is added to the row of one tool and day. */
export type ToolDaySum = {
  serverId: string
  /** Such as `2026-11-22`. */
  day: string
  tool: string
  calls: number
  counted: number
  tokensSent: number
  tokensBefore: number
}

type Key = Pick<ToolDaySum, 'serverId' | 'day' | 'tool'>
type Amounts = Partial<Omit<ToolDaySum, keyof Key>>

type NamedCall = { instanceId: string | null; outcome: string; tool: string }

/**
 * Whether the name of a call's tool may have sums, which outlive history. Of a tool that only an upstream knows it is
 * what the caller wrote: one that failed may be made up, and there is no end of those.
 */
export const isNameKnown = ({ instanceId, outcome, tool }: NamedCall): boolean =>
  instanceId !== null || outcome === 'ok' || tool.startsWith(RESERVED_TOOL_PREFIX)

/** Adds up the calls of one batch, so that each tool and day is one row to write. Requests that were passed on call no tool. */
export const createToolDaySums = () => {
  const sums = new Map<string, ToolDaySum>()
  return {
    add: (
      { serverId, day, tool }: Key,
      { calls = 0, counted = 0, tokensSent = 0, tokensBefore = 0 }: Amounts,
    ): void => {
      if (tool === '') return
      const key = `${serverId} ${day} ${tool}`
      const sum = sums.get(key)
      if (sum === undefined) {
        sums.set(key, { serverId, day, tool, calls, counted, tokensSent, tokensBefore })
        return
      }
      sum.calls += calls
      sum.counted += counted
      sum.tokensSent += tokensSent
      sum.tokensBefore += tokensBefore
    },
    list: (): Iterable<ToolDaySum> => sums.values(),
  }
}

export type ToolDaySums = ReturnType<typeof createToolDaySums>
