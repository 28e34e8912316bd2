import { z } from 'zod'

export type LiveEvent = { event: string; data: unknown }

/**
 * Reads server-sent events as EventSource does. `next` resolves with the next event of that name, whether or not it has
 * already been received.
 */
export const readEvents = async (url: string, headers: Record<string, string>) => {
  const controller = new AbortController()
  const response = await fetch(url, {
    headers: { ...headers, accept: 'text/event-stream' },
    redirect: 'manual',
    signal: controller.signal,
  })
  const seen: LiveEvent[] = []
  let waiting: (() => void)[] = []
  let isClosed = false

  const take = (block: string): void => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
    const event = field('event')
    const data = field('data')
    if (event !== undefined && data !== undefined) seen.push({ event, data: JSON.parse(data) })
  }
  const wake = (): void => {
    for (const resolve of waiting) resolve()
    waiting = []
  }
  const read = async (): Promise<void> => {
    let rest = ''
    const decoder = new TextDecoder()
    try {
      for await (const chunk of response.body ?? []) {
        rest += decoder.decode(chunk, { stream: true })
        const blocks = rest.split('\n\n')
        rest = blocks.pop() ?? ''
        for (const block of blocks) take(block)
        wake()
      }
    } catch (error) {
      if (!controller.signal.aborted) throw error
    } finally {
      isClosed = true
      wake()
    }
  }
  const closed = response.status === 200 ? read() : Promise.resolve()

  return {
    status: response.status,
    headers: response.headers,
    seen,
    /** Resolves when the stream has ended. */
    closed,
    close: () => controller.abort(),
    next: async <T extends z.ZodType>(event: string, schema: T): Promise<z.output<T>> => {
      for (;;) {
        const at = seen.findIndex(one => one.event === event && schema.safeParse(one.data).success)
        const [found] = at === -1 ? [] : seen.splice(at, 1)
        if (found !== undefined) return schema.parse(found.data)
        if (isClosed) throw new Error(`the stream ended without the event "${event}"`)
        await new Promise<void>(resolve => waiting.push(resolve))
      }
    },
  }
}

/** Returns a schema that matches a `calls` event containing a call of this tool. */
export const callsOf = (tool: string) =>
  z.object({
    first: z.string(),
    calls: z.array(z.looseObject({ tool: z.string() })).refine(calls => calls.some(call => call.tool === tool)),
  })
export const Text = z.looseObject({ text: z.string() })
