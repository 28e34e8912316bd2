import { z } from 'zod'
import { LINKS, type LinkPurpose, makeLinkToken } from '../../../src/identity/mail/mailed-links.ts'
import type { Role } from '../../../src/lib/kernel/roles.ts'
import { insertGrant } from '../../oauth/support/tokens.ts'
import { type ApiClient, signUp } from '../../support/api-client.ts'
import { startTestApp } from '../../support/app.ts'
import { createBrowser } from '../../support/browser.ts'
import { startFakeApi } from '../../support/fake-api.ts'
import { startSmtpServer } from '../../support/smtp-server.ts'
import { answerCarrier, BINDINGS, CARRIER_TOOLS } from './carrier-api.ts'

const PASSWORD = 'correct horse battery staple'

/** Names that are hard to display: markup, right-to-left text, emoji, and a long word without spaces. */
export const HOSTILE_NAME = `"><script>alert(1)</script>'<%= 1 %>{{x}}&amp;`
const NAMES = {
  rightToLeft: 'مكتب الشحن والتسليم',
  emoji: '🚚 Pickups 📦 & <b>returns</b>',
  long: 'Unbreakable_'.repeat(8).slice(0, 100),
}

const Executions = z.object({ items: z.array(z.object({ id: z.string() })) })
const Token = z.object({ token: z.string() })

/** Adds an instance of each tool to a server, with the tool's bindings. */
const fillServer = async (api: ApiClient, serverId: string, toolIds: ReadonlyMap<string, string>) => {
  const instanceIds = new Map<string, string>()
  for (const [name, toolId] of toolIds) {
    const instance = { toolId, name, bindings: BINDINGS[name] ?? {} }
    instanceIds.set(name, (await api.create(`/servers/${serverId}/instances`, instance)).id)
  }
  return instanceIds
}

const makeTools = async (api: ApiClient, toolkitId: string, tools: readonly { name: string }[]) => {
  const ids = new Map<string, string>()
  for (const tool of tools) ids.set(tool.name, (await api.create(`/toolkits/${toolkitId}/tools`, tool)).id)
  return ids
}

export type WorldOptions = {
  /** The address shown on pages instead of the local one. */
  baseUrl?: string
  /** The address shown for the carrier's API after it has been called. */
  carrierUrl?: string
}

/**
 * Starts Patchbay with the data of an experienced user: a server for a carrier's API with globals and calls, an empty
 * server, a large one, hostile names, and an organization with members in several roles.
 */
export const startDashboardWorld = async ({ baseUrl, carrierUrl }: WorldOptions = {}) => {
  const carrier = await startFakeApi(answerCarrier)
  const smtp = await startSmtpServer()
  const settings = { PATCHBAY_TRUST_PROXY: '127.0.0.0/8,::1/128', PATCHBAY_ALLOW_STDIO: 'true' }
  const env = { ...settings, SMTP_URL: smtp.url, ...(baseUrl && { PATCHBAY_BASE_URL: baseUrl }) }
  const app = await startTestApp({ env })
  const { origin, services } = app
  const { db, recorder } = services
  const owner = await signUp(origin, 'dispatch@kestrel.example')
  const { organizationId } = await db.membership.findFirstOrThrow({ where: { userId: owner.userId } })
  await db.organization.update({ where: { id: organizationId }, data: { name: 'Kestrel Freight' } })
  const confirm = async (userId: string) => {
    await db.user.update({ where: { id: userId }, data: { emailVerifiedAt: new Date() } })
  }
  await confirm(owner.userId)
  const join = async (email: string, role: Role) => {
    const user = await signUp(origin, email)
    await db.membership.create({ data: { organizationId, userId: user.userId, role } })
    return user
  }
  const viewer = await join('viewer@kestrel.example', 'viewer')
  const own = await db.membership.findFirstOrThrow({ where: { userId: viewer.userId, role: 'owner' } })
  const builder = await join('yard.operations.and.night.desk.dispatch@subsidiary.kestrel.example', 'builder')

  const toolkit = await owner.create('/toolkits', {
    title: 'Carrier API',
    description: 'Track, quote and book with the carrier.',
    visibility: 'public',
  })
  const tools = await makeTools(owner, toolkit.id, CARRIER_TOOLS)
  const server = await owner.create('/servers', {
    name: 'Shipment desk',
    description: 'What dispatch asks the carrier.',
    access: 'organization',
  })
  await owner.expectOk('PUT', `/servers/${server.id}/toolkits/${toolkit.id}`)
  for (const [key, value, secret] of [
    ['carrier_url', carrier.origin, false],
    ['carrier_token', 'sk-carrier-0123456789', true],
    ['account_no', '40-118', false],
    ['unused', 'nothing reads this', false],
  ] as const) {
    await owner.expectOk('PUT', `/servers/${server.id}/globals/${key}`, { value, secret })
  }
  const instances = await fillServer(owner, server.id, tools)
  const call = (name: string, args: object) =>
    owner.send('POST', `/instances/${instances.get(name)}/call`, { arguments: args })
  for (let turn = 0; turn < 6; turn++) await call('track_shipment', { shipment_id: `KF-20${turn}` })
  await call('quote_rate', { from: 'LEJ', to: 'CPH', weight_kg: 120.5 })
  await call('book_pickup', { depot: HOSTILE_NAME, on: '2027-02-01' })
  await call('track_shipment', {})
  if (carrierUrl !== undefined) {
    await owner.expectOk('PUT', `/servers/${server.id}/globals/carrier_url`, { value: carrierUrl, secret: false })
  }

  const emptyServer = await owner.create('/servers', { name: NAMES.rightToLeft, access: 'private' })
  const longServer = await owner.create('/servers', { name: NAMES.long, description: HOSTILE_NAME, access: 'public' })
  await owner.create('/servers', { name: NAMES.emoji, access: 'public' })
  const hostileToolkit = await owner.create('/toolkits', { title: HOSTILE_NAME, description: NAMES.rightToLeft })
  const many = Array.from({ length: 30 }, (_, index) => ({
    name: `${'tool_with_a_long_name_'.repeat(2)}${index}`,
    title: index === 0 ? HOSTILE_NAME : undefined,
    description: HOSTILE_NAME,
    method: 'POST',
    url: `${carrier.origin}/{{string:first}}/{{integer:second=${index}}}?q={{third?}}`,
  }))
  const hostileTools = await makeTools(owner, hostileToolkit.id, many)
  await owner.expectOk('PUT', `/servers/${longServer.id}/toolkits/${hostileToolkit.id}`)
  await fillServer(owner, longServer.id, hostileTools)
  const emptyToolkit = await owner.create('/toolkits', { title: NAMES.long })

  const gap = { missing: 12, from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() - 3_000_000) }
  await db.executionGap.create({ data: { ...gap, serverId: server.id, reason: 'the database was locked' } })
  const tokensOf = (tool: string, ago: number, tokensBefore: number, tokensSent: number) => ({
    serverId: server.id,
    day: new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10),
    tool,
    calls: 40 + ago,
    counted: 38 + ago,
    tokensBefore,
    tokensSent,
  })
  const days = Array.from({ length: 20 }, (_, index) => index + 2)
  await db.toolDay.createMany({
    data: days.flatMap(ago => [
      tokensOf('track_shipment', ago, 120_000 + 9_000 * (ago % 7), 31_000 + 500 * (ago % 5)),
      tokensOf('proxy_filter', ago, 0, 1_200 * (ago % 3)),
    ]),
  })
  const webhook = await owner.create(`/organizations/${organizationId}/webhooks`, {
    url: 'https://hooks.kestrel.example/patchbay/events?key=long',
    description: 'Pager of the night shift',
    events: ['call.failed', 'upstream.down', 'upstream.recovered'],
  })
  const { id: deliveryId } = await owner.create(`/webhooks/${webhook.id}/test`, undefined)
  const lastError = 'It responded with the status 503.'
  await db.delivery.update({ where: { id: deliveryId }, data: { attempts: 3, lastStatus: 503, lastError } })
  const oauthClient = await owner.create(`/organizations/${organizationId}/oauth-clients`, {
    name: HOSTILE_NAME,
    redirectUris: ['https://batch.kestrel.example/oauth/callback/of/the/night/shift'],
  })
  for (const clientId of ['https://claude.ai/oauth/client', `https://${'long-'.repeat(30)}.example/client`]) {
    await insertGrant(services, { origin: baseUrl ?? origin, userId: owner.userId, serverId: server.id, clientId })
  }
  await owner.expectOk('PATCH', `/servers/${server.id}`, { allowedUsers: [viewer.userId] })
  await owner.expectOk('POST', `/organizations/${organizationId}/invitations`, {
    email: 'night@kestrel.example',
    role: 'builder',
  })
  const addLimit = async (limit: object, target: string, used: number) => {
    const { id } = await owner.create(`/organizations/${organizationId}/limits`, limit)
    const period = new Date().toISOString().slice(0, 7)
    await db.limitUse.create({ data: { limitId: id, target, period, amount: BigInt(used) } })
    return id
  }
  const monthly = { unit: 'calls', period: 'month' }
  await owner.create(`/organizations/${organizationId}/limits`, {
    scope: 'user',
    unit: 'calls',
    period: 'minute',
    amount: 60,
  })
  await addLimit({ ...monthly, scope: 'organization', unit: 'tokens', amount: 2_000_000 }, '', 1_740_112)
  await addLimit({ ...monthly, scope: 'server', targetId: longServer.id, amount: 500 }, longServer.id, 512)
  const limitId = await addLimit({ ...monthly, scope: 'user', amount: 12_000 }, viewer.userId, 3_204)
  const token = await owner.create('/tokens', { name: HOSTILE_NAME, scopes: ['read', 'mcp'], expiresInDays: 30 })
  const grant = { origin, userId: owner.userId, serverId: longServer.id, clientId: HOSTILE_NAME }
  await insertGrant(services, grant)
  await recorder.flush()
  const executions = Executions.parse((await owner.expectOk('GET', `/servers/${server.id}/executions`)).body)

  return {
    origin,
    app,
    owner,
    ownerId: owner.userId,
    builder,
    viewer,
    viewerId: viewer.userId,
    leaver: viewer,
    organizationId,
    webhookId: webhook.id,
    /** The viewer's own organization. */
    emptyOrganizationId: own.organizationId,
    oauthClientId: oauthClient.id,
    limitId,
    serverId: server.id,
    emptyServerId: emptyServer.id,
    longServerId: longServer.id,
    toolkitId: toolkit.id,
    emptyToolkitId: emptyToolkit.id,
    hostileToolkitId: hostileToolkit.id,
    toolId: tools.get('track_shipment') ?? '',
    hostileToolId: [...hostileTools.values()][0] ?? '',
    instanceId: instances.get('track_shipment') ?? '',
    tokenId: token.id,
    executionId: executions.items[0]?.id ?? '',
    /** Creates a personal access token for the owner. */
    makeToken: async () => Token.parse((await owner.expectOk('POST', '/tokens', { name: 'script' })).body).token,
    /** Returns the path of a link as in an email to the owner, whose email is confirmed, or to the viewer. */
    makeLink: async (purpose: LinkPurpose, who: 'owner' | 'viewer'): Promise<string> => {
      const { userId, email } = who === 'owner' ? owner : viewer
      const { token, tokenHash } = makeLinkToken()
      const expiresAt = new Date(Date.now() + LINKS[purpose].ttlMs)
      await db.mailedLink.create({ data: { purpose, userId, email, tokenHash, expiresAt } })
      return `${LINKS[purpose].path}?token=${token}`
    },
    /** Signs in and returns the browser's cookies. */
    signIn: async (email: string) => {
      const browser = createBrowser(origin)
      const { status, text } = await browser.signIn(email, PASSWORD)
      if (status !== 200) throw new Error(`sign-in: ${status} ${text}`)
      // Browsers also send Secure cookies to localhost.
      const url = (baseUrl ?? origin).startsWith('https:') ? origin.replace('http:', 'https:') : origin
      return [...browser.cookies].map(([name, value]) => ({ name, value, url, secure: url.startsWith('https:') }))
    },
    close: async (): Promise<void> => {
      await app.close()
      await carrier.close()
      await smtp.close()
    },
  }
}
export type DashboardWorld = Awaited<ReturnType<typeof startDashboardWorld>>
