import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { follow, PROGRAM, runSharedCommand, temporaryDirectory } from '../support/process.ts'

vi.setConfig({ testTimeout: 60_000 })

const TOKEN = 'sk-live-4f9XbQ27TzLmWc81RyVn05Ke'

const COLLECTION = {
  info: { name: 'Shop', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
  auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{token}}' }] },
  item: [
    {
      name: 'Orders',
      item: [
        { name: 'List orders', request: { method: 'GET', url: '{{baseUrl}}/orders?limit=20' } },
        { name: 'Upload', request: { method: 'PUT', url: '{{baseUrl}}/photo', body: { mode: 'file' } } },
      ],
    },
  ],
}

const ENVIRONMENT = {
  name: 'Live',
  values: [
    { key: 'baseUrl', value: 'https://shop.example.com' },
    { key: 'token', value: TOKEN, type: 'secret' },
  ],
}

const makeFiles = (): string => {
  const directory = temporaryDirectory()
  writeFileSync(join(directory, 'shop.json'), JSON.stringify(COLLECTION))
  writeFileSync(join(directory, 'live.json'), JSON.stringify(ENVIRONMENT))
  return directory
}

const run = (directory: string, ...args: string[]) => runSharedCommand(['import', ...args], { directory })

describe('import postman, curl and har', () => {
  it('prints the tools, what cannot be imported and the globals, without the values of secrets', async () => {
    const args = ['postman', 'shop.json', '--environment', 'live.json', '--plan']
    const { code, stdout, stderr } = await run(makeFiles(), ...args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.replaceAll(/\d+ tokens/g, 'N tokens')).toBe(`Shop
1 tool, N tokens:
Orders
  list_orders  GET /orders  N tokens
1 request cannot be imported:
  PUT /photo  Its body is a file, which tools cannot send yet.
Globals of the server:
  base_url = https://shop.example.com
  token (secret for https://shop.example.com; its value is in the source)
`)
  })

  it('prints the same as JSON', async () => {
    const { stdout } = await run(makeFiles(), 'postman', 'shop.json', '--environment', 'live.json', '--plan', '--json')
    expect(stdout).not.toContain(TOKEN)
    expect(JSON.parse(stdout)).toMatchObject({
      title: 'Shop',
      tools: [{ key: 'GET /orders', tags: ['Orders'], tool: { name: 'list_orders', method: 'GET' } }],
      refused: [{ key: 'PUT /photo' }],
      globals: [
        { key: 'base_url', secret: false, value: 'https://shop.example.com' },
        { key: 'token', secret: true, hasValue: true, origins: ['https://shop.example.com'] },
      ],
    })
  })

  it('reads standard input', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'import', 'curl', '-', '--plan'], { cwd: temporaryDirectory() })
    child.stdin.end(`curl https://a.example/one\ncurl https://a.example/two -H 'Authorization: Bearer ${TOKEN}'`)
    const { stdout } = await follow(child).ended
    expect(stdout).toMatch(/^2 tools, .*\n {2}get_one {2}GET \/one .*\n {2}get_two {2}GET \/two /)
    expect(stdout).not.toContain(TOKEN)
  })

  it('says in one line what is wrong with a file, and that --plan is missing', async () => {
    const directory = makeFiles()
    writeFileSync(join(directory, 'page'), '<!doctype html>')
    writeFileSync(join(directory, 'empty.har'), '{"log": {"entries": []}}')
    expect(await run(directory, 'har', 'empty.har', '--plan')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There are no requests in empty.har. A HAR file has its requests under'),
    })
    expect(await run(directory, 'har', 'page', '--plan')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'patchbay: It is a page or an XML document, not JSON.\n',
    })
    expect(await run(directory, 'curl', 'none.txt', '--plan')).toMatchObject({
      code: 1,
      stderr: 'patchbay: The file none.txt does not exist.\n',
    })
    expect(await run(directory, 'postman', 'shop.json')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--plan'),
    })
  })
})
