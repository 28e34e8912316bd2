import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { makeServer } from '../support/api-client.ts'
import { SLOW_PATTERN, slowValue } from '../support/slow-pattern.ts'
import { runPatchbay, runUser } from '../support/world.ts'

const Refusal = z.object({ content: z.tuple([z.object({ text: z.string() })]), isError: z.literal(true) })
const SECRET = 'guessable'

describe('invalid arguments', () => {
  const patchbay = runPatchbay()
  const builder = runUser(patchbay)

  const refusalOf = async (
    places: readonly string[],
    args: Record<string, unknown>,
    parameters: Record<string, object> = {},
  ): Promise<string> => {
    const url = `http://127.0.0.1:9/?${places.map(name => `${name}={{${name}}}`).join('&')}`
    const { serverId, instanceIds } = await makeServer(builder, [{ name: 'tool', method: 'GET', url, parameters }])
    await builder.expectOk('PUT', `/servers/${serverId}/globals/apiKey`, { value: SECRET, secret: true })
    const { body } = await builder.expectOk('POST', `/instances/${instanceIds.tool}/call`, { arguments: args })
    return Refusal.parse(body).content[0].text
  }
  const named = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, at) => `${prefix}${at}`)

  it('names an unknown argument and the known ones', async () => {
    expect(await refusalOf(['id', 'key'], { id: '1', key: '2', user: 'x' })).toBe(
      'There is no parameter "user": this tool takes "id", "key".',
    )
  })

  it('names five of thousands of unknown arguments, counts the rest, and lists twenty known ones once', async () => {
    const places = named('known', 30)
    const args = Object.fromEntries([...places, ...named('unknown', 5_000)].map(name => [name, 'x']))
    const text = await refusalOf(places, args)
    expect(text).toContain('"unknown0": this tool takes "known0"')
    expect(text).toContain('"known19" and 10 more.')
    expect(text).toContain('"unknown4".\n4995 more arguments are also unknown.')
    expect(text.match(/"unknown/g)).toHaveLength(5)
    expect(text.match(/"known/g)).toHaveLength(20)
  })

  it('keeps the text short for long names and many missing arguments', async () => {
    const places = named(`long_${'x'.repeat(40)}_`, 60)
    const text = await refusalOf(places, { ['y'.repeat(100_000)]: 1 })
    expect(text).toContain(`"${'y'.repeat(64)}"`)
    expect(text.length).toBeLessThanOrEqual(4_001)
    expect(text).toMatch(/…$/)
  })

  it('are rejected by the input schema of the tool, with the path of the value', async () => {
    const inputSchema = { type: 'object', properties: { age: { type: 'number', maximum: 10 } } }
    const tool = { name: 'tool', method: 'GET', url: 'http://127.0.0.1:9/?age={{number:age}}', inputSchema }
    const { instanceIds } = await makeServer(builder, [tool])
    const { body } = await builder.expectOk('POST', `/instances/${instanceIds.tool}/call`, { arguments: { age: 11 } })
    expect(Refusal.parse(body).content[0].text).toBe('Wrong arguments: /age must be <= 10.')
  })

  it('stops matching patterns at the time limit, and says so once', async () => {
    const places = named('slow', 6)
    const withEach = (value: unknown) => Object.fromEntries(places.map(name => [name, value]))
    const patterns = Object.fromEntries(places.map(name => [name, { pattern: SLOW_PATTERN }]))
    expect(await refusalOf(places, withEach(slowValue()), patterns)).toBe(
      "The arguments take too long to match against this tool's patterns. Send shorter ones.",
    )
  })

  it('does not mask a name that equals a secret, because that would reveal it', async () => {
    expect(await refusalOf([], { [SECRET]: 1 })).toBe(
      `There is no parameter "${SECRET}": this tool takes no arguments.`,
    )
  })
})
