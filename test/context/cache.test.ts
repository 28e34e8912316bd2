import { describe, expect, it } from 'vitest'
import { ABOUT, createCacheWorld, newHolder } from './cache-world.ts'

const SERVER = 'server-1'

describe('an answer that is kept', () => {
  it('is found by its holder, byte for byte, with what was said of it', async () => {
    const { cache } = createCacheWorld()
    const holder = newHolder()
    const bytes = Uint8Array.from([0, 255, 254, 10, 13])
    const id = (await cache.keep({ serverId: SERVER, holder, content: bytes, about: ABOUT })) ?? ''
    expect(id).toMatch(/^[A-Za-z0-9_-]{22}$/)
    const found = await cache.find(SERVER, holder, id)
    expect([...(found?.bytes ?? [])]).toEqual([...bytes])
    expect(found?.about).toEqual(ABOUT)
  })
})
