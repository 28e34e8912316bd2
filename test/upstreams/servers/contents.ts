/** One of everything that a server can return. A proxy must not change any of it. */

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const TONE = Buffer.from('RIFF----WAVEfmt ').toString('base64')

export const MEMO = {
  uri: 'memo://1',
  mimeType: 'text/plain',
  text: 'Grüße, 你好, \u{1f44b}',
  _meta: { 'example.com/own': 1 },
}
export const BLOB = {
  uri: 'memo://2',
  mimeType: 'application/octet-stream',
  blob: Buffer.from([0, 255, 10]).toString('base64'),
}

const annotations = { audience: ['user' as const], priority: 0.5, lastModified: '2026-01-02T03:04:05Z' }

export const CONTENT = [
  { type: 'text' as const, text: 'plain\n"quoted" \u2028', annotations, _meta: { 'example.com/own': { deep: [1] } } },
  { type: 'image' as const, data: PIXEL, mimeType: 'image/png', annotations },
  { type: 'audio' as const, data: TONE, mimeType: 'audio/wav' },
  { type: 'resource' as const, resource: MEMO, annotations },
  { type: 'resource' as const, resource: BLOB },
  {
    type: 'resource_link' as const,
    uri: MEMO.uri,
    name: 'memo',
    title: 'A memo',
    description: 'What it says',
    mimeType: 'text/plain',
    size: 22,
    annotations,
    icons: [{ src: 'data:image/png;base64,AAAA', mimeType: 'image/png', sizes: ['48x48'] }],
  },
]

export const STRUCTURED = { temperature: 21.5, days: [{ name: 'Monday', isWet: false }], nothing: null }
export const META = { 'example.com/trace': 'abc' }
export const MESSAGES = [
  { role: 'user' as const, content: { type: 'text' as const, text: 'Look at this' } },
  { role: 'user' as const, content: { type: 'image' as const, data: PIXEL, mimeType: 'image/png' } },
  { role: 'assistant' as const, content: { type: 'resource' as const, resource: MEMO } },
]
