import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fastify from 'fastify'

import { describe, expect, it, onTestFinished } from 'vitest'
import { renderViews } from '../../../src/lib/http/pages/views.ts'

/** Renders the page `/page` from these templates with this data. */
const showPage = async (templates: Record<string, string>, data: Record<string, unknown>): Promise<string> => {
  const viewsDirectory = mkdtempSync(join(tmpdir(), 'patchbay-views-'))
  mkdirSync(join(viewsDirectory, 'parts'))
  for (const [name, text] of Object.entries(templates)) writeFileSync(join(viewsDirectory, `${name}.eta`), text)
  const app = fastify()
  onTestFinished(async () => {
    await app.close()
    rmSync(viewsDirectory, { recursive: true })
  })
  renderViews(app, { viewsDirectory, version: '1.2.3', isDevelopment: false, assets: {} })
  app.get('/', async (_request, reply) => reply.page('/page', { title: 'The page', ...data }))
  return (await app.inject('/')).body.trim()
}

describe('a part of a page', () => {
  const field = '<input id="<%= it.id %>" name="<%= it.name ?? it.id %>" type="<%= it.type ?? \'text\' %>">'

  it('receives what its include names, and nothing of the page around it', async () => {
    const page = "<%~ include('/parts/field', { id: 'title' }) %>"
    const shown = await showPage({ page, 'parts/field': field }, { id: '7', name: 'Night shift', type: 'url' })
    expect(shown).toBe('<input id="title" name="title" type="text">')
  })

  it('receives nothing of the part that includes it either', async () => {
    const page = "<%~ include('/parts/row', { type: 'integer', id: 'row' }) %>"
    const row = "<%~ include('/parts/field', { id: 'limit' }) %>"
    expect(await showPage({ page, 'parts/row': row, 'parts/field': field }, {})).toBe(
      '<input id="limit" name="limit" type="text">',
    )
  })

  it('receives the frame of the page at any depth', async () => {
    const page = "<%~ include('/parts/row') %>"
    const row = "<%~ include('/parts/frame', {}) %>"
    expect(await showPage({ page, 'parts/row': row, 'parts/frame': '<%= it.page.version %>' }, {})).toBe('1.2.3')
  })
})

it('a page is shown in its layout with all its data', async () => {
  const page = "<% layout('/parts/layout', { tabs: 2 }) %><%= it.name %>"
  const layout = '<%= it.title %> | <%= it.name %> | <%= it.tabs %> | <%~ it.body %>'
  expect(await showPage({ page, 'parts/layout': layout }, { name: 'Night <shift>' })).toBe(
    'The page | Night &lt;shift&gt; | 2 | Night &lt;shift&gt;',
  )
})
