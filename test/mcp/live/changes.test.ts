import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { callText, connect, toolNames } from '../../servers/mcp.ts'
import { makeServer } from '../../support/api-client.ts'
import { databasesOfRun } from '../../support/databases.ts'
import { answerJson } from '../../support/fake-api.ts'
import { runFakeApi, runPatchbay, runUser } from '../../support/world.ts'
import { beginSession, nextMessage, openStream, post } from '../wire.ts'

const CHANGES = 40
const CALLERS = 8
/** Timeout for tests with many steps, which are slow on a busy machine. */
const LONG_MS = 60_000

describe.each(databasesOfRun)('a change on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const fake = runFakeApi(async ({ url, headers }, response) => {
    if (url.startsWith('/slow')) await delay(20)
    answerJson(response, { url, key: headers['x-key'] ?? null })
  })
  const ada = runUser(patchbay)
  const tool = (path: string, name = 'tool') => ({
    name,
    method: 'GET',
    url: `${fake.origin}${path}`,
    headers: [{ name: 'X-Key', value: '{{key?}}' }],
  })
  const make = async (path = '/first') => {
    const made = await makeServer(ada, [tool(path)])
    const instance = `/instances/${made.instanceIds.tool}`
    return { ...made, instance, tool: `/tools/${made.toolIds.tool}` }
  }

  it('is live when its request returns: the next call sees it', { timeout: LONG_MS }, async () => {
    const { url, tool: toolPath, instance, serverId, toolIds } = await make()
    const client = await connect(url)
    for (let turn = 0; turn < 3; turn++) {
      await ada.expectOk('PATCH', toolPath, tool(`/turn-${turn}`))
      expect((await callText(client, 'tool')).text).toContain(`"/turn-${turn}"`)
      await ada.expectOk('PUT', `/servers/${serverId}/globals/key`, { value: `key-${turn}`, secret: false })
      await ada.expectOk('PATCH', instance, { bindings: { key: { source: 'server' } } })
      expect((await callText(client, 'tool')).text).toContain(`"key-${turn}"`)
      await ada.expectOk('PATCH', instance, { bindings: {} })
      expect((await callText(client, 'tool')).text).toContain('"key":null')
      const { id } = await ada.create(`/servers/${serverId}/instances`, { toolId: toolIds.tool, name: 'second' })
      expect(await toolNames(client)).toEqual(['second', 'tool'])
      await ada.expectOk('DELETE', `/instances/${id}`)
      expect(await toolNames(client)).toEqual(['tool'])
      await expect(callText(client, 'second')).rejects.toThrow(/second/)
    }
  })

  it('of a toolkit reaches every server that uses it', async () => {
    const { url, toolIds, tool: toolPath } = await make()
    const urls = [url]
    for (let count = 0; count < 3; count++) {
      const server = await ada.create('/servers', { name: 'More', access: 'public' })
      await ada.expectOk('POST', `/servers/${server.id}/instances`, { toolId: toolIds.tool, name: 'tool' })
      urls.push(`${patchbay.origin}/s/${server.id}`)
    }
    const clients = await Promise.all(urls.map(address => connect(address)))
    for (const client of clients) expect((await callText(client, 'tool')).text).toContain('/first')
    await ada.expectOk('PATCH', toolPath, tool('/edited'))
    for (const client of clients) expect((await callText(client, 'tool')).text).toContain('/edited')
  })

  it('of a tool’s name is notified on open streams of both session transports, and an invisible one is not', async () => {
    const { serverId, instance, tool: toolPath } = await make()
    const app = { port: patchbay.settings.port }
    const session = await beginSession(app, serverId)
    const get = await openStream(app, { path: `/s/${serverId}`, headers: session })
    onTestFinished(get.close)
    const sse = await openStream(app, { path: `/s/${serverId}/sse` })
    onTestFinished(sse.close)
    const endpoint = (await sse.next())?.data ?? ''
    expect(endpoint).toContain(`/s/${serverId}/messages?sessionId=`)

    await ada.expectOk('PATCH', toolPath, tool('/elsewhere'))
    await ada.expectOk('PATCH', instance, { name: 'renamed' })
    const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
    expect(await nextMessage(get)).toEqual(changed)
    expect(await nextMessage(sse)).toEqual(changed)
    // If the first change had been announced too, this would be the third notification.
    await ada.expectOk('PATCH', instance, { description: 'Described' })
    expect(await nextMessage(get)).toEqual(changed)
    await ada.expectOk('DELETE', `/servers/${serverId}`)
    expect(await nextMessage(get)).toBeUndefined()
    expect([get.isClean(), await nextMessage(sse), await nextMessage(sse)]).toEqual([true, changed, undefined])
  })

  it('fails no running call, however many there are', { timeout: LONG_MS }, async () => {
    const { url, tool: toolPath, instance } = await make('/slow/0')
    let isChanging = true
    const seen: { text: string; isError: boolean }[] = []
    const keepCalling = async () => {
      const client = await connect(url)
      while (isChanging) seen.push(await callText(client, 'tool'))
    }
    const callers = Array.from({ length: CALLERS }, keepCalling)
    for (let change = 1; change <= CHANGES; change++) {
      if (change % 2 === 0) await ada.expectOk('PATCH', toolPath, tool(`/slow/${change}`))
      else await ada.expectOk('PATCH', instance, { description: `Change ${change}` })
    }
    isChanging = false
    await Promise.all(callers)
    expect(seen.filter(({ isError, text }) => isError || !/"\/slow\/\d+"/.test(text))).toEqual([])
    expect(seen.length).toBeGreaterThan(CALLERS)
    expect((await callText(await connect(url), 'tool')).text).toContain(`/slow/${CHANGES}`)
  })

  it('that deletes a server makes its URL unknown', async () => {
    const { url, serverId } = await make()
    const app = { port: patchbay.settings.port }
    const session = await beginSession(app, serverId)
    const client = await connect(url)
    await ada.expectOk('DELETE', `/servers/${serverId}`)
    await expect(client.listTools()).rejects.toThrow()
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
    for (const headers of [session, {}]) expect((await post(app, serverId, ping, headers)).status).toBe(404)
  })
})
