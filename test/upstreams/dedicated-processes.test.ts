import { describe, expect, it, onTestFinished } from 'vitest'
import { createDedicatedConnections } from '../../src/upstreams/conversation/dedicated-connections.ts'
import type { Upstream } from '../../src/upstreams/upstream.ts'
import { commandOf, openUpstream, startProcesses } from './support.ts'

const COMMAND = commandOf('talks-old')
const UPSTREAM: Upstream = {
  id: 'any',
  serverId: 'any',
  name: 'any',
  description: undefined,
  isEnabled: true,
  config: {
    ...COMMAND,
    timeoutMs: 1_000,
    isEager: false,
    features: { tools: true, resources: true, prompts: true },
    auth: { type: 'none' },
  },
  responseTokens: {},
  toolAnswers: {},
  createdAt: new Date(),
  updatedAt: new Date(),
}
const UPSTREAM_COUNT = 10

/** Creates dedicated connections to commands, which are not started. The organizations have ten upstreams each. */
const startDedicated = () => {
  const processes = startProcesses()
  const dedicated = createDedicatedConnections({
    onAccessChanged: () => () => {},
    onReplaced: () => () => {},
    openDedicated: () => openUpstream(COMMAND, { processes }),
    resolvedOf: id => ({ secrets: [], organizationId: id.split('/')[0] }),
    upstreamOf: () => UPSTREAM,
  })
  onTestFinished(dedicated.close)
  let clients = 0
  return {
    share: (organization: string, userId: string | undefined) => {
      const client = clients++
      const upstreamId = `${organization}/${client % UPSTREAM_COUNT}`
      return dedicated.share(upstreamId, { key: `client ${client}`, capabilities: {}, userId })
    },
    count: (organization: string): number =>
      Array.from({ length: UPSTREAM_COUNT }, (_, index) => dedicated.listOf(`${organization}/${index}`).length).reduce(
        (sum, length) => sum + length,
      ),
  }
}

describe('the processes of clients', () => {
  it('are limited for all anonymous callers together, whatever commands they use', () => {
    const { share, count } = startDedicated()
    const used = Array.from({ length: 25 }, () => share('one', undefined))
    expect(() => share('one', undefined)).toThrow('All 25 dedicated connections are in use')
    share('one', 'ann')
    share('two', undefined)
    expect(count('one')).toBe(26)
    for (const { release } of used) release('ended')
    share('one', undefined)
    expect(count('one')).toBe(26)
  })

  it('are limited for an organization and in total, and make no room for other organizations', () => {
    const { share, count } = startDedicated()
    for (const organization of ['one', 'two']) {
      for (const user of ['ann', 'bob', 'eve']) {
        for (let times = 0; times < 25; times++) share(organization, user).release('ended')
      }
      expect(count(organization)).toBe(50)
    }
    expect(() => share('three', 'ann')).toThrow('All 100 dedicated connections are in use')
    expect([count('one'), count('two')]).toEqual([50, 50])
    share('one', 'dan')
    expect([count('one'), count('two')]).toEqual([50, 50])
  })
})
