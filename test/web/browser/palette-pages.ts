import type { Page } from 'playwright-core'
import type { Pages } from './page-row.ts'

/** Opens the palette and types into it. */
const openPalette = (text: string) => async (page: Page) => {
  await page.keyboard.press('ControlOrMeta+k')
  await page.getByRole('combobox', { name: 'Search and commands' }).fill(text)
}

/** The search over everything, as a page and as a dialog. */
export const palettePages: Pages = {
  'GET /search': [
    { path: '/search?q=t' },
    { path: '/search', state: 'commands' },
    { path: '/search?q=nothing-has-this', state: 'nothing-found' },
    {
      path: '/servers',
      state: 'palette',
      act: async page => {
        await openPalette('track')(page)
        await page.getByRole('option', { name: 'track_shipment' }).first().waitFor()
      },
    },
    {
      path: '/servers',
      state: 'palette-nothing',
      act: async page => {
        await openPalette('nothing-has-this')(page)
        await page.getByText('Nothing matches your search.').waitFor()
      },
    },
  ],
  'GET /shortcuts': [
    { path: '/shortcuts' },
    {
      path: '/servers',
      state: 'dialog',
      act: async page => {
        await page.keyboard.press('?')
        await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor()
      },
    },
  ],
}
