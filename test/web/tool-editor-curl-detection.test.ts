import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { isCurlCommand } from '../../src/lib/kernel/curl-command.ts'

const Module = z.object({ isCurlCommand: z.custom<(text: string) => boolean>(value => typeof value === 'function') })
const REQUEST = "https://a.example/ -H 'Authorization: Bearer t'"

describe('text in the URL field of the tool editor', () => {
  let inBrowser: (text: string) => boolean
  beforeAll(async () => {
    const path = join(import.meta.dirname, '../../public/js/curl-command.js')
    inBrowser = Module.parse(await import(pathToFileURL(path).href)).isCurlCommand
  })

  it.each([
    'curl a.example',
    `curl ${REQUEST}`,
    `  $ curl ${REQUEST}`,
    `PS C:\\Users\\me> curl.exe ${REQUEST}`,
    `me@host:~$ curl ${REQUEST}`,
    `# curl ${REQUEST}`,
    `TOKEN="a b" curl ${REQUEST}`,
    `export TOKEN=t\ncurl ${REQUEST}`,
    `# Gets the order\ncurl \\\n  ${REQUEST}`,
    `\`\`\`bash\ncurl ${REQUEST}\n\`\`\``,
    `sudo /usr/bin/curl ${REQUEST}`,
    `"C:\\Windows\\curl.exe" ${REQUEST}`,
    `cat body.json | curl -d @- ${REQUEST}`,
    `(curl -s ${REQUEST})`,
    `CURL ${REQUEST}`,
    `curl\\\n ${REQUEST}`,
    `curl.exe^\n ${REQUEST}`,
  ])('is a cURL command: %j', text => {
    expect(isCurlCommand(text)).toBe(true)
    expect(inBrowser(text)).toBe(true)
  })

  it.each([
    '',
    'curl',
    'https://a.example/curl x -y',
    'https://a.example/{{string:q = curl -H}}',
    '{{url:base}}/curl -x',
    'https://curl.example/',
    'libcurl https://a.example/',
    'Says what curl would do.',
  ])('is no cURL command: %j', text => {
    expect(isCurlCommand(text)).toBe(false)
    expect(inBrowser(text)).toBe(false)
  })
})
