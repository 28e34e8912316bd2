import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { NOTICE_NAMES } from '../../src/lib/process/notices.ts'
import { runPatchbay } from '../support/world.ts'

const TOKEN = 'a-token-of-the-collector-0123456789'
const patchbay = runPatchbay({ env: { PATCHBAY_METRICS_TOKEN: TOKEN } })
const readGuide = () => readFile(new URL('../../docs/operating.md', import.meta.url), 'utf8')

it('every metric that the operating guide names exists', async () => {
  const headers = { authorization: `Bearer ${TOKEN}` }
  const reported = await (await fetch(`${patchbay.origin}/metrics`, { headers })).text()
  const known = new Set([...reported.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name))
  const named = (await readGuide()).match(/(?<![\w$])patchbay_\w+/g) ?? []
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter(name => !known.has(name))).toEqual([])
})

it('every alert and every problem has an entry in the runbook', async () => {
  const guide = await readGuide()
  const headings = new Set([...guide.matchAll(/^#{3,4} (\w+)$/gm)].map(([, heading]) => heading))
  const alerts = [...guide.matchAll(/- alert: (\w+)/g)].map(([, alert]) => alert)
  expect(alerts.length).toBeGreaterThan(5)
  expect([...alerts, ...NOTICE_NAMES].filter(name => !headings.has(name))).toEqual([])
})
