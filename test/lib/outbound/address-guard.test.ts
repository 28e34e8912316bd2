import { Agent, request as plainRequest } from 'undici'
import { describe, expect, it } from 'vitest'
import { createAddressPolicy } from '../../../src/lib/outbound/address-policy.ts'
import type { OutboundResponse } from '../../../src/lib/outbound/outbound-request.ts'
import { type Api, buildClient, faultOf, requestTo, resolverOf, startApi } from './apis.ts'
import { BAD_NAMES, badTargets } from './bad-targets.ts'

const policy = createAddressPolicy({ allow: [] })

/**
 * Starts the servers that a bad target would reach: one on every IPv4 address of this machine, and one on ::1 if IPv6
 * is available.
 */
const startVictims = async (): Promise<Api[]> => {
  const ipv4 = await startApi((_, response) => response.end('reached'), '0.0.0.0')
  const ipv6 = await startApi((_, response) => response.end('reached'), '::1', ipv4.port).catch(() => undefined)
  return ipv6 === undefined ? [ipv4] : [ipv4, ipv6]
}
const connectionsOf = (victims: readonly Api[]): number => victims.reduce((sum, api) => sum + api.connections, 0)
const portOf = (victims: readonly Api[]): number => victims[0]?.port ?? 0

describe('a target inside the network', () => {
  const count = badTargets(1).length
  it(`is blocked before any connection, in all of ${count} spellings`, async () => {
    const victims = await startVictims()
    const client = buildClient({ policy, lookup: resolverOf(BAD_NAMES) })
    for (const url of badTargets(portOf(victims))) {
      const error = await faultOf(client.send(requestTo(url)))
      // The part after # is not the host. The request goes to example.com, which this test cannot resolve.
      expect([url, error.fault]).toEqual([url, url.includes('#@') ? 'dns' : 'blocked'])
    }
    expect(count).toBe(84)
    expect(connectionsOf(victims)).toBe(0)
  })

  it('is reached by a client without the guard, which shows that the test before can fail', async () => {
    const victims = await startVictims()
    const port = portOf(victims)
    const plain = new Agent({ pipelining: 0, connect: { lookup: resolverOf(BAD_NAMES), timeout: 300 } })
    // Excludes targets that would send packets to the network.
    const near = badTargets(port).filter(
      url => url.includes(`:${port}/`) && !/\[(64|200|::ffff:0|::127)|mixed/.test(url),
    )
    for (const url of near.filter(target => URL.canParse(target))) {
      const answer = await plainRequest(url, { dispatcher: plain }).catch(() => undefined)
      await answer?.body.dump()
    }
    await plain.destroy()
    expect(connectionsOf(victims)).toBeGreaterThan(18)
  })

  it.each([301, 302, 303, 307, 308])('is blocked as the target of a %i redirect, in every spelling', async status => {
    const victims = await startVictims()
    let location = ''
    const redirector = async (): Promise<OutboundResponse> => ({
      status,
      statusText: '',
      headers: { location: Buffer.from(location, 'utf8').toString('latin1') },
      body: Buffer.alloc(0),
      url: '',
    })
    const inProcess = new Map([['http://inside.test', redirector]])
    const client = buildClient({ policy, lookup: resolverOf(BAD_NAMES), inProcess })
    for (const target of badTargets(portOf(victims))) {
      location = target
      const error = await faultOf(client.send(requestTo('http://inside.test/')))
      expect([target, error.fault]).toEqual([target, target.includes('#@') ? 'dns' : 'blocked'])
    }
    expect(connectionsOf(victims)).toBe(0)
  })

  it('is named in the message if it is an address, with how to allow it', async () => {
    const error = await faultOf(buildClient({ policy }).send(requestTo('http://127.0.0.1/')))
    expect(error.message).toMatch(
      /^127\.0\.0\.1 is a loopback address; the operator can allow it with PATCHBAY_ALLOW_PRIVATE_NETWORKS \(after \d+ ms\)$/,
    )
  })

  it('is not named in the message if a name resolves to it', async () => {
    const client = buildClient({ policy, lookup: resolverOf(BAD_NAMES) })
    const error = await faultOf(client.send(requestTo('http://lan.test/')))
    expect(error.message).toContain('lan.test resolves to an address that is not public')
    expect(error.message).not.toContain('192.168')
  })
})

describe('a name whose address changes between lookups', () => {
  it('is resolved once per connection, and the checked address is connected to', async () => {
    const victims = await startVictims()
    const answers = [['127.0.0.2'], ['127.0.0.1']]
    const asked: string[] = []
    const client = buildClient({
      policy: createAddressPolicy({ allow: ['127.0.0.2'] }),
      lookup: (hostname, options, callback) => {
        const addresses = answers[asked.length] ?? []
        asked.push(hostname)
        resolverOf({ [hostname]: addresses })(hostname, options, callback)
      },
    })
    const url = `http://rebind.test:${portOf(victims)}/`
    // The connection of a HEAD request is not reused, so the next request resolves the name again.
    expect((await client.send(requestTo(url, { method: 'HEAD' }))).status).toBe(200)
    expect(asked).toHaveLength(1)
    expect((await faultOf(client.send(requestTo(url)))).fault).toBe('blocked')
    expect(connectionsOf(victims)).toBe(1)
  })

  it('is refused if the socket is connected to an address other than the checked one', async () => {
    const victims = await startVictims()
    const seen: string[] = []
    const client = buildClient({
      lookup: resolverOf({ 'api.test': ['127.0.0.1'] }),
      policy: address => {
        seen.push(address)
        return seen.length === 1 ? { ok: true, value: undefined } : { ok: false, error: `${address} is not it` }
      },
    })
    const error = await faultOf(client.send(requestTo(`http://api.test:${portOf(victims)}/`)))
    expect(error.fault).toBe('blocked')
    expect(seen).toEqual(['127.0.0.1', '127.0.0.1'])
  })
})

describe('an allowed private network', () => {
  it('is reached by address and by name', async () => {
    const api = await startApi((_, response) => response.end('here'))
    const client = buildClient()
    for (const host of ['127.0.0.1', 'api.test', '2130706433']) {
      const answer = await client.send(requestTo(`http://${host}:${api.port}/`))
      expect(answer.body.toString()).toBe('here')
    }
  })

  it('does not allow a name that also has an address outside of it', async () => {
    const client = buildClient({ lookup: resolverOf({ 'mixed.test': ['127.0.0.1', '10.0.0.1'] }) })
    expect((await faultOf(client.send(requestTo('http://mixed.test/')))).fault).toBe('blocked')
  })
})

describe('a URL of Patchbay itself', () => {
  it('is blocked in every spelling', async () => {
    const client = buildClient({ ownOrigins: ['https://patchbay.test', 'http://localhost:3000'] })
    const urls = [
      'https://patchbay.test/s/1',
      'HTTPS://PATCHBAY.test:443/s/1',
      'https://patchbay.test./s/1',
      'http://localhost.:3000/s/1',
    ]
    for (const url of urls) {
      expect((await faultOf(client.send(requestTo(url)))).message).toContain('is Patchbay itself')
    }
  })
})

describe('an origin that mayReach refuses', () => {
  it('is blocked before a connection, also after a redirect', async () => {
    const api = await startApi((_, response) => response.writeHead(302, { location: `http://other.test/` }).end())
    const client = buildClient()
    const asked: string[] = []
    const mayReach = (origin: string): boolean => asked.push(origin) === 1
    const url = `http://api.test:${api.port}/`
    expect((await faultOf(client.send(requestTo(url, { mayReach })))).message).toContain(
      'http://other.test is not among',
    )
    expect(asked).toEqual([`http://api.test:${api.port}`, 'http://other.test'])
    const connections = api.connections
    const refused = await faultOf(client.send(requestTo(url, { mayReach: () => false })))
    expect(refused.fault).toBe('blocked')
    expect(api.connections).toBe(connections)
  })
})
