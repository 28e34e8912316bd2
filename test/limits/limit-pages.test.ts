import { describe, expect, it } from 'vitest'
import { databasesOfRun } from '../support/databases.ts'
import { signInToPages, textOf } from '../support/signed-in.ts'
import { runFakeApi, runPatchbay } from '../support/world.ts'
import { callTool, makeLimitedServer } from './limits-world.ts'

const NOON = Date.UTC(2026, 10, 28, 12)

describe.each(databasesOfRun)('the page of limits on $kind', kind => {
  const world = runPatchbay({ kind, services: { limitClock: () => NOON } })
  const api = runFakeApi()

  it('adds a limit, shows how much of it is used, changes and removes it', async () => {
    const owner = await world.person()
    const person = await signInToPages(world.origin, owner.email)
    const { url, serverId } = await makeLimitedServer(owner, api.origin)
    const path = `/organizations/${owner.organizationId}/limits`
    expect(textOf((await person.get(path)).html)).toContain('No limits')
    const submit = async (action: string, fields: Record<string, string>): Promise<string> => {
      expect((await person.submit(action, fields)).status).toBe(303)
      return textOf((await person.get(path)).html)
    }
    const limit = { count: 'calls day', target: `server ${serverId}`, amount: '1,000' }
    expect(await submit(path, limit)).toMatch(/1,000 calls per day\s+Server Server\s+0 of 1,000/)
    await callTool(url, owner.token)
    const { html } = await person.get(path)
    expect(textOf(html)).toContain('1 of 1,000')
    expect(html).toContain('<time datetime="2026-11-29T00:00:00.000Z"')
    const limitPath = /href="(\/organizations\/[\w-]+\/limits\/[\w-]+)"/.exec(html)?.[1] ?? ''
    expect(await submit(limitPath, { amount: '1' })).toMatch(/1 of 1\s+Reached/)
    expect(await callTool(url, owner.token)).toContain('for this server')
    expect(await submit(`${limitPath}/removal`, {})).toContain('No limits')
    expect(await callTool(url, owner.token)).toBeUndefined()
  })

  it('says what is wrong with an amount, and keeps what was typed', async () => {
    const owner = await world.person()
    const person = await signInToPages(world.origin, owner.email)
    const path = `/organizations/${owner.organizationId}/limits`
    await person.get(path)
    for (const [amount, message] of [
      ['many', 'must be a number'],
      ['1.5', 'must be a whole number'],
    ] as const) {
      const refused = await person.submit(path, { count: 'tokens day', target: 'user', amount })
      expect(refused.status).toBe(400)
      expect(refused.html).toContain(message)
      expect(refused.html).toContain(`value="${amount}"`)
      expect(refused.html).toContain('<option value="tokens day" selected>')
    }
  })
})
