import { randomBytes } from 'node:crypto'
import fastify from 'fastify'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openContext } from '../../support/open-page.ts'
import { checkAccessibility, checkPage } from './check-page.ts'

let page: Page
beforeAll(async () => {
  page = await (await openContext()).newPage()
})

/** Returns a page that is correct apart from the given content and style. */
const pageOf = (content: string, style = ''): string =>
  `<!doctype html><html lang="en"><head><title>Planted · Patchbay</title><style>${style}</style></head>
    <body><header>Bar</header><main><h1>Planted</h1>${content}</main><footer>Foot</footer></body></html>`

const show = (content: string, style = '') => page.setContent(pageOf(content, style))

/** Serves a page, and a file of this size at every other path, and opens the page again once the files are cached. */
const openServed = async (content: string, bytes: number): Promise<Page> => {
  const [app, context] = [fastify(), await openContext()]
  onTestFinished(async () => {
    await context.close()
    await app.close()
  })
  const file = `// ${randomBytes(bytes).toString('hex').slice(0, bytes)}`
  app.get('/', (_request, reply) => reply.type('text/html; charset=utf-8').send(pageOf(content)))
  app.get('/*', (_request, reply) =>
    reply.type('text/javascript').header('cache-control', 'public, max-age=31536000, immutable').send(file),
  )
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const served = await context.newPage()
  for (const _visit of ['first', 'second']) await served.goto(origin)
  return served
}

describe('the check of a page', () => {
  it('finds nothing on a correct page', async () => {
    await show(
      '<p><a href="/x">A link</a></p><form><label for="a">A</label> <input id="a"> <button>Send</button></form>',
    )
    expect(await checkPage(page)).toEqual([])
  })

  it('tries the keyboard again if elements were replaced meanwhile, as on a live page', async () => {
    await show('<p id="first"><button>A</button></p><p id="last"><button>B</button></p>')
    await page.evaluate(`
      const first = document.getElementById('first')
      document.getElementById('last').addEventListener('focusin', () => first.replaceWith(first.cloneNode(true)))
    `)
    expect(await checkPage(page)).toEqual([])
  })

  it('finds what axe-core finds on narrow screens only if it is thorough', async () => {
    await show('<p class="pale">Pale</p>', '@media (width < 400px) { .pale { color: #ccc; background: #fff } }')
    expect(await checkPage(page)).toEqual([])
    const faults = [expect.stringMatching(/^390 px, light: axe color-contrast/)]
    expect(await checkPage(page, undefined, { isThorough: true })).toEqual(faults)
    expect(await checkAccessibility(page)).toEqual(faults)
  })

  it.each([
    ['a script', '<script src="/assets/a.js"></script>'],
    ['a part that it loads itself', '<script>fetch("/part")</script>'],
  ])('weighs a page with %s, also if that is cached', async (_what, content) => {
    const served = await openServed(content, 110_000)
    expect(await checkPage(served)).toEqual([expect.stringMatching(/^weighs 110\d{3} bytes$/)])
  })

  it('weighs a script of the pages as it is in the build', async () => {
    const script = '<script src="/assets/js/palette.js"></script>'
    expect(await checkPage(await openServed(script, 110_000))).toEqual([])
    const scripts = '<script src="/assets/js/tool-editor.js"></script>'.repeat(30)
    expect(await checkPage(await openServed(scripts, 1_000))).toEqual([expect.stringMatching(/^weighs \d{6} bytes$/)])
  })

  it('weighs a script that is used twice once, and no answer to what is sent', async () => {
    const script = '<script src="/assets/a.js"></script>'
    const served = await openServed(`${script}${script}<script>fetch("/tool-send")</script>`, 60_000)
    expect(await checkPage(served)).toEqual([])
  })

  it.each([
    ['a part that is too wide', '<div class="wide">x</div>', '.wide { width: 500px }', /360 px: scrolls sideways/],
    [
      'a row that should be stacked',
      '<div class="scroll" tabindex="0"><p class="wide" data-stack>x</p></div>',
      '.scroll { overflow-x: auto } .wide { width: 500px }',
      /360 px: .* is cut off by \d+ px, although its rows could be stacked/,
    ],
    [
      'a table that is cut off on medium screens only',
      '<div class="scroll" tabindex="0"><p class="wide" data-stack>x</p></div>',
      '.scroll { overflow-x: auto } @media (880px < width < 920px) { .wide { width: 1000px } }',
      /900 px: .* is cut off by \d+ px/,
    ],
    ['a button on another', '<button>A</button><button class="b">B</button>', '.b { margin-left: -20px }', /overlaps/],
    [
      'a covered button',
      '<div class="around"><button>A</button><i></i></div>',
      '.around { position: relative; width: 60px } i { position: absolute; inset: 0; background: red }',
      /<button> A is covered by <i>/,
    ],
    ['low contrast', '<p class="pale">Pale</p>', '.pale { color: #ccc; background: #fff }', /axe color-contrast/],
    [
      'low contrast in the dark theme only',
      '<p class="pale">Pale</p>',
      ':root { color-scheme: light dark } .pale { color: light-dark(#000, #555); background: light-dark(#fff, #222) }',
      /1440 px, dark: axe color-contrast/,
    ],
    [
      'small buttons on narrow screens only',
      '<div><button>A</button><button>B</button></div>',
      'div { display: flex } @media (width < 400px) { button { width: 14px; height: 14px; padding: 0; border: 0 } }',
      /390 px, light: axe target-size/,
    ],
    [
      'a part that is too wide for medium screens only',
      '<div class="wide">x</div>',
      '@media (700px < width < 800px) { .wide { width: 900px } }',
      /768 px: scrolls sideways/,
    ],
    ['a field without a name', '<input>', '', /axe label/],
    ['a heading that skips a level', '<h4>Deep</h4>', '', /axe heading-order/],
    ['two h1 headings', '<h1>Again</h1>', '', /has 2 of h1/],
    ['a duplicate id', '<p id="a">A</p><p id="a">B</p>', '', /has the id "a" twice/],
    ['an invisible focus', '<button>A</button>', ':focus { outline: none }', /nothing shows that <button> A/],
    ['a button that the keyboard cannot reach', '<div inert><button>A</button></div>', '', /Tab does not reach/],
  ])('finds %s', async (_what, content, style, fault) => {
    await show(content, style)
    expect((await checkPage(page)).join('\n')).toMatch(fault)
  })
})
