import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { makeScratchFolder } from '../../../scripts/scratch-folder.ts'
import { createAddressPolicy } from '../../../src/lib/outbound/address-policy.ts'
import { createNameResolver, type NameResolverOptions, toLookup } from '../../../src/lib/outbound/name-resolver.ts'
import { createSystemResolver } from '../../../src/lib/outbound/system-resolver.ts'
import { type FakeName, startFakeNameServer } from '../../support/fake-name-server.ts'
import { buildClient, faultOf, requestTo, startApi } from './apis.ts'

const SILENT: FakeName = { a: 'silent', aaaa: 'silent' }
const silentNames = (count: number): string[] => Array.from({ length: count }, (_, index) => `silent${index}.example`)

/** Stands in for getaddrinfo: names are resolved when the test says so. */
const createFakeSystem = () => {
  const asked: string[] = []
  const waiting = new Map<string, PromiseWithResolvers<string[]>>()
  const system = createSystemResolver(async name => {
    asked.push(name)
    const answer = Promise.withResolvers<string[]>()
    waiting.set(name, answer)
    return (await answer.promise).map(address => ({ address, family: 4 }))
  })
  return {
    system,
    asked,
    answer: (name: string, addresses: string[]): void => waiting.get(name)?.resolve(addresses),
    fail: (name: string, code: string): void => waiting.get(name)?.reject(Object.assign(new Error(code), { code })),
  }
}

const build = async (names: Record<string, FakeName> = {}, options: Partial<NameResolverOptions> = {}) => {
  const folder = makeScratchFolder('patchbay-names-')
  const server = await startFakeNameServer(names)
  onTestFinished(() => server.close())
  const files = { hostsPath: join(folder, 'hosts'), resolvConfPath: join(folder, 'resolv.conf') }
  const fake = createFakeSystem()
  let time = 1
  const { resolve } = createNameResolver({
    usesSystem: false,
    servers: [server.address],
    system: fake.system,
    now: () => time,
    ...files,
    ...options,
  })
  return {
    ...files,
    server,
    fake,
    resolve,
    passTime: (ms: number): void => {
      time += ms
    },
    /** Resolves a name for an organization. Returns the addresses, or the message of the error. */
    look: (name: string, organizationId?: string) =>
      resolve(name, organizationId).then(
        addresses => addresses.map(({ address }) => address),
        (error: Error) => error.message,
      ),
  }
}

describe('a name in the DNS', () => {
  it('has all addresses of both families, IPv4 first', async () => {
    const { resolve } = await build({ 'both.example': { a: ['192.0.2.1', '192.0.2.2'], aaaa: ['2001:db8::1'] } })
    expect(await resolve('both.example', 'a')).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ])
  })

  it.each([
    ['IPv4', { a: ['192.0.2.1'], aaaa: 'silent' }, '192.0.2.1'],
    ['IPv4, and an error for IPv6', { a: ['192.0.2.1'], aaaa: 'servfail' }, '192.0.2.1'],
    ['IPv4, and a wrong denial for IPv6', { a: ['192.0.2.1'], aaaa: 'nxdomain' }, '192.0.2.1'],
    ['IPv6', { a: 'silent', aaaa: ['2001:db8::1'] }, '2001:db8::1'],
  ] satisfies [string, FakeName, string][])(
    'that answers only for %s does not wait for the deadline',
    async (_, name, address) => {
      // A lookup that waited for the other family would outlast this test.
      const { look } = await build({ 'one.example': name }, { deadlineMs: 600_000 })
      expect(await look('one.example')).toEqual([address])
    },
  )

  it('of which one family could not be resolved is asked for again after 5 s', async () => {
    const { look, server, passTime } = await build({
      'api.example': { a: 'servfail', aaaa: ['2001:db8::1'], ttl: 60 },
    })
    expect(await look('api.example')).toEqual(['2001:db8::1'])
    server.names['api.example'] = { a: ['192.0.2.1'], aaaa: ['2001:db8::1'] }
    passTime(4_999)
    expect(await look('api.example')).toEqual(['2001:db8::1'])
    passTime(2)
    expect(await look('api.example')).toEqual(['192.0.2.1', '2001:db8::1'])
  })

  it('has at most 32 addresses of each family', async () => {
    const a = Array.from({ length: 40 }, (_, index) => `192.0.2.${index}`)
    const { look } = await build({ 'many.example': { a } })
    expect(await look('many.example')).toEqual(a.slice(0, 32))
  })

  it('is asked for once by concurrent requests, whatever its case', async () => {
    const { look, server } = await build({ 'api.example': { a: ['192.0.2.1'] } })
    const names = ['api.example', 'API.example', 'api.example']
    expect(await Promise.all(names.map((name, index) => look(name, `org${index}`)))).toEqual(
      names.map(() => ['192.0.2.1']),
    )
    expect(server.asked.toSorted()).toEqual(['a api.example', 'aaaa api.example'])
  })

  it.each([
    [30, 30_000],
    [86_400, 60_000],
    [0, 0],
  ])('with a TTL of %i s is cached for %i ms', async (ttl, cachedMs) => {
    const { look, server, passTime } = await build({ 'api.example': { a: ['192.0.2.1'], ttl } })
    await look('api.example')
    server.names['api.example'] = { a: ['192.0.2.2'] }
    if (cachedMs > 0) {
      passTime(cachedMs - 1)
      expect(await look('api.example', 'other')).toEqual(['192.0.2.1'])
      passTime(2)
    }
    expect(await look('api.example')).toEqual(['192.0.2.2'])
  })

  it.each([
    ['does not exist', 'nxdomain', 'the name api.example does not exist; check the host in the URL'],
    ['has no addresses', [], 'the name api.example has no address; check the host in the URL'],
    ['fails', 'servfail', 'the name servers could not resolve api.example (ESERVFAIL); try again'],
    [
      'is not answered',
      'silent',
      'the name servers for api.example did not answer within 1 s; check the host in the URL, or try again',
    ],
  ] satisfies [string, FakeName['a'], string][])('that %s is not asked for again for 5 s', async (_, records, says) => {
    const { look, server, passTime } = await build(
      { 'api.example': { a: records, aaaa: records } },
      { deadlineMs: records === 'silent' ? 1_000 : 60_000 },
    )
    expect(await look('api.example')).toBe(says)
    // Its query may end a moment later.
    expect(await look('api.example')).toBe(says)
    server.names['api.example'] = { a: ['192.0.2.1'] }
    passTime(4_999)
    expect(await look('api.example')).toBe(says)
    passTime(2)
    expect(await look('api.example')).toEqual(['192.0.2.1'])
  })

  it('is asked for again when the name server lost the question', async () => {
    const { look, server } = await build({ 'api.example': SILENT }, { deadlineMs: 600_000 })
    const answer = look('api.example')
    await expect.poll(() => server.asked).toContain('aaaa api.example')
    server.names['api.example'] = { a: ['192.0.2.1'] }
    expect(await answer).toEqual(['192.0.2.1'])
  })

  it('whose servers refuse the connection says so', async () => {
    const { look, server } = await build({}, { servers: ['127.0.0.1:1'] })
    expect(await look('api.example')).toBe('the name servers could not resolve api.example (ECONNREFUSED); try again')
    expect(server.asked).toEqual([])
  })
})

describe('an organization with eight silent names', () => {
  const eight = silentNames(8)
  const names = {
    ...Object.fromEntries(silentNames(9).map(name => [name, SILENT])),
    'good.example': { a: ['192.0.2.1'] },
  }

  it('waits with the ninth, and is told so at the deadline', async () => {
    const { look, server } = await build(names, { deadlineMs: 400 })
    const first = eight.map(name => look(name, 'a'))
    const ninth = look('silent8.example', 'a')
    expect(await ninth).toBe(
      'too many name lookups of this organization are in progress; try again when they have ended',
    )
    expect(await Promise.all(first)).toEqual(
      eight.map(name => expect.stringContaining(`the name servers for ${name} did not answer`)),
    )
    expect(server.asked).not.toContain('a silent8.example')
  })

  it('delays no other, not even one that asks for a name it waits for', async () => {
    const { look, server } = await build({ ...names }, { deadlineMs: 600_000 })
    let ended = 0
    const all = [...eight, 'good.example'].map(name => look(name, 'a').finally(() => ended++))
    await expect.poll(() => new Set(server.asked)).toContain('a silent7.example')
    expect(await look('good.example', 'b')).toEqual(['192.0.2.1'])
    expect(ended).toBe(0)
    // They are asked again, so the lookups end.
    for (const name of eight) server.names[name] = { a: ['192.0.2.2'] }
    expect(await Promise.all(all)).toEqual([...eight.map(() => ['192.0.2.2']), ['192.0.2.1']])
  })
})

describe('organizations that one user created', () => {
  const names = {
    ...Object.fromEntries(silentNames(72).map(name => [name, SILENT])),
    'good.example': { a: ['192.0.2.1'] },
  }
  const askedNames = (asked: readonly string[]): number => new Set(asked.map(one => one.split(' ')[1])).size

  it('have at most 16 lookups in progress', async () => {
    const { look, server } = await build(
      { ...names },
      {
        deadlineMs: 600_000,
        findCreator: async organization => (organization === 'other' ? 'ben' : 'ann'),
      },
    )
    const all = silentNames(24).map((name, index) => look(name, `org${index % 4}`))
    await expect.poll(() => askedNames(server.asked)).toBe(16)
    // The name servers answer in the order of the questions. So the others, if they were asked, would be known by now.
    expect(await look('good.example', 'other')).toEqual(['192.0.2.1'])
    expect(askedNames(server.asked)).toBe(17)
    for (const name of silentNames(24)) server.names[name] = { a: ['192.0.2.2'] }
    expect(await Promise.all(all)).toEqual(all.map(() => ['192.0.2.2']))
  })

  it('leave half of all lookups to others once their name servers have been silent', async () => {
    const { look, server } = await build(names, {
      deadlineMs: 1_000,
      findCreator: async organization => `creator of ${organization}`,
    })
    const organizations = ['a', 'b', 'c', 'd', 'e', 'f']
    const lookUpFrom = (first: number) =>
      Promise.all(organizations.map((organization, index) => look(`silent${first + index}.example`, organization)))
    await lookUpFrom(0)
    // The queries may end a moment later, but before these do.
    await lookUpFrom(organizations.length)
    // Not those from before, because the name servers are asked for them several times.
    const others = silentNames(72).slice(2 * organizations.length)
    const isOther = (asked: string): boolean => others.some(name => asked.endsWith(name))
    const waiting = others.map((name, index) => look(name, organizations[index % 6]))
    await expect.poll(() => askedNames(server.asked.filter(isOther))).toBe(24)
    expect(await look('good.example', 'other')).toEqual(['192.0.2.1'])
    await Promise.all(waiting)
  })
})

describe('the hosts file', () => {
  it('comes first, with all addresses of a name, and is read again when it has changed', async () => {
    const { look, hostsPath, server } = await build({ 'api.example': { a: ['192.0.2.1'] } })
    expect(await look('api.example')).toEqual(['192.0.2.1'])
    writeFileSync(
      hostsPath,
      '# 10.0.0.9 api.example\nbroken api.example\n10.0.0.1\tother API.example api.example # here\n::1 api.example\n',
    )
    expect(await look('api.example.')).toEqual(['10.0.0.1', '::1'])
    expect(await look('other')).toEqual(['10.0.0.1'])
    writeFileSync(hostsPath, '')
    expect(await look('api.example')).toEqual(['192.0.2.1'])
    expect(server.asked).toHaveLength(2)
  })
})

describe("the system's resolver", () => {
  it.each(['intranet', 'printer.local', 'app.localhost', 'wiki.corp.example', 'wiki.corp.example.'])(
    'is asked for %s, and the name servers are not',
    async name => {
      const { look, server, fake, resolvConfPath } = await build()
      writeFileSync(resolvConfPath, 'nameserver 10.0.0.1\nsearch Corp.example. lan ; comment\n')
      const answer = look(name)
      await expect.poll(() => fake.asked).toEqual([name])
      fake.answer(name, ['10.0.0.7'])
      expect(await answer).toEqual(['10.0.0.7'])
      expect(await look(name)).toEqual(['10.0.0.7'])
      expect([fake.asked, server.asked]).toEqual([[name], []])
    },
  )

  it('is asked for a name that the name servers do not know, if private networks are allowed', async () => {
    const { look, fake } = await build({}, { usesSystem: true })
    const answer = look('wiki.internal')
    await expect.poll(() => fake.asked).toEqual(['wiki.internal'])
    fake.answer('wiki.internal', ['10.0.0.7'])
    expect(await answer).toEqual(['10.0.0.7'])
  })

  it.each([
    ['fail', 'servfail', '(ESERVFAIL)', 60_000],
    ['are silent', 'silent', 'did not answer within 0.1 s', 100],
  ] satisfies [string, FakeName['a'], string, number][])(
    'is not asked for a name whose name servers %s',
    async (_, records, says, deadlineMs) => {
      const { look, fake } = await build({ 'api.example': { a: records } }, { usesSystem: true, deadlineMs })
      expect(await look('api.example')).toContain(says)
      expect(fake.asked).toEqual([])
    },
  )

  it('resolves one name per organization and two in all at a time', async () => {
    const { look, fake } = await build()
    const answers = [look('a1', 'a'), look('a2', 'a'), look('b1', 'b'), look('c1', 'c'), look('a1', 'd')]
    await expect.poll(() => fake.asked).toEqual(['a1', 'b1'])
    fake.answer('b1', ['10.0.0.2'])
    await expect.poll(() => fake.asked).toEqual(['a1', 'b1', 'c1'])
    fake.answer('a1', ['10.0.0.1'])
    await expect.poll(() => fake.asked).toEqual(['a1', 'b1', 'c1', 'a2'])
    fake.answer('c1', ['10.0.0.3'])
    fake.fail('a2', 'ENOTFOUND')
    expect(await Promise.all(answers)).toEqual([
      ['10.0.0.1'],
      'the name a2 does not exist; check the host in the URL',
      ['10.0.0.2'],
      ['10.0.0.3'],
      ['10.0.0.1'],
    ])
  })

  it('keeps its place while it is silent, and its late answer is used', async () => {
    const { look, fake } = await build({}, { deadlineMs: 100 })
    expect(await look('stuck', 'a')).toBe(
      "the system's resolver did not answer for stuck within 0.1 s; check the host in the URL, or try again",
    )
    expect(await look('next', 'a')).toBe("the system's resolver is busy with other names; try again")
    expect(fake.asked).toEqual(['stuck'])
    fake.answer('stuck', ['10.0.0.1'])
    await expect.poll(() => look('stuck', 'a')).toEqual(['10.0.0.1'])
    expect(fake.asked).toEqual(['stuck'])
  })
})

describe('a client without a lookup of its own', () => {
  const buildNamedClient = async (names: Record<string, FakeName>, options: Partial<NameResolverOptions> = {}) => {
    const { resolve, fake } = await build(names, options)
    const policy = createAddressPolicy({ allow: ['127.0.0.1'] })
    return { client: buildClient({ policy, lookup: toLookup(resolve) }), fake }
  }

  it('connects to the other family when one does not accept connections', async () => {
    const api = await startApi((_, response) => response.end('reached'))
    const policy = createAddressPolicy({ allow: ['127.0.0.1', '::1'] })
    const { resolve } = await build({ 'both.example': { a: ['127.0.0.1'], aaaa: ['::1'] } })
    const client = buildClient({ policy, lookup: toLookup(resolve) })
    expect((await client.send(requestTo(`http://both.example:${api.port}/`))).body.toString()).toBe('reached')
    const v6 = await startApi((_, response) => response.end('reached'), '::1')
    expect((await client.send(requestTo(`http://both.example:${v6.port}/`))).body.toString()).toBe('reached')
  })

  it.each(['a', 'aaaa'])('is refused a name whose %s record is not public', async type => {
    const api = await startApi((_, response) => response.end('reached'))
    const { client } = await buildNamedClient({
      'mixed.example': { a: ['127.0.0.1'], [type]: [type === 'a' ? '10.0.0.1' : 'fd00::1'] },
    })
    const error = await faultOf(client.send(requestTo(`http://mixed.example:${api.port}/`)))
    expect([error.fault, error.message]).toEqual(['blocked', expect.stringContaining('not public')])
    expect(api.connections).toBe(0)
  })

  it("is refused what the system's resolver returns, if it is not public", async () => {
    const { client, fake } = await buildNamedClient({}, { usesSystem: true })
    const answer = faultOf(client.send(requestTo('http://router.internal/')))
    await expect.poll(() => fake.asked).toEqual(['router.internal'])
    fake.answer('router.internal', ['192.168.0.1'])
    expect((await answer).fault).toBe('blocked')
  })

  it('says what happened to a name', async () => {
    const { client } = await buildNamedClient({})
    const error = await faultOf(client.send(requestTo('http://nowhere.example/')))
    expect([error.fault, error.message]).toEqual([
      'dns',
      expect.stringMatching(/^the name nowhere\.example does not exist; .*ms\)$/),
    ])
  })
})
