import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callText, connect } from '../servers/mcp.ts'
import { makeServer, signUp } from '../support/api-client.ts'
import { answerJson } from '../support/fake-api.ts'
import { signInToPages } from '../support/signed-in.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

const rows = Array.from({ length: 2_000 }, (_, id) => ({ id, town: `Town ${id}` }))
const Tokens = z.object({ counted: z.int(), tokensBefore: z.int(), tokensSent: z.int(), tokensSaved: z.int() })
const format = (count: number): string => count.toLocaleString('en')

describe('the token figures on the pages of a server', () => {
  const patchbay = runPatchbay()
  const api = runFakeApi((_request, response) => answerJson(response, { rows }))
  const owner = runUser(patchbay)

  const signIn = (email: string) => signInToPages(patchbay.origin, email)
  const serve = async () => {
    const tools = [{ name: 'towns', method: 'GET', url: `${api.origin}/towns` }]
    const { serverId, url } = await makeServer(owner, tools, { server: { maxResponseTokens: 1_000 } })
    const read = async () => Tokens.parse((await owner.expectOk('GET', `/servers/${serverId}/executions/tokens`)).body)
    return { path: `/servers/${serverId}`, url, read }
  }

  it('are shown per call, tool and day, and in total', async () => {
    const { path, url, read } = await serve()
    await callText(await connect(url), 'towns')
    await expect.poll(async () => (await read()).counted, { timeout: 20_000 }).toBe(1)
    const { tokensBefore, tokensSent, tokensSaved } = await read()
    const person = await signIn(owner.email)
    const { html: history } = await person.get(`${path}/history`)
    expect(history).toContain(`${format(tokensSent)} of ${format(tokensBefore)}`)
    const [, href = ''] = /href="([^"]*\/history\/[^"]+)"/.exec(history) ?? []
    expect((await person.get(href)).html).toContain(`<dd>${format(tokensSent)} of ${format(tokensBefore)}</dd>`)
    const { html: overview } = await person.get(path)
    expect(overview).toContain('Response tokens, last 30 days')
    expect(overview).toContain('Counted with o200k_base')
    expect(overview).toContain('All 1 tool call measured.')
    expect(overview.split(format(tokensSaved)).length - 1).toBe(3)
  })

  it('say how many calls were not measured', async () => {
    const { db } = patchbay.services
    const { path, url, read } = await serve()
    const client = await connect(url)
    await callText(client, 'towns')
    await expect.poll(async () => (await read()).counted, { timeout: 20_000 }).toBe(1)
    await db.toolDay.updateMany({ where: { serverId: path.slice('/servers/'.length) }, data: { calls: 1_500 } })
    const { html } = await (await signIn(owner.email)).get(path)
    expect(html).toContain('1 of 1,500 tool calls measured; the others are not included in these figures.')
  })

  it('are empty without calls, and hidden from other users', async () => {
    const { path } = await serve()
    expect((await (await signIn(owner.email)).get(path)).html).not.toContain('Response tokens')
    const eve = await signIn((await signUp(patchbay.origin)).email)
    expect((await eve.get(path)).status).toBe(404)
  })
})
