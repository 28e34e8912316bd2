import { request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { makeServer, signUp } from '../support/api-client.ts'
import { signInToPages } from '../support/signed-in.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'
const HOSTILE = '<script>alert(1)</script>'

describe('a server’s address in a browser', () => {
  const patchbay = runPatchbay()
  const api = runFakeApi()
  const owner = runUser(patchbay)

  const make = async (access: string, name = 'Night desk') => {
    const tool = {
      name: 'track_it',
      title: HOSTILE,
      description: `Says where. ${HOSTILE}`,
      method: 'GET',
      url: `${api.origin}/`,
    }
    return makeServer(owner, [tool], { server: { name, description: `About ${HOSTILE}`, access } })
  }
  /** Requests a URL as a browser's address bar does, with the user's session. */
  const look = async (
    path: string,
    cookies: ReadonlyMap<string, string> = new Map(),
    accept = BROWSER,
    method = 'GET',
  ) => {
    const cookie = [...cookies].map(pair => pair.join('=')).join('; ')
    const headers = { accept, ...(cookie !== '' && { cookie }) }
    const response = await fetch(`${patchbay.origin}${path}`, { method, headers, redirect: 'manual' })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  const signIn = async ({ email }: { email: string }) => (await signInToPages(patchbay.origin, email)).cookies

  it('shows anyone what a public server is, how to connect, and its tools as escaped text', async () => {
    const { serverId, url } = await make('public', HOSTILE)
    const { status, headers, text } = await look(`/s/${serverId}`)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('vary')).toMatch(/\bAccept\b/)
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    for (const shown of ['track_it', 'Says where.', url, '&lt;script&gt;alert(1)', '1 tool'])
      expect(text).toContain(shown)
    expect(text).not.toContain('<script>alert')
    expect(text).not.toContain('Open in the dashboard')
    for (const spelled of [serverId.toUpperCase(), `${serverId}/`, `${serverId}/?list=2`, `${serverId}?list=2`]) {
      expect((await look(`/s/${spelled}`)).status).toBe(200)
    }
    expect((await look(`/s/${serverId}`, await signIn(owner))).text).toContain('Open in the dashboard')
  })

  it.each(['private', 'organization'])(
    'shows that a %s server exists, and details to users who may use it',
    async access => {
      const { serverId } = await make(access)
      const other = await signUp(patchbay.origin)
      for (const cookies of [undefined, await signIn(other)]) {
        const { status, text } = await look(`/s/${serverId}`, cookies)
        expect(status).toBe(403)
        expect(text).toContain('This is the address of an MCP server.')
        for (const hidden of ['Night desk', 'track_it', 'About']) expect(text).not.toContain(hidden)
      }
      expect((await look(`/s/${serverId}`)).text).toContain(`/sign-in?return_to=%2Fs%2F${serverId}`)
      const own = await look(`/s/${serverId}`, await signIn(owner))
      expect(own.status).toBe(200)
      expect(own.text).toContain('Night desk')
      expect(own.text).toContain('track_it')
    },
  )

  it('shows a hundred tools per page, with shortened descriptions', async () => {
    const { db } = patchbay.services
    const { serverId, toolkitId } = await make('public')
    const { definition } = await db.tool.findFirstOrThrow({ where: { toolkitId } })
    const names = Array.from({ length: 230 }, (_, index) => `tool_${String(index).padStart(3, '0')}`)
    const description = `Begins so. ${'x'.repeat(9_000)}`
    await db.tool.createMany({
      data: names.map(name => ({ name, toolkitId, description, definition: definition ?? {} })),
    })
    const tools = await db.tool.findMany({ where: { toolkitId, name: { in: names } } })
    await db.instance.createMany({ data: tools.map(({ id, name }) => ({ serverId, toolId: id, name })) })
    await owner.expectOk('PATCH', `/servers/${serverId}`, { name: 'Crowded desk' })
    const shownOn = async (page: string) => {
      const { text } = await look(`/s/${serverId}${page}`)
      expect(text).toContain('231 tools')
      expect(text).not.toContain('x'.repeat(600))
      return [...text.matchAll(/tool_\d{3}|track_it/g)].map(([name]) => name)
    }
    expect(await shownOn('')).toEqual(names.slice(0, 100))
    expect(await shownOn('?page=2')).toEqual(names.slice(100, 200))
    expect(await shownOn('?page=3')).toEqual([...names.slice(200), 'track_it'])
    expect(await shownOn('?page=99')).toEqual([...names.slice(200), 'track_it'])
  })

  it('shows a private server to an allowed user of another organization', async () => {
    const { serverId } = await make('private')
    const friend = await signUp(patchbay.origin)
    const cookies = await signIn(friend)
    expect((await look(`/s/${serverId}`, cookies)).status).toBe(403)
    await owner.expectOk('PATCH', `/servers/${serverId}`, { allowedUsers: [friend.email] })
    const { status, text } = await look(`/s/${serverId}`, cookies)
    expect(status).toBe(200)
    expect(text).toContain('track_it')
    expect(text).not.toContain('Open in the dashboard')
  })

  it('reports an unknown server as not found', async () => {
    const none = crypto.randomUUID()
    for (const path of [`/s/${none}`, '/s/no-uuid', '/nowhere?x=%3Cscript%3E']) {
      const { status, headers, text } = await look(path)
      expect([path, status, headers.get('content-type')]).toEqual([path, 404, 'text/html; charset=utf-8'])
      expect(text).toContain('Back to home')
      expect(text).not.toContain('<script>')
    }
    // A passthrough server forwards everything below its address, so Patchbay has no pages there.
    const { status, headers } = await look(`/s/${none}/further/down`)
    expect([status, headers.get('content-type')]).toEqual([404, 'application/json'])
  })

  it('responds to MCP clients as if there were no page, whatever else they accept', async () => {
    const { serverId } = await make('public')
    const closed = await make('private')
    for (const accept of [
      'text/event-stream',
      'application/json, text/event-stream',
      'application/json, text/html',
      'text/event-stream, text/html;q=0.9',
      '*/*',
      'text/html;q=0, */*',
    ]) {
      for (const id of [serverId, closed.serverId]) {
        const asked = await look(`/s/${id}`, await signIn(owner), accept)
        const asNobody = await look(`/s/${id}`, undefined, accept)
        expect([accept, asked.status, asked.text]).toEqual([accept, asNobody.status, asNobody.text])
        expect(asked.headers.get('content-type')).toBe('application/json')
        expect(asked.headers.get('vary')).toBeNull()
        expect(asked.headers.get('content-security-policy')).toBeNull()
      }
    }
    // Sends no Accept header, which fetch always adds.
    const bare = await new Promise<number | undefined>((resolve, reject) => {
      const sent = request(`${patchbay.origin}/s/${serverId}`, answer => resolve(answer.resume().statusCode))
      sent.on('error', reject).end()
    })
    expect(bare).toBe(406)
    for (const method of ['PUT', 'PATCH', 'HEAD', 'DELETE']) {
      const asked = await look(`/s/${serverId}`, undefined, BROWSER, method)
      expect([method, asked.headers.get('content-type')]).toEqual([method, 'application/json'])
    }
  })
})

describe('a URL without a page', () => {
  const patchbay = runPatchbay()
  const ask = async (method: string, path: string, accept: string) => {
    const response = await fetch(`${patchbay.origin}${path}`, { method, headers: { accept }, redirect: 'manual' })
    const type = response.headers.get('content-type')?.split(';')[0]
    return { status: response.status, type, allow: response.headers.get('allow'), text: await response.text() }
  }

  it('returns a problem document to programs and below /api, and a page to browsers', async () => {
    const problem = { status: 404, type: 'application/problem+json' }
    expect(await ask('GET', '/nowhere', 'application/json')).toMatchObject(problem)
    for (const method of ['GET', 'POST', 'DELETE']) {
      expect(await ask(method, '/nowhere', '*/*')).toMatchObject(problem)
    }
    expect(await ask('GET', '/api/v1/nowhere', BROWSER)).toMatchObject(problem)
    const page = { status: 404, type: 'text/html', text: expect.stringContaining('There is nothing at this address.') }
    expect(await ask('GET', '/nowhere', BROWSER)).toMatchObject(page)
    expect(await ask('POST', '/nowhere', BROWSER)).toMatchObject({ status: 404, type: 'text/html' })
  })

  it('lists the allowed methods if a page is requested with a wrong one', async () => {
    const opened = await ask('GET', '/sign-out', BROWSER)
    expect(opened).toMatchObject({ status: 405, type: 'text/html', allow: 'POST' })
    expect(opened.text).toContain('accepts only forms')
    const sent = await ask('POST', '/account/applications', BROWSER)
    expect(sent).toMatchObject({ status: 405, type: 'text/html' })
    expect(sent.allow).toContain('GET')
    expect(sent.text).toContain('does not accept forms')
  })
})
