import { describe, expect, it } from 'vitest'
import { createEventBus } from '../../../src/lib/events/event-bus.ts'

const listening = () => {
  const logged: unknown[] = []
  const bus = createEventBus({ logger: { error: details => logged.push(details) } })
  return { bus, logged }
}

describe('the event bus', () => {
  it("notifies only listeners of the event's type, and waits for them", async () => {
    const { bus } = listening()
    const heard: string[] = []
    bus.subscribe('server_changed', async ({ serverId }) => {
      await Promise.resolve()
      heard.push(`changed ${serverId}`)
    })
    bus.subscribe('server_removed', ({ serverId }) => {
      heard.push(`removed ${serverId}`)
    })
    await bus.publish({ type: 'server_changed', serverId: 'a' })
    expect(heard).toEqual(['changed a'])
  })

  it('logs a failing listener and notifies the others', async () => {
    const { bus, logged } = listening()
    const heard: string[] = []
    bus.subscribe('resync', () => {
      throw new Error('at once')
    })
    bus.subscribe('resync', () => Promise.reject(new Error('later')))
    bus.subscribe('resync', () => {
      heard.push('resync')
    })
    await bus.publish({ type: 'resync' })
    expect(heard).toEqual(['resync'])
    expect(logged).toHaveLength(2)
  })

  it('does not notify listeners that unsubscribed', async () => {
    const { bus } = listening()
    const heard: string[] = []
    const unsubscribe = bus.subscribe('resync', () => {
      heard.push('resync')
    })
    unsubscribe()
    unsubscribe()
    await bus.publish({ type: 'resync' })
    expect(heard).toEqual([])
  })
})
