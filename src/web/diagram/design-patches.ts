import { EMPTY_PATCH, LANDING_PATCH } from './landing-patch.ts'
import type { Patch, PatchParameter, PatchTool } from './patch.ts'

const fromModel = (name: string): PatchParameter => ({ name, source: 'exposed' })
const base: PatchParameter = { name: 'base', source: 'global', key: 'finance_url' }
const token: PatchParameter = { name: 'token', source: 'secret', key: 'finance_token' }

const FAILING: PatchTool = {
  name: 'post_journal',
  href: '/design',
  meta: 'POST · 41 of 60 calls failed',
  calls: 60,
  state: 'failed',
  parameters: [
    base,
    token,
    { name: 'ledger', source: 'missing', key: 'ledger_no' },
    fromModel('entry'),
    fromModel('period'),
  ],
}

const LARGE: Patch = {
  title: 'a group’s office',
  groups: [
    {
      kind: 'toolkit',
      name: 'Finance API',
      href: '/design',
      health: 'healthy, 240 ms',
      state: 'good',
      tools: [
        FAILING,
        ...Array.from({ length: 119 }, (_, index) => ({
          name: `report_${index}`,
          meta: 'GET',
          calls: 68,
          parameters: [
            base,
            token,
            { name: 'unit', source: 'fixed', value: String(index % 9) } as const,
            fromModel('id'),
          ],
        })),
      ],
    },
    {
      kind: 'upstream',
      name: 'Document store',
      href: '/design',
      health: 'slow, 1.9 s',
      state: 'slow',
      tools: Array.from({ length: 16 }, (_, index) => ({
        name: `document_${index}`,
        meta: 'MCP',
        calls: 33,
        parameters: [fromModel('id'), fromModel('revision')],
      })),
    },
    { kind: 'toolkit', name: 'Ledger', href: '/design', health: 'no tools in use', state: 'idle', tools: [] },
  ],
  globals: [
    { key: 'finance_url', source: 'global', value: 'https://finance.example', uses: 120 },
    { key: 'finance_token', source: 'secret', value: 'hidden', uses: 120 },
    { key: 'region', source: 'global', value: 'eu', uses: 0 },
  ],
  callers: {
    tier: 'organization',
    href: '/design',
    list: Array.from({ length: 9 }, (_, index) => ({
      name: `Client ${index + 1}`,
      activity: index < 2 ? '3 open connections' : 'last at 10:42',
      state: index < 2 ? 'good' : 'idle',
    })),
  },
  links: { bindings: '/design', globals: '/design' },
}

/** The patch diagram in each size: empty, every tool open, tools in stacks. */
export const DESIGN_PATCHES = [EMPTY_PATCH, LANDING_PATCH, LARGE] as const
