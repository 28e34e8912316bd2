import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { CONFIG_TOOLS } from '../../src/cli/config-files/config-tools.ts'
import { findServers } from '../../src/cli/config-files/find-servers.ts'
import { parseConfig } from '../../src/cli/config-files/parse-config.ts'
import { thisMachine } from '../../src/cli/machine.ts'
import { type ConnectInput, toConnectPanel } from '../../src/web/overview/connect.ts'

const ID = '7f3c1a52-9d0e-4c8b-b6a4-2e51d7f08c93'
const PUBLIC_URL = `https://tools.kestrel.example/s/${ID}`
const LOCAL_URL = `http://localhost:8080/s/${ID}`
const TIERS = ['public', 'organization', 'private'] as const

const panelOf = (changes: Partial<ConnectInput> = {}) =>
  toConnectPanel({ id: ID, name: 'Shipment desk', tier: 'private', url: PUBLIC_URL, ...changes })
const guideOf = (panel: ReturnType<typeof panelOf>, id: string) => panel.clients.find(client => client.id === id)
const codesOf = (panel: ReturnType<typeof panelOf>, id: string) =>
  guideOf(panel, id)?.snippets.map(({ code }) => code) ?? []
const hrefOf = (panel: ReturnType<typeof panelOf>, text: string): string =>
  panel.buttons.find(button => button.text === text)?.href ?? ''
const everyText = (panel: ReturnType<typeof panelOf>): string => JSON.stringify(panel)

const CursorConfig = z.strictObject({ url: z.string() })
const CodeConfig = z.strictObject({ name: z.string(), type: z.literal('http'), url: z.string() })

describe('the instructions for connecting a client', () => {
  it('open Cursor with a configuration that contains the address', () => {
    const link = new URL(hrefOf(panelOf(), 'Cursor'))
    expect(`${link.protocol}//${link.host}${link.pathname}`).toBe('cursor://anysphere.cursor-deeplink/mcp/install')
    expect(link.searchParams.get('name')).toBe('shipment-desk')
    const config = Buffer.from(link.searchParams.get('config') ?? '', 'base64').toString()
    expect(CursorConfig.parse(JSON.parse(config))).toEqual({ url: PUBLIC_URL })
  })

  it('open VS Code with name, type and address, and offer the same as a command', () => {
    const panel = panelOf()
    const [scheme, json = ''] = hrefOf(panel, 'VS Code').split('?')
    expect(scheme).toBe('vscode:mcp/install')
    const config = CodeConfig.parse(JSON.parse(decodeURIComponent(json)))
    expect(config).toEqual({ name: 'shipment-desk', type: 'http', url: PUBLIC_URL })
    expect(codesOf(panel, 'connect-vscode')[0]).toBe(`code --add-mcp '${JSON.stringify(config)}'`)
  })

  it('open Claude’s connectors page if Claude can reach the address', () => {
    const link = new URL(hrefOf(panelOf(), 'Claude'))
    expect(link.origin + link.pathname).toBe('https://claude.ai/customize/connectors')
    expect(Object.fromEntries(link.searchParams)).toEqual({
      modal: 'add-custom-connector',
      connectorName: 'Shipment desk',
      connectorUrl: PUBLIC_URL,
    })
  })

  it.each([LOCAL_URL, `https://localhost/s/${ID}`, `http://10.0.0.7:8080/s/${ID}`])(
    'explain that Claude’s servers cannot reach %s, but Claude Desktop can',
    url => {
      const panel = panelOf({ url })
      expect(hrefOf(panel, 'Claude')).toBe('#connect-claude')
      const [code = ''] = codesOf(panel, 'connect-claude')
      const args = ['-y', 'mcp-remote', url, ...(url.includes('10.0.0.7') ? ['--allow-http'] : [])]
      expect(JSON.parse(code)).toEqual({ mcpServers: { 'shipment-desk': { command: 'npx', args } } })
    },
  )

  it('open Goose and LM Studio with the address and the name', () => {
    const goose = hrefOf(panelOf({ name: 'Größe & more' }), 'Goose')
    expect(goose).toMatch(/^goose:\/\/extension\?[^+\s]+$/)
    expect(Object.fromEntries(new URL(goose).searchParams)).toEqual({
      url: PUBLIC_URL,
      type: 'streamable_http',
      id: 'gro-e-more',
      name: 'Größe & more',
      description: 'Größe & more',
      timeout: '300',
    })
    const studio = new URL(hrefOf(panelOf(), 'LM Studio'))
    expect(`${studio.protocol}//${studio.host}`).toBe('lmstudio://add_mcp')
    const config = Buffer.from(studio.searchParams.get('config') ?? '', 'base64').toString()
    expect(CursorConfig.parse(JSON.parse(config))).toEqual({ url: PUBLIC_URL })
  })

  it('give ChatGPT a public address, and disable it on any other', () => {
    const guide = guideOf(panelOf(), 'connect-chatgpt')
    expect(guide?.snippets.map(({ code }) => code)).toEqual([PUBLIC_URL])
    expect(guide?.steps.join(' ')).toContain('The address must stay public')
    expect(hrefOf(panelOf(), 'ChatGPT')).toBe('#connect-chatgpt')
    for (const url of [LOCAL_URL, `http://127.0.0.1:8080/s/${ID}`, `http://10.0.0.7:8080/s/${ID}`]) {
      const local = panelOf({ url })
      expect(local.buttons.find(({ text }) => text === 'ChatGPT')?.href).toBeUndefined()
      expect(guideOf(local, 'connect-chatgpt')).toMatchObject({
        unavailable: expect.stringContaining('the address must be public'),
        steps: [],
        snippets: [],
      })
    }
  })

  it('write the configuration that patchbay import reads back, for every client that has a file', () => {
    const machine = thisMachine()
    const tools = new Map([
      ['connect-claude', 'claude-desktop'],
      ['connect-cursor', 'cursor'],
      ['connect-vscode', 'vscode'],
      ['connect-codex', 'codex'],
      ['connect-gemini-cli', 'gemini-cli'],
      ['connect-windsurf', 'windsurf'],
      ['connect-zed', 'zed'],
      ['connect-goose', 'goose'],
      ['connect-cline', 'cline'],
      ['connect-opencode', 'opencode'],
      ['connect-lm-studio', 'lm-studio'],
    ])
    const known = panelOf({ url: LOCAL_URL })
    for (const [id, toolId] of tools) {
      const tool = CONFIG_TOOLS.find(each => each.id === toolId)
      if (tool === undefined) throw new Error(`no tool ${toolId}`)
      const syntax = toolId === 'codex' ? 'toml' : toolId === 'goose' ? 'yaml' : 'json'
      const files = codesOf(known, id).filter(code => !/^(?:codex|gemini|opencode|code) /.test(code))
      expect(files.length).toBeGreaterThan(0)
      for (const code of files) {
        const parsed = parseConfig(code, syntax)
        if (!parsed.ok) throw new Error(`${id}: ${parsed.error.message}`)
        const context = { tool, home: machine.home, project: undefined, directory: machine.project }
        const { servers, unusable } = findServers(parsed.value, context)
        expect({ id, unusable, names: servers.map(({ name }) => name) }).toEqual({
          id,
          unusable: [],
          names: ['shipment-desk'],
        })
        expect(JSON.stringify(servers[0]?.place)).toContain(LOCAL_URL)
        if (id !== 'connect-claude') expect(servers[0]?.place.transport).toBe('http')
      }
    }
  })

  it('name the documentation that they follow, and the day on which they were compared with it', () => {
    for (const { id, source } of panelOf().clients) {
      if (id === 'connect-other') continue
      expect(source?.href).toMatch(/^https:\/\//)
      expect(source?.check).toMatch(/^(?:checked on|as of) \d+ [A-Z][a-z]+ 20\d\d(?: with version [\d.]+)?$/)
    }
  })

  it('distinguish a page that was read, a copy of a page, and a program that was tried', () => {
    const panel = panelOf()
    expect(guideOf(panel, 'connect-zed')?.source?.check).toMatch(/^checked on \d+ \w+ \d{4}$/)
    expect(guideOf(panel, 'connect-vscode')?.source?.check).toMatch(/^as of \d+ \w+ \d{4}$/)
    expect(guideOf(panel, 'connect-codex')?.source?.check).toMatch(/^checked on \d+ \w+ \d{4} with version [\d.]+$/)
  })

  it.each(TIERS)('contain a command for Claude Code for a %s server', tier => {
    const add = `claude mcp add --transport http shipment-desk ${PUBLIC_URL}`
    const withToken = `${add} --header "Authorization: Bearer $PATCHBAY_TOKEN"`
    expect(codesOf(panelOf({ tier }), 'connect-claude-code')).toEqual(tier === 'public' ? [add] : [add, withToken])
  })

  it('ask for neither sign-in nor token if the server is public', () => {
    expect(everyText(panelOf({ tier: 'public' }))).not.toMatch(/sign in|token|OAuth|Bearer/i)
    for (const tier of ['organization', 'private'] as const) {
      const panel = panelOf({ tier })
      expect(panel.access).toMatch(/OAuth.*personal access token/)
      expect(panel.tokensHref).toBe('/account/tokens')
      const [plain = '', withToken = ''] = codesOf(panel, 'connect-other')
      expect(JSON.parse(plain)).toEqual({ mcpServers: { 'shipment-desk': { type: 'http', url: PUBLIC_URL } } })
      expect(JSON.parse(withToken)).toMatchObject({
        mcpServers: { 'shipment-desk': { headers: { Authorization: 'Bearer YOUR_TOKEN' } } },
      })
    }
  })

  it('link only to anchors on the page or to other programs', () => {
    for (const tier of TIERS) {
      const panel = panelOf({ tier, url: LOCAL_URL })
      const ids = panel.clients.map(({ id }) => `#${id}`)
      for (const { href = '#connect-chatgpt' } of panel.buttons) {
        if (href.startsWith('#')) expect(ids).toContain(href)
        else expect(href).toMatch(/^(cursor|vscode|goose|lmstudio):/)
      }
    }
  })

  it('do not let a name break out of a command or link', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('$(reboot)', "'; rm -rf ~", '‮evil', '🚚')),
        name => {
          const panel = panelOf({ name: name.toWellFormed() })
          const [command = ''] = codesOf(panel, 'connect-claude-code')
          expect(command).toMatch(/^claude mcp add --transport http [a-z0-9-]{1,40} https:\S+$/)
          const [, slug = ''] = / http (\S+) /.exec(command) ?? []
          expect(slug).toMatch(/^[a-z0-9]/)
          expect(new URL(hrefOf(panel, 'Cursor')).searchParams.get('name')).toBe(slug)
          expect(new URL(hrefOf(panel, 'Claude')).searchParams.get('connectorUrl')).toBe(PUBLIC_URL)
        },
      ),
    )
    expect(codesOf(panelOf({ name: 'مكتب 🚚' }), 'connect-claude-code')[0]).toContain(' patchbay-7f3c1a52 ')
    expect(codesOf(panelOf({ name: 'Größe & Café' }), 'connect-claude-code')[0]).toContain(' gro-e-cafe ')
  })
})
