import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { openContext } from '../../support/open-page.ts'
import { checkAccessibility, checkPage } from './check-page.ts'

let page: Page
beforeAll(async () => {
  page = await (await openContext()).newPage()
})

/** Shows a page that is correct apart from the given content and style. */
const show = (content: string, style = '') =>
  page.setContent(`<!doctype html><html lang="en"><head><title>Planted · Patchbay</title><style>${style}</style></head>
    <body><header>Bar</header><main><h1>Planted</h1>${content}</main><footer>Foot</footer></body></html>`)

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
