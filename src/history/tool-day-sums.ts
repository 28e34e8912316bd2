import { RESERVED_TOOL_PREFIX } from '../lib/kernel/names.ts'

/** Amounts to add to the row of a tool and day. */
export type ToolDaySum = {
  serverId: string
  day: string
  tool: string
  calls: number
  counted: number
  estimated: number
  tokensSent: number
  tokensBefore: number
  succeeded: number
  /** The most tokens of a 2xx response: a maximum, not a sum. */
  largest: number
}

type Key = Pick<ToolDaySum, 'serverId' | 'day' | 'tool'>
type Amounts = Partial<Omit<ToolDaySum, keyof Key>>

type NamedCall = { instanceId: string | null; outcome: string; tool: string }

/**
 * Whether a call counts towards its tool's sums, which outlive the history. The name of an upstream's tool is
 * whatever the caller sent, so failed calls with unknown names are not counted: there could be any number of them.
 */
export const isNameKnown = ({ instanceId, outcome, tool }: NamedCall): boolean =>
  instanceId !== null || outcome === 'ok' || tool.startsWith(RESERVED_TOOL_PREFIX)

/** Whether a call proves something about the size of the tool's responses: errors tend to be short. */
export const isSuccess = (status: number | null): boolean => status !== null && status >= 200 && status < 300

/** Creates the sums for the calls of one batch, by tool and day. Skips passthrough requests, which call no tool. */
export const createToolDaySums = () => {
  const sums = new Map<string, ToolDaySum>()
  return {
    add: (
      { serverId, day, tool }: Key,
      { calls = 0, counted = 0, estimated = 0, tokensSent = 0, tokensBefore = 0, succeeded = 0, largest = 0 }: Amounts,
    ): void => {
      if (tool === '') return
      const key = `${serverId} ${day} ${tool}`
      const none = { calls: 0, counted: 0, estimated: 0, tokensSent: 0, tokensBefore: 0 }
      const sum = sums.get(key) ?? { serverId, day, tool, ...none, succeeded: 0, largest: 0 }
      sums.set(key, sum)
      sum.calls += calls
      sum.counted += counted
      sum.estimated += estimated
      sum.tokensSent += tokensSent
      sum.tokensBefore += tokensBefore
      sum.succeeded += succeeded
      sum.largest = Math.max(sum.largest, largest)
    },
    list: (): Iterable<ToolDaySum> => sums.values(),
  }
}

export type ToolDaySums = ReturnType<typeof createToolDaySums>
