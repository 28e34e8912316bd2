import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { JsonValue } from '../../../src/lib/kernel/json.ts'
import { compileTemplate } from '../../../src/templates/compile.ts'
import { readCurl } from '../../../src/tools/import/curl-request.ts'
import type { ImportedRequest } from '../../../src/tools/import/imported-request.ts'
import { type RequestDraft, toToolDraft } from '../../../src/tools/import/to-tool-draft.ts'
import { casesOfRun } from '../../support/cases-of-run.ts'
import { COMMANDS } from './curl-commands.ts'
import { Message, meaningOf, messageOf, toMessage, variableText } from './message.ts'
import { startRecorder } from './recorded-curl.ts'

// `node scripts/record-curl.ts` writes the recordings.
const recordings = z
  .record(z.string(), Message)
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, 'curl-recordings.json'), 'utf8')))

const recordingOf = (command: string): Message => {
  const recording = recordings[command]
  if (recording === undefined) throw new Error(`not recorded: ${command}`)
  return recording
}

const read = (command: string): ImportedRequest => {
  const result = readCurl(command)
  if (!result.ok) throw new Error(result.error.message)
  return result.value
}

const isSecretName = (_place: string, name: string): boolean => /key|token|secret|password/i.test(name)

/** The parameters' values, which were taken out of the request. */
const valuesFor = (command: string, draft: RequestDraft): Map<string, JsonValue> => {
  const values = new Map<string, JsonValue>([['base_url', 'https://api.example.com']])
  for (const { parameter, value } of draft.secrets) values.set(parameter, value)
  for (const { parameter, written } of draft.variables) {
    const text = variableText(written, command)
    const isJson = draft.definition.body?.includes(`{{json:${parameter}}}`) === true
    values.set(parameter, isJson ? JSON.parse(text) : text)
  }
  return values
}

const renderDraft = (command: string, draft: RequestDraft): Message => {
  const compiled = compileTemplate(draft.definition)
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.error))
  const rendered = compiled.value.render(valuesFor(command, draft))
  if (!rendered.ok) throw new Error(`${rendered.error.parameter} ${rendered.error.message}`)
  const { method, url, headers, body = '' } = rendered.value
  return toMessage({ method, target: url, headers, body })
}

/** The forms that a file is all of, which a template cannot send. */
const REFUSED = ['--data-ascii @file', '--data-binary @filename', '--data-urlencode @fileonly']

/** Basic authentication with variables is one secret that the request does not contain. */
const hasOwnCredentials = ({ secrets }: RequestDraft): boolean => secrets.every(({ value }) => value !== '')

describe('a command of a README', () => {
  it.each(COMMANDS)('is read as the request that curl sends: %s', command => {
    expect(messageOf(read(command), command)).toEqual(recordingOf(command))
  })

  const sendable = COMMANDS.filter(command => !REFUSED.some(part => command.includes(part)))

  it.each(sendable)('becomes a tool that sends the same: %s', command => {
    const draft = toToolDraft(read(command), isSecretName)
    if (!draft.ok) throw new Error(JSON.stringify(draft.error))
    const { headers, ...sent } = meaningOf(renderDraft(command, draft.value))
    const { headers: recorded, ...expected } = meaningOf(recordingOf(command))
    const isCompared = ([name]: readonly [string, string]): boolean =>
      !name.startsWith('sec-') && (name !== 'authorization' || hasOwnCredentials(draft.value))
    expect(sent).toEqual(expected)
    expect(headers.filter(isCompared)).toEqual(recorded.filter(isCompared))
  })

  it.each(REFUSED)('is refused as a tool if a file is the whole form: curl %s', options => {
    expect(toToolDraft(read(`curl ${options} https://example.com`), isSecretName)).toMatchObject({
      ok: false,
      error: [{ path: 'body', message: expect.stringContaining('the keys of the form come from a file') }],
    })
  })
})

const versionOf = (program: string): string => spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout ?? ''

/** The commands use --url-query, which curl has from 7.87 on. */
const canRecord = (): boolean => {
  const [, major = '0', minor = '0'] = /^curl (\d+)\.(\d+)/.exec(versionOf('curl')) ?? []
  return Number(major) * 1_000 + Number(minor) >= 7_087 && versionOf('bash') !== ''
}

describe.skipIf(!canRecord())('the curl of this machine', () => {
  it('sends what was recorded', async () => {
    const recorder = await startRecorder()
    try {
      for (const command of casesOfRun(COMMANDS, (_, index) => index % 8 === 0)) {
        expect({ command, sent: await recorder.record(command) }).toEqual({ command, sent: recordingOf(command) })
      }
    } finally {
      await recorder.close()
    }
  })
})
