import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { startTestApp } from '../support/app.ts'
import { casesOfRun } from '../support/cases-of-run.ts'
import type { SeenRequest } from '../support/fake-api.ts'
import { createPageBrowser } from '../support/page-browser.ts'
import { during, runFakeApi } from '../support/world.ts'
import { API_COMMANDS, ENVIRONMENT, PACKAGE_COMMANDS } from '../tools/import/curl-commands.ts'
import { Message, meaningOf, toMessage, variableText } from '../tools/import/message.ts'
import { draftOf, fieldsOf } from './pasted-form.ts'

vi.setConfig({ testTimeout: 30_000 })

const PATH = '/first-run/request'
const recordings = z
  .record(z.string(), Message)
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, '../tools/import/curl-recordings.json'), 'utf8')))

const patchbay = during(() => startTestApp())
const fake = runFakeApi()

let browser: ReturnType<typeof createPageBrowser>
beforeAll(async () => {
  browser = createPageBrowser(patchbay.origin)
  await browser.get('/sign-up')
  await browser.submit('/sign-up', { email: 'ada@example.com', password: 'correct horse battery staple' })
})

/** Makes the installation unused again. */
const beginAgain = async (): Promise<void> => {
  const { db } = patchbay.services
  await db.installation.deleteMany({ where: { name: 'first-run' } })
  await db.server.deleteMany()
  await db.toolkit.deleteMany()
}

/** Returns the text of a page's main part. */
const textIn = ({ html }: { html: string }): string =>
  html.replaceAll(/^.*<main|<[^>]+>|<footer.*$/gs, ' ').replaceAll(/\s+/g, ' ')

/** Returns a value for a placeholder or variable of the pasted text. */
type ValueFor = (written: string) => string

/** Pastes a text in the first run, leaves the forms as they are, and returns the tool and the request that it sends. */
const pasteAndCall = async (text: string, valueFor: ValueFor) => {
  await beginAgain()
  await browser.get('/first-run')
  const reviewed = await browser.submit(PATH, { paste: text })
  if (reviewed.status !== 200) throw new Error(textIn(reviewed))
  const { secrets, variables } = draftOf(reviewed.html)
  const asked = /name="(secret:[^"]+)"[^>]* required/g
  const typed = [...reviewed.html.matchAll(asked)].map(([, field = '']): [string, string] => {
    const { where = '' } = secrets.find(({ parameter }) => field === `secret:${parameter}`) ?? {}
    return [field, valueFor(where)]
  })
  const created = await browser.submit(PATH, { ...fieldsOf(reviewed.html), ...Object.fromEntries(typed) })
  if (created.status !== 303) throw new Error(textIn(created))
  const fields = fieldsOf((await browser.get('/first-run')).html)
  for (const { parameter, written } of variables) fields[`argument:${parameter}`] = valueFor(written)
  const before = fake.seen.length
  const called = await browser.submit('/first-run', fields)
  const [sent] = fake.seen.slice(before)
  if (sent === undefined) throw new Error(textIn(called))
  const { name, definition } = await patchbay.services.db.tool.findFirstOrThrow()
  const { url } = z.looseObject({ url: z.string() }).parse(definition)
  return { tool: `${name} ${url.replace(fake.origin, '')}`, sent }
}

/** Each text with ORIGIN, HOST and PORT for those of the API; the tool that it becomes; and what that tool sends. */
const URLS: readonly (readonly [text: string, tool: string, sent: string])[] = [
  ['ORIGIN/v1/orders/1234', 'get_order /v1/orders/{{integer:order_id}}', '/v1/orders/1234'],
  ['ORIGIN/orders/{id}', 'get_order /orders/{{id}}', '/orders/id%3F'],
  [
    'ORIGIN/repos/:owner/:repo/issues',
    'get_repo_issues /repos/{{owner}}/{{repo}}/issues',
    '/repos/owner%3F/repo%3F/issues',
  ],
  [
    'ORIGIN/orders/<order_id>/lines?expand=items',
    'get_order_lines /orders/{{order_id}}/lines?expand={{expand}}',
    '/orders/order_id%3F/lines?expand=items',
  ],
  [
    'ORIGIN/search?q={query}&page=2&per_page=50',
    'get_search /search?q={{query}}&page={{integer:page}}&per_page={{integer:per_page}}',
    '/search?q=query%3F&page=2&per_page=50',
  ],
  [
    'ORIGIN/orders/{{order_id}}?expand={{expand}}',
    'get_order /orders/{{order_id}}?expand={{expand}}',
    '/orders/order_id%3F?expand=expand%3F',
  ],
  [
    'ORIGIN/users/7f3c1a52-9d0e-4c8b-b6a4-2e51d7f08c93/posts?sort=-created_at',
    'get_user_posts /users/{{user_id}}/posts?sort={{sort}}',
    '/users/7f3c1a52-9d0e-4c8b-b6a4-2e51d7f08c93/posts?sort=-created_at',
  ],
  [
    'HOST/orders?status=open&limit=20',
    'get_orders /orders?status={{status}}&limit={{integer:limit}}',
    '/orders?status=open&limit=20',
  ],
  [
    'DELETE ORIGIN/orders/17/lines/3',
    'delete_order_line /orders/{{integer:order_id}}/lines/{{integer:line_id}}',
    '/orders/17/lines/3',
  ],
  [
    '"ORIGIN/v3/weather?lat=48.2082&lon=16.3738&units=metric"',
    'get_weather /v3/weather?lat={{number:lat}}&lon={{number:lon}}&units={{units}}',
    '/v3/weather?lat=48.2082&lon=16.3738&units=metric',
  ],
  ['http://[::ffff:127.0.0.1]:PORT/status', 'get_status http://[::ffff:127.0.0.1]:PORT/status', '/status'],
  ['ORIGIN/docs/intro.html#section-2', 'get_doc_intro_html /docs/intro.html', '/docs/intro.html'],
  [
    'ORIGIN/search?q=S%C3%A3o%20Paulo&fields=name%2Cgeo',
    'get_search /search?q={{q}}&fields={{fields}}',
    '/search?q=S%C3%A3o%20Paulo&fields=name%2Cgeo',
  ],
  [
    'ORIGIN/files/reports%2F2026%2Fq1.pdf/content',
    'get_reports_2026_q1_pdf_content /files/reports%2F2026%2Fq1.pdf/content',
    '/files/reports%2F2026%2Fq1.pdf/content',
  ],
  [
    'ORIGIN/maps;version=3/tiles;zoom=12?layer=roads',
    'get_map_tiles /maps;version=3/tiles;zoom=12?layer={{layer}}',
    '/maps;version=3/tiles;zoom=12?layer=roads',
  ],
  [
    'ORIGIN/orders?tag=a&tag=b&ids[]=1&ids[]=2',
    'get_orders /orders?tag=a&tag=b&ids[]=1&ids[]=2',
    '/orders?tag=a&tag=b&ids[]=1&ids[]=2',
  ],
  [
    'ORIGIN/events?from=2026-01-31T08:00:00Z&to=2026-02-01T08:00:00%2B01:00',
    'get_events /events?from={{from}}&to={{to}}',
    '/events?from=2026-01-31T08%3A00%3A00Z&to=2026-02-01T08%3A00%3A00%2B01%3A00',
  ],
  [
    'POST ORIGIN/v1/projects/p-1:run?alt=json',
    'post_project_p_1_run /v1/projects/p-1:run?alt={{alt}}',
    '/v1/projects/p-1:run?alt=json',
  ],
  [
    'ORIGIN/calendar?debug&empty=&q=a+b',
    'get_calendar /calendar?debug&empty=&q={{q}}',
    '/calendar?debug&empty=&q=a%20b',
  ],
  [
    "ORIGIN/v1/pets?filter=name eq 'Rex'",
    'get_pets /v1/pets?filter={{filter}}',
    '/v1/pets?filter=name%20eq%20%27Rex%27',
  ],
  [
    'http://ada:s3cr%20et@HOST/private?api_key=9f86d081884c7d659a2feaa0c55ad015',
    'get_private /private?api_key={{api_key}}',
    '/private?api_key=9f86d081884c7d659a2feaa0c55ad015',
  ],
]

const inPlace = (text: string): string => {
  const { origin, host, port } = new URL(fake.origin)
  return text.replace('ORIGIN', origin).replace('HOST', host).replace('PORT', port)
}

describe('a URL as people have it', () => {
  it.each(URLS)('becomes a tool that requests it: %s', async (text, tool, sent) => {
    const called = await pasteAndCall(inPlace(text), written => `${written.replaceAll(/[^\w]/g, '')}?`)
    const { method, url } = called.sent
    expect([called.tool, url]).toEqual([inPlace(tool), sent])
    expect(method).toBe(/^(POST|DELETE) /.exec(text)?.[1] ?? 'GET')
    expect(called.sent.headers.authorization).toBe(
      text.includes('ada:') ? `Basic ${Buffer.from('ada:s3cr et').toString('base64')}` : undefined,
    )
  })
})

/** Matches the URLs of the commands, which have hosts of examples. */
const URL_IN_COMMAND =
  /(?<!Origin: \S*)(?:https?:\/\/)?((?:[^\s"'@/]+@)?)(?:[\w$.{}-]+\.example\.com|localhost|127\.0\.0\.1)(?::\d+)?/g
const toFake = (text: string): string =>
  text.replaceAll(URL_IN_COMMAND, (_, user: string) => `http://${user}${new URL(fake.origin).host}`)

const toReceived = ({ method, url, headers, body }: SeenRequest): Message => {
  const pairs = Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
  const isOwn = ([name, value]: readonly [string, string]): boolean => name === 'user-agent' && value === 'patchbay'
  return toMessage({ method, target: url, headers: pairs.filter(pair => !isOwn(pair)), body })
}

/**
 * Values of the query became parameters, which are encoded in their own way. Headers that only browsers set are left
 * out.
 */
const comparable = (message: Message) => {
  const { pathname, searchParams } = new URL(message.target, 'http://example.com')
  const { headers, ...rest } = meaningOf(message)
  return { ...rest, headers: headers.filter(([name]) => !name.startsWith('sec-')), target: [pathname, ...searchParams] }
}

/** Returns what a user types for a variable of the command, or for the secret of its -u, which is asked for in Base64. */
const valueIn =
  (command: string): ValueFor =>
  written => {
    const [, user] = /-u "([^"]+)"/.exec(command) ?? []
    if (written !== 'Authorization' || user === undefined) return variableText(written, command) || written
    const filled = user.replaceAll(/\$(\w+)/g, (_, name: string) => ENVIRONMENT[name] ?? '')
    return Buffer.from(filled).toString('base64')
  }

describe('a cURL command as people have it', () => {
  const commands = [...Object.values(PACKAGE_COMMANDS).flat(), ...API_COMMANDS]

  it('is one of at least sixty', () => {
    expect(new Set(commands).size).toBeGreaterThanOrEqual(60)
  })

  it.each(casesOfRun(commands, (_, index) => index % 4 === 0))('sends what curl sends: %s', async command => {
    const recording = recordings[command]
    if (recording === undefined) throw new Error('not recorded')
    const { sent } = await pasteAndCall(toFake(command), valueIn(command))
    expect(comparable(toReceived(sent))).toEqual(comparable(recording))
  })
})
