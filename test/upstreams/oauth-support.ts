import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { postStateless } from '../mcp/wire.ts'
import { answerConsent } from '../oauth/support/client.ts'
import { createVisitor, fieldsOf, type Page, type Visitor } from '../oauth/support/visitor.ts'
import { type ApiClient, makeServer, signUp } from '../support/api-client.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { answerJson, type FakeApi, startFakeApi } from '../support/fake-api.ts'

type Person = ApiClient & { email: string; userId: string }
type Somebody = Person & { visitor: Visitor }

/** Creates a user with an account, a token and a signed-in browser. */
export const makePerson = async (origin: string, email: string): Promise<Somebody> => {
  const person = await signUp(origin, email)
  const visitor = createVisitor(origin)
  await visitor.signIn(email)
  return { ...person, visitor }
}

const Result = z.looseObject({
  isError: z.boolean().optional(),
  content: z.array(z.looseObject({ text: z.string().optional() })).optional(),
  _meta: z.record(z.string(), z.unknown()).optional(),
})
const Answer = z.looseObject({ result: z.unknown().optional(), error: z.unknown().optional() })

/** Sends one stateless-era request. */
const askServer = async (url: string, token: string | undefined, method: string, params: JsonObject = {}) =>
  Answer.parse(await (await postStateless(url, token, method, params)).json())

export const callServer = async (url: string, token: string | undefined, name: string, args: JsonObject = {}) => {
  const answer = await askServer(url, token, 'tools/call', { name, arguments: args })
  if (answer.result === undefined) throw new Error(`no result: ${JSON.stringify(answer.error)}`)
  const result = Result.parse(answer.result)
  return { ...result, text: result.content?.[0]?.text ?? '' }
}

export const listTools = async (url: string, token: string | undefined): Promise<string[]> => {
  const { result } = await askServer(url, token, 'tools/list')
  return z
    .object({ tools: z.array(z.object({ name: z.string() })) })
    .parse(result)
    .tools.map(({ name }) => name)
}

const decode = (html: string): string =>
  html.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"')

/** Returns the URL of the button that leads to the authorization server. */
export const leavingLink = (page: Page): string => {
  const [, href] = /rel="noreferrer" href="([^"]*)"/.exec(page.text) ?? []
  if (href === undefined) throw new Error(`no way on: ${page.status} ${page.text.slice(0, 3_000)}`)
  return decode(href)
}

/**
 * Starts connecting from the upstream's page. Returns the page that names the destination or the reason for a failure.
 */
export const startConnecting = async (visitor: Visitor, upstreamId: string): Promise<Page> => {
  const path = `/connect/${upstreamId}`
  const { action, fields } = fieldsOf(await visitor.get(path), path)
  return visitor.post(action, fields)
}

/** A real authorization server with its protected MCP server: another Patchbay, whose tool echoes its request. */
const startBack = async () => {
  const app = await startTestApp({ env: { PATCHBAY_TRUST_PROXY: '127.0.0.0/8' } })
  const api: FakeApi = await startFakeApi((request, response) =>
    answerJson(response, { url: request.url, headers: request.headers }),
  )
  const owner = await makePerson(app.origin, 'back@example.com')
  const made = await makeServer(
    owner,
    [{ name: 'get_shipment', method: 'GET', url: `${api.origin}/shipments/{{id}}` }],
    {
      server: { access: 'organization', name: 'Shipments' },
    },
  )
  return {
    app,
    api,
    owner,
    url: made.url,
    origin: app.origin,
    serverId: made.serverId,
    /** Consents as the signed-in user and returns the redirect URL. */
    agree: async (visitor: Visitor, href: string, answer: 'yes' | 'no' = 'yes'): Promise<string> => {
      const back = await answerConsent(visitor, await visitor.get(href), answer)
      const location = back.headers.get('location')
      if (location === null) throw new Error(`not sent back: ${back.status} ${back.text.slice(0, 2_000)}`)
      return location
    },
    close: async (): Promise<void> => {
      await app.close()
      await api.close()
    },
  }
}
export type Attached = { serverId: string; upstreamId: string; url: string }

/** Creates a server with an upstream that requires an account. */
export const attach = async (
  owner: ApiClient,
  url: string,
  auth: object,
  { server = {}, ...upstream }: { server?: object; [field: string]: unknown } = {},
): Promise<Attached> => {
  const made = await owner.create('/servers', {
    name: `Front ${randomUUID()}`,
    maxResponseTokens: 0,
    access: 'private',
    ...server,
  })
  const { id } = await owner.create(`/servers/${made.id}/upstreams`, {
    name: 'back',
    transport: 'http',
    url,
    auth,
    ...upstream,
  })
  return { serverId: made.id, upstreamId: id, url: `${owner.origin}/s/${made.id}` }
}

export const startOAuthWorlds = async (options: Parameters<typeof startTestApp>[0] = {}) => {
  const back = await startBack()
  const front: TestApp = await startTestApp(options)
  const owner = await makePerson(front.origin, 'front@example.com')
  return {
    back,
    front,
    owner,
    /** Completes the whole flow with two browsers: that of a user here, and that of a user of the other Patchbay. */
    connect: async (visitor: Visitor, upstreamId: string, there: Visitor = back.owner.visitor): Promise<Page> => {
      const location = await back.agree(there, leavingLink(await startConnecting(visitor, upstreamId)))
      return visitor.get(location)
    },
    close: async (): Promise<void> => {
      await front.close()
      await back.close()
    },
  }
}
